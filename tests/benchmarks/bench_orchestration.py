"""Measure what a run costs besides its mathematics, print the shares and check the limits."""

import resource
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import yaml

from runs.frames import read_frame
from runs.result_table import CPU_SECONDS

ROOT = Path(__file__).resolve().parents[2]


def timed(project, *arguments, config):
    """(CPU s of Snakemake's process, CPU s including its children, its peak MiB, wall s)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.monotonic()
    child = psutil.Popen(
        [sys.executable, "-m", "snakemake", "--cores", "2", *arguments, "--configfile", config],
        cwd=project.folder,
        env=project.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    own, peak = 0.0, 0
    while child.poll() is None:
        try:
            times = child.cpu_times()
            own, peak = times.user + times.system, max(peak, child.memory_info().rss)
        except psutil.NoSuchProcess:
            break
        time.sleep(0.1)
    assert child.wait() == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return own, total, peak / 2**20, time.monotonic() - started


@pytest.mark.parametrize("name", ["tiny", "quick"])
def test_the_mathematics_takes_most_of_a_run(new_project, tmp_path, name):
    project = new_project(tmp_path / "project")
    main, total, peak, wall = timed(project, config=f"config/{name}.yaml")
    timings = read_frame(
        *sorted((project.folder / f"results/{name}/studies").glob("*.timings.parquet"))
    )
    measured = timings[timings["metric"] == CPU_SECONDS]["value"].sum()
    print(
        f"\n{name}: {wall:.0f} s of wall clock on 2 cores, {total:.0f} CPU seconds: "
        f"{measured / total:.0%} in measure, {main / total:.1%} in Snakemake's process, "
        f"which held {peak:.0f} MiB"
    )
    if name == "quick":
        assert measured / total >= 0.85
        assert main / total <= 0.05
        assert peak <= 300


def test_the_cost_of_a_cell_does_not_grow_with_their_number(new_project, tmp_path):
    """Measured by dry runs with up to 10,000 cells, eight to a job."""
    project = new_project(tmp_path / "project")
    tiny = yaml.safe_load((ROOT / "config/tiny.yaml").read_text())
    seconds, peaks = {}, {}
    for cells in (20, 10**3, 10**4):
        variants = {f"v{i}": {"use": "gaussian"} for i in range(cells)}
        settings = tiny["studies"]["noise_only"] | {
            "datasets": ["fixed-sensitivity"],
            "mechanisms": list(variants),
            "calibrations": ["published"],
        }
        config = {"run": "many", "variants": variants, "studies": {"noise_only": settings}}
        (project.folder / "many.yaml").write_text(yaml.safe_dump(config))
        seconds[cells], _, peaks[cells], _ = timed(
            project, "--dry-run", "results", config="many.yaml"
        )
    per_cell = {n: (seconds[n] - seconds[20]) / (n - 20) for n in (10**3, 10**4)}
    for n, each in per_cell.items():
        print(f"\n{n} cells: {each * 1e3:.1f} ms of Snakemake's CPU each, {peaks[n]:.0f} MiB")
    assert per_cell[10**4] <= 1.3 * per_cell[10**3]
    assert peaks[10**4] <= 1024


def test_a_dry_run_of_the_papers_is_quick(new_project, tmp_path):
    project = new_project(tmp_path / "project")
    _, total, peak, _ = timed(project, "--dry-run", config="config/paper.yaml")
    print(f"\ndry run of paper.yaml: {total:.1f} CPU seconds, {peak:.0f} MiB")
    assert total <= 6
