"""One built site of the committed run for all its tests, and a browser."""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from site_builder.site_data import SiteData

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The folder of the site, built by the command line under another hash seed.

    The first worker that needs it builds it for all workers.
    """
    own = tmp_path_factory.getbasetemp()
    out = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "site"
    with open(f"{out}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not out.exists():
            begun = tmp_path_factory.mktemp("built") / "site"
            environment = os.environ | {"PYTHONHASHSEED": "1", "OMP_NUM_THREADS": "1"}
            command = [sys.executable, "-m", "site_builder", "build", "reference"]
            command += ["--out", str(begun)]
            subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
            begun.rename(out)
    return out


@pytest.fixture(scope="session")
def site():
    """The content of the pages of the committed run, computed in this process."""
    return SiteData(ROOT / "results/reference")


@pytest.fixture(scope="session")
def browser():
    """Chromium; tests that need it are skipped if it is not installed."""
    if CHROMIUM is None:
        if os.environ.get("BROWSER_REQUIRED"):
            pytest.fail("BROWSER_REQUIRED is set, and chromium is not in PATH")
        pytest.skip("chromium is not in PATH: the site is not tested in a browser")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield chromium
        chromium.close()
