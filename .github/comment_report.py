"""Post what a run of the workflow `report` printed as the one comment on its pull request.

The run's artifact was written by a stranger's code: it is read as text, up to a size, and shown as
such. The environment has the run (RUN), the branch it is for (OWNER, BRANCH, HEAD) and a token.
"""

import io
import json
import os
import re
import subprocess
import sys
import zipfile
from urllib.parse import urlencode

# Bytes of the packed artifact, and characters of its text: with a fence of as many on either side
# it fits in a comment, which holds 65,536.
LARGEST, LONGEST = 1_000_000, 20_000
MARK = "<!-- report on submissions -->"
AUTHOR = "github-actions[bot]"


def gh(path: str, *words: str, given: dict | None = None) -> bytes:
    """Answer of GitHub at a path of this repository."""
    command = ["gh", "api", f"repos/{os.environ['GITHUB_REPOSITORY']}/{path}", *words]
    sent = None if given is None else json.dumps(given).encode()
    command += [] if given is None else ["--input", "-"]
    return subprocess.run(command, input=sent, stdout=subprocess.PIPE, check=True).stdout


def text_of(packed: bytes) -> str:
    """summary.txt in a zip archive, shortened; without what is no text."""
    with zipfile.ZipFile(io.BytesIO(packed)) as archive, archive.open("summary.txt") as file:
        text = file.read(4 * LONGEST + 1).decode("utf-8", "replace")
    kept = "".join(each for each in text if each == "\n" or each.isprintable())
    return kept if len(kept) <= LONGEST else kept[:LONGEST] + "\n(shortened)"


def comment_of(text: str, run: str) -> str:
    """The comment: nothing in a block of code is a link, a picture, a name or markup."""
    ticks = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, ticks + 1)
    repository = f"{os.environ['GITHUB_SERVER_URL']}/{os.environ['GITHUB_REPOSITORY']}"
    place = f"{repository}/actions/runs/{run}"
    return (
        f"{MARK}\nWhat the [report on the submissions]({place}) printed; its pages are the "
        f"artifact `reports` there. The submitted code wrote this too: read it with that in "
        f"mind.\n\n{fence}text\n{text}\n{fence}\n"
    )


def main() -> int:
    run, head = os.environ["RUN"], os.environ["HEAD"]
    found = json.loads(gh(f"actions/runs/{run}/artifacts?name=summary"))["artifacts"]
    if not found:
        print("the run has no artifact `summary`: nothing to post")
        return 0
    if found[0]["size_in_bytes"] > LARGEST:
        print(f"the artifact has more than {LARGEST} bytes: not read", file=sys.stderr)
        return 1
    branch = urlencode({"state": "open", "head": f"{os.environ['OWNER']}:{os.environ['BRANCH']}"})
    # Not from the artifact, which could name any request.
    requests = [
        each["number"] for each in json.loads(gh(f"pulls?{branch}")) if each["head"]["sha"] == head
    ]
    if not requests:
        print(f"no open request is at {head}: nothing to post")
        return 0
    text = text_of(gh(f"actions/artifacts/{found[0]['id']}/zip"))
    given = {"body": comment_of(text, run)}
    for number in requests:
        own = f'.[] | select(.user.login == "{AUTHOR}" and (.body | startswith("{MARK}"))) | .id'
        comments = f"issues/{number}/comments"
        ids = gh(f"{comments}?per_page=100", "--paginate", "--jq", own).split()
        if ids:
            gh(f"issues/comments/{int(ids[0])}", "--method", "PATCH", given=given)
        else:
            gh(comments, "--method", "POST", given=given)
    return 0


if __name__ == "__main__":
    sys.exit(main())
