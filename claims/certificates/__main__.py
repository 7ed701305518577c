"""Write the certificates of the reference run, let the checker check each file, and list them.

python -m claims.certificates
"""

import subprocess
import sys
import time
from pathlib import Path

from claims.certificates import FOLDER
from claims.certificates.overview import overview
from claims.certificates.writer import write

CHECKER = Path(__file__).resolve().parents[2] / "check_certificate.py"
# A longer check would be no check in a minute.
LONGEST = 60


def seconds_to_check(path: Path) -> float:
    """How long the checker takes, started as anybody would start it.

    Raises:
        subprocess.CalledProcessError: It refuses a certificate.
        subprocess.TimeoutExpired: It takes longer than a minute.
    """
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, CHECKER, path], check=True, timeout=LONGEST, stdout=subprocess.DEVNULL
    )
    return time.perf_counter() - start


if __name__ == "__main__":
    paths = write(FOLDER)
    for stale in set(FOLDER.glob("*.json")) - set(paths):
        stale.unlink()
    seconds = {path: seconds_to_check(path) for path in paths}
    (FOLDER / "README.md").write_text(overview(seconds), encoding="utf-8")
    print(f"{len(paths)} files written to {FOLDER}, and checked.")
