"""Random kills of every process of a run change no byte, lose nothing and leave no orphan.

`make soak` runs this file, which takes tens of minutes. The environment variables SOAK_KILLS and
SOAK_SEED change the number of kills and their times.
"""

import contextlib
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import psutil
import yaml
from copied_project import differing
from left_over import at_work_in

ROOT = Path(__file__).resolve().parents[2]
KILLS = int(os.environ.get("SOAK_KILLS", "100"))
SEED = int(os.environ.get("SOAK_SEED", "0"))
# Long enough for a child to notice that it lost its parent.
ORPHAN_SECONDS = 5


def write_config(project):
    """Write a config of two studies with four mechanisms, in batches of two cells."""
    tiny = yaml.safe_load((ROOT / "config/tiny.yaml").read_text())
    config = {"run": "soak", "cells_per_job": 2, "studies": {}}
    for name in ("count_query", "noise_only"):
        config["studies"][name] = tiny["studies"][name] | {
            "mechanisms": ["non-private", "gaussian", "laplace", "r1smg"]
        }
    config["studies"]["noise_only"]["datasets"] = ["fixed-sensitivity"]
    (project.folder / "soak.yaml").write_text(yaml.safe_dump(config))
    return "soak.yaml"


def start(project, config):
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "results", "--configfile", config]
    return subprocess.Popen(
        command,
        cwd=project.folder,
        env=project.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def require_no_orphan(project):
    deadline = time.monotonic() + ORPHAN_SECONDS
    while left := at_work_in(project.folder):
        assert time.monotonic() < deadline, f"left behind: {[p.cmdline() for p in left]}"
        time.sleep(0.1)


def test_kills_change_nothing(new_project, tmp_path):
    draw = random.Random(SEED)
    project = new_project(tmp_path / "project")
    config = write_config(project)
    project.snakemake("results", config=config)
    whole = project.reproducible("soak")
    killed = {}
    while sum(killed.values()) < KILLS:
        # A finished run starts again from scratch.
        for name in ("results", ".snakemake"):
            shutil.rmtree(project.folder / name)
        finished = False
        while not finished:
            child = start(project, config)
            while child.poll() is None:
                if sum(killed.values()) < KILLS:
                    time.sleep(draw.uniform(0, 8))
                    with contextlib.suppress(psutil.Error):
                        kill_one(project, killed, draw)
                else:
                    child.wait()
            finished = child.returncode == 0
            if child.returncode < 0:
                require_no_orphan(project)
                project.snakemake("--unlock", config=config)
        assert differing(project.reproducible("soak"), whole) == []
        require_no_orphan(project)
        print(f"after {sum(killed.values())} kills {killed}: the same bytes", flush=True)
    assert {"snakemake", "job", "worker"} <= set(killed)


def kill_one(project, killed, draw):
    """Kill a process of the kind that was killed least, so that few kills hit every kind."""
    victims = [(kind_of(each), each) for each in at_work_in(project.folder)]
    kind = min(dict(victims), key=lambda name: killed.get(name, 0), default=None)
    if kind is not None:
        draw.choice([each for own, each in victims if own == kind]).kill()
        killed[kind] = killed.get(kind, 0) + 1


def kind_of(process):
    """The kind of a process of a run."""
    line = " ".join(process.cmdline())
    for kind, words in (
        ("snakemake", "-m snakemake"),
        ("worker", "-m runs.worker"),
        ("job", ".snakemake/scripts"),
    ):
        if words in line:
            return kind
    return "other"
