"""A full disk at every size: no mechanism is blamed, and with room the run ends as any other.

`make soak` runs it, as root: it mounts a file system with blocks of 1 KiB. SOAK_STEP in the
environment is the step between sizes in KiB.
"""

import contextlib
import os
import shutil
import subprocess

import pytest
import yaml
from soak_kills import ROOT, reproducible

from runs.store import read_cell

STEP = int(os.environ.get("SOAK_STEP", "2"))
# Of the whole file system; more than the run takes, even where nothing else is on it.
DISK_KIB = 4096
# What a run says of a disk that is full.
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
    """A folder that is a small file system of its own."""
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
    """Leave that many KiB of a file system."""
    filler = folder / "filler"
    with open(filler, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(folder).free - (kib + 16) * 1024)
        while (over := shutil.disk_usage(folder).free - kib * 1024) > 0:
            file.seek(0, os.SEEK_END)
            file.write(bytes(min(over, 1024)))
            file.flush()
    yield
    filler.unlink()


def write_config(project):
    """Two studies in three batches, with a mechanism that fails; two cells share a problem."""
    (project.folder / "outside.py").write_text(RAISES)
    tiny = yaml.safe_load((ROOT / "config/tiny.yaml").read_text())
    config = {
        "run": "soak",
        "strict": False,
        "cells_per_job": 3,
        "variants": {"raises": {"use": "outside:Raises"}},
        "studies": {
            name: tiny["studies"][name] | {"mechanisms": mechanisms, "calibrations": ["published"]}
            for name, mechanisms in (
                ("regression", ["non-private", "gaussian", "mvg", "raises"]),
                ("first_component", ["gaussian", "raises"]),
            )
        },
    }
    (project.folder / "soak.yaml").write_text(yaml.safe_dump(config))
    return "soak.yaml"


def test_a_full_disk_blames_no_mechanism(new_project, tmp_path, disk):
    project = new_project(tmp_path / "project")
    config = write_config(project)
    run = project.folder / "results/soak"
    project.snakemake("results", config=config)
    whole = reproducible(project)
    stored = {path.relative_to(run): read_cell(path)[0] for path in run.glob("cells/**/*.parquet")}
    shutil.rmtree(project.folder / "results")
    (project.folder / "results").symlink_to(disk)
    kib, in_a_row, sizes = 0, 0, {"failed": [], "finished": []}
    # Until the run has finished in ten sizes one after the other.
    while in_a_row < 10:
        kib += STEP
        with only(kib, disk):
            ended = project.snakemake("results", config=config, check=False)
        for path in run.glob("cells/**/*.parquet"):
            assert read_cell(path)[0].equals(stored[path.relative_to(run)]), (kib, path)
        said = ended.stdout + ended.stderr
        assert not ended.returncode or any(words in said for words in FULL), (kib, said)
        sizes["failed" if ended.returncode else "finished"].append(kib)
        in_a_row = 0 if ended.returncode else in_a_row + 1
        if ended.returncode:
            project.snakemake("results", "--rerun-incomplete", config=config)
        assert reproducible(project) == whole, kib
        for path in disk.iterdir():
            if path.name != "lost+found":
                shutil.rmtree(path)
        shutil.rmtree(project.folder / ".snakemake")
    assert sizes["failed"]
    print(f"{len(sizes['failed'])} sizes to {sizes['failed'][-1]} KiB failed and were mended")
