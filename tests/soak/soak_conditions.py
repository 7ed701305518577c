"""Two runs in one folder, a clock that jumps, little memory, a site built twice: the same bytes.

`make soak` runs it: some minutes.
"""

import os
import random
import resource
import subprocess
import sys

import pytest
from soak_disks import rows_in
from soak_kills import ROOT, reproducible, require_no_orphan, write_config

GIB = 1 << 30


@pytest.fixture
def whole(new_project, tmp_path):
    """A project whose run is finished, its config, and the bytes of the run."""
    project = new_project(tmp_path / "project")
    config = write_config(project)
    project.snakemake("results", config=config)
    return project, config, reproducible(project)


def started(project, config, **options):
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "results", "--configfile", config]
    return subprocess.Popen(
        command,
        cwd=project.folder,
        env=project.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **options,
    )


def test_two_runs_at_once(whole):
    """One of them does the work; the other says why not, or has nothing left to do."""
    project, config, bytes_of_run = whole
    for path in (project.folder / "results/soak/cells").rglob("*.parquet"):
        path.unlink()
    for path in (project.folder / "results/soak/batches").rglob("*.json"):
        path.unlink()
    runs = [started(project, config) for _ in range(2)]
    said = [run.communicate()[0] for run in runs]
    codes = [run.returncode for run in runs]
    assert 0 in codes
    for code, text in zip(codes, said, strict=True):
        assert code == 0 or "cannot be locked" in text, text
    assert reproducible(project) == bytes_of_run
    require_no_orphan(project)


def test_a_clock_that_jumps(whole):
    """Times of files up to ten days in the past and in the future."""
    project, config, bytes_of_run = whole
    draw = random.Random(0)
    paths = [path for path in project.folder.rglob("*") if path.is_file()]
    for _ in range(3):
        for path in draw.sample(paths, len(paths) // 3):
            if path.exists():
                moved = path.stat().st_mtime + draw.uniform(-1, 1) * 10 * 86_400
                os.utime(path, (moved, moved))
        project.snakemake("results", config=config)
        assert reproducible(project) == bytes_of_run


@pytest.mark.parametrize("gib", [0.3, 1, 2, 4])
def test_a_limit_of_memory(whole, gib):
    """Of addresses, for every process of the run: each row is that of a free run, or says why."""
    project, config, bytes_of_run = whole
    stored = rows_in(project.folder / "results/soak")
    subprocess.run(["rm", "-r", "results", ".snakemake"], cwd=project.folder, check=True)
    most = (int(gib * GIB),) * 2
    run = started(project, config, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, most))
    said = run.communicate()[0]
    for path, rows in rows_in(project.folder / "results/soak").items():
        if not rows.equals(stored[path]):
            failed = {row["status"]: row["message"] for row in rows.to_pylist()}
            assert any(word in failed["error"] for word in ("emory", "start new thread")), failed
    if run.returncode == 0:
        assert reproducible(project) == bytes_of_run
    else:
        assert any(word in said.lower() for word in ("memory", "allocate", "thread", "error")), said


def test_a_site_built_twice(tmp_path):
    sites = []
    for seed in ("1", "2"):
        out = tmp_path / seed
        command = [sys.executable, "-m", "site_builder", "build", "reference", "--out", out]
        subprocess.run(command, cwd=ROOT, env=os.environ | {"PYTHONHASHSEED": seed}, check=True)
        paths = [path for path in out.rglob("*") if path.is_file()]
        sites.append({str(path.relative_to(out)): path.read_bytes() for path in paths})
    assert sites[0].keys() == sites[1].keys()
    assert [name for name in sites[0] if sites[0][name] != sites[1][name]] == []
