"""A closed terminal, output that nobody reads and a clock that jumps change no byte of a run.

`make soak` runs this file, which takes minutes. The clock needs Debian's package faketime.
"""

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
import yaml
from copied_project import differing
from soak_kills import ROOT, require_no_orphan

FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
PATIENCE = 300
# The limit of a cell, and a longer pause.
SECONDS, PAUSE = 10, 25
TALKS = '''
"""A mechanism with much output."""

import select

from mechanisms import AdditiveMechanism
from mechanisms.noise.gaussian_noise import IndependentGaussian


class Talks(AdditiveMechanism):
    """sigma = 1 / epsilon, after more output than a pipe holds."""

    key, title, paper, theorem, guarantee = "talks", "Talks", "test", "none", "approximate"

    @classmethod
    def noise_for(cls, query, budget):
        for _ in range(20):
            print("x" * 10_000, flush=True)
            # time.sleep is wrong under faketime.
            select.select([], [], [], 0.1)
        return IndependentGaussian(shape=query.shape, sigma=1 / budget.epsilon)
'''


@pytest.fixture
def project(new_project, tmp_path):
    """A project with the command that runs its config, and the bytes of an undisturbed run."""
    project = new_project(tmp_path / "project")
    (project.folder / "outside.py").write_text(TALKS)
    tiny = yaml.safe_load((ROOT / "config/tiny.yaml").read_text())
    study = tiny["studies"]["noise_only"] | {
        "mechanisms": ["gaussian", "laplace", "talks", "r1smg"],
        "datasets": ["fixed-sensitivity"],
    }
    config = {"run": "soak", "cells_per_job": 2, "studies": {"noise_only": study}}
    config |= {"variants": {"talks": {"use": "outside:Talks"}}}
    config |= {"limits": {"seconds": SECONDS, "memory_gib": 2}}
    (project.folder / "soak.yaml").write_text(yaml.safe_dump(config))
    project.snakemake("results", config="soak.yaml")
    project.whole = project.reproducible("soak")
    shutil.rmtree(project.folder / "results")
    shutil.rmtree(project.folder / ".snakemake")
    return project


@contextlib.contextmanager
def begun(project, command, **options):
    """Start a run, wait until it has stored a cell, and kill it at the end of the block."""
    command = [sys.executable, "-m", *command]
    child = subprocess.Popen(
        command, cwd=project.folder, env=project.environment, start_new_session=True, **options
    )
    try:
        deadline = time.monotonic() + PATIENCE
        while not list(project.folder.glob("results/soak/cells/*/*/*.parquet")):
            assert child.poll() is None and time.monotonic() < deadline
            time.sleep(0.1)
        yield child
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


SNAKEMAKE = ("snakemake", "results", "--configfile", "soak.yaml", "--cores", "2")


def test_a_terminal_that_closes(project):
    """The run ends with its terminal and leaves no process, and the next run goes on."""
    ours, theirs = os.openpty()

    def take_terminal():
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

    streams = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
    command = ("runs", "start", "--config", "soak.yaml", "--cores", "2")
    with begun(project, command, preexec_fn=take_terminal, **streams) as child:
        os.close(theirs)
        os.close(ours)
        assert child.wait(PATIENCE) == -signal.SIGHUP
    require_no_orphan(project)
    project.snakemake("--unlock", config="soak.yaml")
    project.snakemake("results", config="soak.yaml")
    assert differing(project.reproducible("soak"), project.whole) == []


def test_output_that_nobody_reads_for_a_while(project):
    """A run waits for whoever reads its output, and blames no mechanism for that."""
    with begun(project, SNAKEMAKE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as child:
        time.sleep(PAUSE)
        assert child.poll() is None
        child.communicate(timeout=PATIENCE)
    assert child.returncode == 0
    assert differing(project.reproducible("soak"), project.whole) == []


@pytest.mark.skipif(FAKETIME is None, reason="needs Debian's package faketime")
def test_a_clock_that_jumps_a_day_ahead(project, tmp_path):
    """Snakemake itself stops with a line on clock skew where a clock jumps back."""
    shift = tmp_path / "shift"
    shift.write_text("+0")
    project.environment |= {
        "LD_PRELOAD": str(FAKETIME),
        "FAKETIME_TIMESTAMP_FILE": str(shift),
        "FAKETIME_NO_CACHE": "1",
        "DONT_FAKE_MONOTONIC": "1",
    }
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with begun(project, SNAKEMAKE, **streams) as child:
        shift.write_text("+1d")
        shown = child.communicate(timeout=PATIENCE)[0]
    assert child.returncode == 0 and "1 day" in shown, shown
    assert differing(project.reproducible("soak"), project.whole) == []
