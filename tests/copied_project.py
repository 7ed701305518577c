"""A copy of the project that a test may change, and Snakemake in it."""

import json
import multiprocessing
import os
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
COPIED = (
    "Snakefile", "workflow", "mechanisms", "claims", "datasets", "learning", "studies", "runs",
    "papers", "paper_figures", "site_builder", "profiles", "config", "envs",
    "CITATION.cff",
)  # fmt: skip


LIST_CELLS = """
import sys
from runs.cells import cells_of, results_folder
from runs.config import read_config
from runs.store import cells_to_run
config = read_config(sys.argv[1])
print("\\n".join(cell.stem for cell in cells_to_run(cells_of(config), results_folder(config))))
"""


LIST_PLAN = """
import json
import sys
from runs.batches import batches_of
from runs.config import read_config
batches = batches_of(read_config(sys.argv[1]))
print(json.dumps({batch.stem: [cell.stem for cell in batch.cells] for batch in batches}))
"""


# Import third-party packages once, because that takes a third of a dry run.
WARM = multiprocessing.get_context("forkserver")
WARM.set_forkserver_preload(
    ["snakemake.cli", "snakemake_executor_plugin_slurm", "matplotlib.pyplot", "pandas", "pydantic",
     "pyarrow.parquet", "scipy.optimize", "scipy.stats"]
)  # fmt: skip


def run_snakemake(command, folder, environment, shown):
    """Run `python -m snakemake` in a folder, in its own process."""
    for number, path in enumerate(shown, 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path.insert(0, str(folder))
    sys.argv = command
    runpy.run_module("snakemake", run_name="__main__")


def differing(left, right):
    """The paths at which two results of `Project.reproducible` differ."""
    return sorted(path for path in left | right if left.get(path) != right.get(path))


class Project:
    """A copy of the project in its own folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                # Copy compiled files too; Python compiles a file again once it changes.
                shutil.copytree(source, folder / name)
            else:
                shutil.copy2(source, folder / name)
        self.environment = {k: v for k, v in os.environ.items() if k != "DATA_MIRROR"}

    def python(self, *arguments):
        """Run `python -m ...` in the copy and return its output."""
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
        """Run Snakemake to its end; a failure fails the test unless `check` is False."""
        command = ["snakemake", "--cores", str(cores), *arguments, "--configfile", config]
        ended = self.run_warm(command)
        if check and ended.returncode:
            pytest.fail(f"snakemake ended with {ended.returncode}:\n{ended.stdout}\n{ended.stderr}")
        return ended

    def run_warm(self, command):
        """Run a command line of Snakemake to its end, in a process that has its packages."""
        with tempfile.TemporaryDirectory() as place:
            shown = [Path(place, name) for name in ("stdout", "stderr")]
            given = command, self.folder, self.environment, shown
            process = WARM.Process(target=run_snakemake, args=given)
            process.start()
            process.join()
            texts = [path.read_text(encoding="utf-8") for path in shown]
        return subprocess.CompletedProcess(command, process.exitcode, *texts)

    def reproducible(self, run):
        """The bytes of the files of a run by path, without logs, seconds and cells.

        Cells keep their seconds beside their rows; the tables have all rows.
        """
        top = self.folder / "results" / run
        found = {}
        for path in top.rglob("*"):
            place = path.relative_to(top)
            apart = place.parts[0] in ("cells", "logs") or "timings" in path.name
            if path.is_file() and not apart:
                found[str(place)] = path.read_bytes()
                if path.name.endswith(".manifest.csv"):
                    found[str(place)] = re.sub(rb"(?m),[^,\n]*$", b"", found[str(place)])
        return found

    def planned_batches(self, *arguments, config="config/tiny.yaml"):
        """The stems of the batches that a dry run would run."""
        shown = self.snakemake("--dry-run", *arguments, "--quiet", "host", config=config).stdout
        return set(re.findall(r"wildcards: batch=(\S+)", shown))

    def cells_to_run(self, config="config/tiny.yaml"):
        """The stems of the cells without a current result."""
        (self.folder / "list_cells.py").write_text(LIST_CELLS)
        return set(self.python("list_cells", config).split())

    def plan(self, config="config/tiny.yaml"):
        """The stems of the cells of every batch."""
        (self.folder / "list_plan.py").write_text(LIST_PLAN)
        return json.loads(self.python("list_plan", config))
