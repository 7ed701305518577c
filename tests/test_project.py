"""The project's own files agree with each other."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from runs.config import read_config
from site_builder.citations import release_notes
from site_builder.readme import generated_blocks, generated_pages, replaced

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "envs"))

import pin  # noqa: E402


def requirements():
    return (ROOT / "envs" / "requirements.txt").read_text()


def test_conda_carries_the_same_pins():
    environment = yaml.safe_load((ROOT / "envs" / "environment.yaml").read_text())
    by_pip = next(item["pip"] for item in environment["dependencies"] if isinstance(item, dict))
    assert by_pip == pin.pins(requirements())
    assert len(by_pip) > 50


def test_every_pin_has_a_hash_and_no_address():
    text = requirements()
    blocks = re.split(r"\n(?=[a-z0-9])", text.strip())
    assert all("--hash=sha256:" in block for block in blocks)
    assert "://" not in text
    assert "--index-url" not in text


def test_what_is_asked_for_is_pinned():
    pinned = {re.split(r"==", line)[0] for line in pin.pins(requirements())}
    wanted = re.findall(
        r"^([a-z0-9-]+)", (ROOT / "envs" / "requirements.in").read_text(), flags=re.MULTILINE
    )
    assert len(wanted) > 15
    assert set(wanted) <= pinned


@pytest.mark.parametrize("name", ["tiny", "quick", "reference", "paper"])
def test_every_config_is_accepted(name):
    config = read_config(ROOT / "config" / f"{name}.yaml")
    assert config["run"] == name


def test_generated_pages_are_up_to_date():
    for file, text in generated_pages().items():
        message = f"{file} is out of date; run python -m site_builder.readme"
        assert (ROOT / file).read_text() == text, message


def test_generated_parts_of_the_readmes_are_up_to_date():
    for (file, name), block in generated_blocks().items():
        text = (ROOT / file).read_text()
        message = f"{file}, block {name} is out of date; run python -m site_builder.readme"
        assert replaced(text, name, block) == text, message


def test_every_file_that_the_readme_links_to_exists():
    text = (ROOT / "README.md").read_text()
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    assert links
    missing = [link for link in links if not (ROOT / link).exists()]
    assert not missing


def test_a_release_has_one_version_and_its_date(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("CITATION.cff").write_text("version: 1.2.0\ndate-released: 2030-01-31\n")
    Path("pyproject.toml").write_text('[project]\nversion = "1.2.0"\n')
    Path("CHANGELOG.md").write_text("# Log\n\n## 1.2.0 (2030-01-31)\n\n- New.\n\n## 1.1.0\n")
    assert release_notes() == "# 1.2.0 (2030-01-31)\n\n- New."
    for file, old, new in (
        ("CHANGELOG.md", "2030-01-31", "not released"),
        ("CITATION.cff", "2030-01-31", "2030-02-01"),
        ("pyproject.toml", "1.2.0", "1.1.0"),
    ):
        text = Path(file).read_text()
        Path(file).write_text(text.replace(old, new))
        with pytest.raises(ValueError, match="a release has one version and its date"):
            release_notes()
        Path(file).write_text(text)


def test_actions_are_pinned_by_their_contents():
    """A tag of an action may be moved to other code; its commit may not."""
    used = [
        line.split("uses:")[1].strip()
        for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))
        for line in path.read_text().splitlines()
        if "uses:" in line
    ]
    assert len(used) > 5
    for action in used:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", action), action


def test_submissions_of_a_request_are_reported_on_with_the_code_of_main(tmp_path):
    def git(*words, folder="fork"):
        options = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
        subprocess.run(["git", *options, *words], cwd=tmp_path / folder, check=True)

    (tmp_path / "fork/submissions").mkdir(parents=True)
    (tmp_path / "fork/submissions/README.md").write_text("how to submit")
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "main")
    git("clone", "-q", "fork", "main", folder=".")
    (tmp_path / "fork/submissions/noise.py").write_text("# of the request")
    (tmp_path / "fork/submissions/noise.txt").write_text("noise.py:Noise --epsilon 1 $(touch x)\n")
    git("add", ".")
    git("commit", "-qm", "request")
    # What it would call says what it was called with, and where.
    stub = tmp_path / "bin" / "python"
    stub.parent.mkdir()
    stub.write_text('#!/bin/sh\necho "$@"; cat noise.py; exit 1\n')
    stub.chmod(0o755)
    run = subprocess.run(
        ["bash", ROOT / ".github" / "report_submissions.sh", "HEAD"],
        cwd=tmp_path / "main",
        env={**os.environ, "PATH": f"{stub.parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == (
        "## noise\n```text\n-m mechanisms report noise.py:Noise --epsilon 1 $(touch x) "
        f"--out {tmp_path}/main/reports/noise\n# of the request```\n"
    )
    assert not list(tmp_path.rglob("x"))
    assert (tmp_path / "main/summary.txt").read_text() == run.stdout


# In place of `gh`: answers from files by the path that is asked for, and writes down what it sends.
GH = """#!/bin/sh
echo "$@" >> calls
case "$2" in
  */zip) cat artifact.zip ;;
  */artifacts*) cat artifacts.json ;;
  */pulls*) cat pulls.json ;;
  */comments?*) [ "$3" = --paginate ] && cat ids ;;
esac
case "$*" in *--input*) cat > sent.json ;; esac
"""


@pytest.fixture
def commented(tmp_path):
    """Posts a summary and returns the process, what was called and the comment."""

    def post(text, *, ids="", size=100, head="abc", name="summary.txt"):
        with zipfile.ZipFile(tmp_path / "artifact.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(name, text)
        artifacts = {"artifacts": [{"id": 7, "size_in_bytes": size}]}
        (tmp_path / "artifacts.json").write_text(json.dumps(artifacts))
        pulls = [{"number": 3, "head": {"sha": "abc"}}, {"number": 4, "head": {"sha": "old"}}]
        (tmp_path / "pulls.json").write_text(json.dumps(pulls))
        (tmp_path / "ids").write_text(ids)
        for left in ("calls", "sent.json"):
            (tmp_path / left).unlink(missing_ok=True)
        stub = tmp_path / "bin" / "gh"
        stub.parent.mkdir(exist_ok=True)
        stub.write_text(GH)
        stub.chmod(0o755)
        run = subprocess.run(
            [sys.executable, ROOT / ".github" / "comment_report.py"],
            cwd=tmp_path,
            env={
                **{"PATH": f"{stub.parent}:{os.environ['PATH']}", "GITHUB_REPOSITORY": "us/suite"},
                **{"GITHUB_SERVER_URL": "https://github.example", "RUN": "55", "HEAD": head},
                **{"OWNER": "you", "BRANCH": "a&state=all$(touch x)"},
            },
            capture_output=True,
            text=True,
        )
        sent = tmp_path / "sent.json"
        body = json.loads(sent.read_text())["body"] if sent.exists() else None
        return run, (tmp_path / "calls").read_text(), body

    return post


def test_a_report_is_one_comment_on_the_request_that_it_is_for(commented, tmp_path):
    run, calls, body = commented("## noise\nrefuted\n")
    assert run.returncode == 0, run.stderr
    assert "head=you%3Aa%26state%3Dall%24%28touch+x%29" in calls
    assert calls.endswith("repos/us/suite/issues/3/comments --method POST --input -\n")
    assert body.endswith("\n```text\n## noise\nrefuted\n\n```\n")
    assert "https://github.example/us/suite/actions/runs/55" in body
    _, calls, _ = commented("again", ids="12\n")
    assert calls.endswith("repos/us/suite/issues/comments/12 --method PATCH --input -\n")
    assert not (tmp_path / "x").exists()


def test_a_comment_shows_what_a_stranger_wrote_as_text_only(commented):
    hostile = "```\n````text\n@all <img src=x>\x1b[31m\x00\u202e<!-- -->\n"
    _, _, body = commented(hostile)
    fence = "`" * 5
    assert body.split(fence)[1] == "text\n```\n````text\n@all <img src=x>[31m<!-- -->\n\n"
    assert body.count(fence) == 2
    # A megabyte of zeros packs to a kilobyte.
    _, _, long = commented("x" * 1_000_000)
    assert len(long) < 22_000 and "(shortened)" in long


@pytest.mark.parametrize(
    ("given", "status"),
    [({"size": 2_000_000}, 1), ({"head": "newer"}, 0), ({"name": "../summary.txt"}, 1)],
)
def test_nothing_is_posted_where_there_is_no_summary_for_the_request(commented, given, status):
    run, calls, body = commented("text", **given)
    assert run.returncode == status
    assert body is None and "--method" not in calls


def test_the_workflow_that_may_write_runs_nothing_of_a_request():
    workflows = ROOT / ".github" / "workflows"
    text = (workflows / "comment.yml").read_text()
    comment = yaml.safe_load(text)
    job = comment["jobs"]["comment"]
    assert comment["permissions"] == {}
    assert [name for name, right in job["permissions"].items() if right == "write"] == [
        "pull-requests"
    ]
    checkout, post = job["steps"]
    assert checkout["with"]["ref"] == "${{ github.event.repository.default_branch }}"
    # What a stranger chose is in variables, not in a command.
    assert post["run"] == "python3 .github/comment_report.py"
    report = yaml.safe_load((workflows / "report.yml").read_text())
    assert report["permissions"] == {"contents": "read"}
    assert comment[True]["workflow_run"]["workflows"] == [report["name"]]
