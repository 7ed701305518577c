"""Write the certificates of the reference run, let the checkers check each file, and list them.

python -m claims.certificates
"""

import subprocess
import sys
from pathlib import Path

from claims.certificates import FOLDER
from claims.certificates.overview import overview
from claims.certificates.writer import write, write_limits
from mechanisms.cli.arguments import Parser, run

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Write, check and list all certificates, and return the exit status."""
    Parser(prog="python -m claims.certificates", description=__doc__).parse_args()
    written = {"check_certificate.py": write(), "check_limit.py": write_limits()}
    for stale in {*FOLDER.rglob("*.json")}.difference(*written.values()):
        stale.unlink()
    for checker, paths in written.items():
        # As any reader would run it; its own message says which certificate it rejects.
        command = [sys.executable, ROOT / checker, *paths]
        if subprocess.run(command, stdout=subprocess.DEVNULL).returncode:
            return 1
    (FOLDER / "README.md").write_text(overview(*written.values()), encoding="utf-8")
    print(f"{sum(map(len, written.values()))} files were written to {FOLDER} and checked.")
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
