"""A copy of the project that a test may change, and Snakemake in it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COPIED = (
    "Snakefile", "workflow", "mechanisms", "papers", "datasets", "learning", "experiments", "runs",
    "paper_figures", "site_builder", "profiles", "config", "envs", "CITATION.cff",
)  # fmt: skip


class Project:
    """A copy of the project in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(source, folder / name, ignore=ignored)
            else:
                shutil.copy2(source, folder / name)
        self.environment = {k: v for k, v in os.environ.items() if k != "DATA_MIRROR"}

    def python(self, *arguments):
        """The output of `python -m ...` in the copy."""
        ended = subprocess.run(
            [sys.executable, "-m", *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if ended.returncode:
            pytest.fail(f"python -m {arguments} ended with {ended.returncode}:\n{ended.stderr}")
        return ended.stdout

    def snakemake(self, *arguments, cores=2, config="config/tiny.yaml", check=True):
        """Snakemake's finished process; a failure fails the test unless `check` is False."""
        command = [sys.executable, "-m", "snakemake", "--cores", str(cores), *arguments]
        command += ["--configfile", config]
        ended = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if check and ended.returncode:
            pytest.fail(f"snakemake ended with {ended.returncode}:\n{ended.stdout}\n{ended.stderr}")
        return ended

    def planned_cells(self, *arguments, config="config/tiny.yaml"):
        """Cells that a dry run would run, by stem."""
        shown = self.snakemake("--dry-run", *arguments, config=config).stdout
        return set(re.findall(r"wildcards: cell=(\S+)", shown))


@pytest.fixture(scope="session")
def new_project():
    """Makes a copy of the project in an empty folder."""
    return Project
