"""On a full disk of any size no mechanism is blamed, and with more room the run ends as usual.

`make soak` runs this file as root: it mounts a file system with blocks of 1 KiB.
"""

import contextlib
import os
import shutil
import subprocess
from types import SimpleNamespace

import pytest
import yaml
from copied_project import differing
from soak_kills import ROOT

from runs import runner
from runs.cells import cells_of
from runs.config import check_config
from runs.store import read_cell
from runs.warm_process import WarmProcess

# The size of the whole file system.
DISK_KIB = 4096
# Free KiB to try, from none to more than the runs below write. Cells share a warm process
# and take no time; a whole run starts Snakemake twice.
OF_CELLS, OF_RUNS = range(0, 200, 2), range(0, 400, 16)
LIMITS = {"seconds": 60, "memory_gib": 2}
# The message of a run on a full disk.
FULL = ("No space left on device", "is full")
RAISES = '''
"""A mechanism that raises: its failure is reported while the disk is full."""

from mechanisms import AdditiveMechanism


class Raises(AdditiveMechanism):
    """Raises when it is calibrated."""

    key, title, paper, theorem, guarantee = "raises", "Raises", "test", "none", "approximate"

    @classmethod
    def noise_for(cls, query, budget):
        raise ZeroDivisionError("on purpose")
'''


@pytest.fixture
def disk(tmp_path):
    """A folder with its own small file system."""
    image, folder = tmp_path / "image", tmp_path / "disk"
    image.touch()
    os.truncate(image, DISK_KIB * 1024)
    folder.mkdir()
    format_it = ["mkfs.ext2", "-q", "-F", "-m", "0", "-b", "1024", "-N", "1024", image]
    subprocess.run(format_it, check=True)
    mounted = subprocess.run(["mount", "-o", "loop", image, folder], capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"a file system cannot be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", folder], check=True)


@contextlib.contextmanager
def only(kib, folder):
    """Leave this many KiB of a file system free."""
    filler = folder / "filler"
    with open(filler, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(folder).free - (kib + 16) * 1024)
        while (over := shutil.disk_usage(folder).free - kib * 1024) > 0:
            file.seek(0, os.SEEK_END)
            file.write(bytes(min(over, 1024)))
            file.flush()
    yield
    filler.unlink()


def config_of(**studies):
    """A config of some studies with these mechanisms, of which `raises` fails."""
    tiny = yaml.safe_load((ROOT / "config/tiny.yaml").read_text())
    return {
        "run": "soak",
        "strict": False,
        "limits": LIMITS,
        "cells_per_job": 3,
        "variants": {"raises": {"use": "outside:Raises"}},
        "studies": {
            name: tiny["studies"][name] | {"mechanisms": mechanisms, "calibrations": ["published"]}
            for name, mechanisms in studies.items()
        },
    }


def rows_in(run):
    """The reproducible rows of every stored cell, by path."""
    paths = run.glob("cells/**/*.parquet")
    return {str(path.relative_to(run)): read_cell(path)[0] for path in paths}


def emptied(folder):
    """Remove everything that a test wrote to the disk."""
    for path in folder.iterdir():
        if path.name != "lost+found":
            shutil.rmtree(path)


def test_cells_on_a_full_disk(monkeypatch, tmp_path, disk):
    (tmp_path / "outside.py").write_text(RAISES)
    monkeypatch.syspath_prepend(tmp_path)
    config = check_config(config_of(regression=["non-private", "mvg", "raises"]))
    cells = cells_of(config)
    warm = WarmProcess("regression")
    kept = SimpleNamespace(run=warm.run, close=lambda: None)
    monkeypatch.setattr(runner, "WarmProcess", lambda study: kept)
    runner.run_cells(cells, tmp_path, limits=LIMITS, commit="")
    whole, run = rows_in(tmp_path), disk / "soak"
    assert {status for table in whole.values() for status in table["status"].to_pylist()} >= {"ok"}
    said = []
    for kib in OF_CELLS:
        with only(kib, disk):
            # This cell is never complete: on a full disk any failure may be due to the disk.
            with pytest.raises((runner.CellError, OSError)) as caught:
                runner.run_cells(cells, run, limits=LIMITS, commit="")
            assert any(words in str(caught.value) for words in FULL), (kib, caught.value)
            for path, rows in rows_in(run).items():
                assert rows.equals(whole[path]), (kib, path)
            said.append(len(rows_in(run)))
        runner.run_cells(cells, run, limits=LIMITS, commit="")
        assert rows_in(run) == whole, kib
        emptied(disk)
    warm.close()
    assert said[0] == 0 and said[-1] == 2
    print(f"cells: {len(OF_CELLS)} sizes, from {said.count(0)} on one of the cells was whole")


def test_a_run_on_a_full_disk(new_project, tmp_path, disk):
    project = new_project(tmp_path / "project")
    (project.folder / "outside.py").write_text(RAISES)
    studies = {"regression": ["non-private", "mvg"], "first_component": ["gaussian", "raises"]}
    (project.folder / "soak.yaml").write_text(yaml.safe_dump(config_of(**studies)))
    run = project.folder / "results/soak"
    project.snakemake("results", config="soak.yaml")
    whole, stored = project.reproducible("soak"), rows_in(run)
    shutil.rmtree(project.folder / "results")
    (project.folder / "results").symlink_to(disk)
    for kib in OF_RUNS:
        with only(kib, disk):
            ended = project.snakemake("results", config="soak.yaml", check=False)
            said = ended.stdout + ended.stderr
            assert ended.returncode and any(words in said for words in FULL), (kib, said)
            for path, rows in rows_in(run).items():
                assert rows.equals(stored[path]), (kib, path)
        project.snakemake("results", "--rerun-incomplete", config="soak.yaml")
        assert differing(project.reproducible("soak"), whole) == [], kib
        emptied(disk)
        shutil.rmtree(project.folder / ".snakemake")
