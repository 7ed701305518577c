"""Write the certificates of the reference run, let the checkers check each file, and list them.

python -m claims.certificates
"""

import os
import subprocess
import sys
from pathlib import Path

from claims.certificates import FOLDER
from claims.certificates.limits import write_limits
from claims.certificates.overview import overview
from claims.certificates.writer import write
from mechanisms.cli.arguments import Parser, run

ROOT = Path(__file__).resolve().parents[2]
# The longest time that the check of one file may take, in seconds.
LONGEST = 60


def seconds_to_check(checker: str, path: Path) -> float:
    """Run a checker on a file as any reader would, and return the processor time that it takes.

    Raises:
        subprocess.CalledProcessError: The checker rejects a certificate.
        TimeoutError: The checker takes longer than `LONGEST` seconds.
    """
    start = os.times().children_user
    subprocess.run([sys.executable, ROOT / checker, path], check=True, stdout=subprocess.DEVNULL)
    seconds = os.times().children_user - start
    if seconds > LONGEST:
        raise TimeoutError(f"{path} takes {seconds:.0f} s to check; the limit is {LONGEST} s")
    return seconds


def main() -> int:
    """Write, check and list all certificates, and return the exit status."""
    Parser(prog="python -m claims.certificates", description=__doc__).parse_args()
    guarantees, limits = write(), write_limits()
    for stale in {*FOLDER.rglob("*.json")} - {*guarantees, *limits}:
        stale.unlink()
    seconds = {path: seconds_to_check("check_certificate.py", path) for path in guarantees}
    of_limits = {path: seconds_to_check("check_limit.py", path) for path in limits}
    (FOLDER / "README.md").write_text(overview(seconds, of_limits), encoding="utf-8")
    print(f"{len(seconds) + len(of_limits)} files were written to {FOLDER} and checked.")
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
