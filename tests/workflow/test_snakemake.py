"""The whole DAG on config/tiny.yaml, and what must and must not run again."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
import yaml

from mechanisms import all_mechanisms
from runs.cells import cells_of
from runs.config import read_config
from runs.frames import read_frame

ROOT = Path(__file__).resolve().parents[2]
COPIED = (
    "Snakefile", "workflow", "mechanisms", "experiments", "paper_figures", "profiles", "config",
    "envs",
)  # fmt: skip


def copy_project(folder: Path) -> Path:
    """A copy of the project that a test may change."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, folder / name, ignore=ignored)
        else:
            shutil.copy2(source, folder / name)
    return folder


def snakemake(folder, *arguments, cores=2, config="config/tiny.yaml", check=True):
    command = [sys.executable, "-m", "snakemake", "--cores", str(cores), *arguments]
    command += ["--configfile", config]
    environment = {k: v for k, v in os.environ.items() if k != "DATA_MIRROR"}
    ended = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if check and ended.returncode:
        pytest.fail(f"snakemake ended with {ended.returncode}:\n{ended.stdout}\n{ended.stderr}")
    return ended


def planned_cells(folder, *arguments):
    """Cells that a dry run would run, by stem."""
    shown = snakemake(folder, "--dry-run", *arguments).stdout
    return set(re.findall(r"wildcards: cell=(\S+)", shown))


def result_bytes(folder, run="tiny"):
    """Everything that must be reproducible: all of a run but its seconds and its logs."""
    top = folder / "results" / run
    return {
        str(path.relative_to(top)): path.read_bytes()
        for path in sorted(top.rglob("*"))
        if path.is_file() and "timings" not in path.name and "table5" not in path.name
        and "logs" not in path.parts
    }  # fmt: skip


def write_small_config(folder):
    """A config of few cells: counts, noise alone, matrices, learning; returns its path."""
    config = yaml.safe_load((ROOT / "config/tiny.yaml").read_text())
    config["run"] = "small"
    kept = ("count_query", "noise_only", "first_component", "dpsgd")
    config["experiments"] = {name: config["experiments"][name] for name in kept}
    config["experiments"]["noise_only"]["datasets"] = ["fixed-sensitivity"]
    for experiment in config["experiments"].values():
        experiment["mechanisms"] = ["non-private", "gaussian", "r1smg", "mvg"]
    (folder / "small.yaml").write_text(yaml.safe_dump(config))
    return "small.yaml"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A project in which the small run has finished on two cores."""
    folder = copy_project(tmp_path_factory.mktemp("small"))
    snakemake(folder, config=write_small_config(folder))
    return folder


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A project in which the tiny run has finished on two cores."""
    folder = copy_project(tmp_path_factory.mktemp("finished"))
    snakemake(folder)
    return folder


def test_tiny_run_has_every_mechanism_and_no_failure(finished):
    frame = read_frame(finished / "results/tiny/results.parquet")
    counted = frame[frame["experiment"] == "count_query"]
    assert set(all_mechanisms()) <= set(counted["mechanism"])
    assert set(frame["status"]) <= {"ok", "unsupported"}
    config = read_config(ROOT / "config/tiny.yaml")
    for experiment, rows in frame.groupby("experiment"):
        assert set(config["experiments"][experiment]["mechanisms"]) == set(rows["mechanism"])
    drawn = {path.name for path in (finished / "results/tiny/figures").iterdir()}
    for name in ("r1smg2024_fig4", "r1smg2024_fig5", "r1smg2024_fig9"):
        assert {f"{name}.pdf", f"{name}.png", f"{name}.csv"} <= drawn
    tables = {path.name for path in (finished / "results/tiny/tables").iterdir()}
    for name in ("r1smg2024_table1", "mgm2021_table4", "mgm2021_table5"):
        assert {f"{name}.csv", f"{name}.md", f"{name}.tex"} <= tables


def test_a_second_run_does_nothing(finished):
    assert "Nothing to be done" in snakemake(finished).stdout + snakemake(finished).stderr


def test_results_do_not_depend_on_the_number_of_cores(small, tmp_path):
    folder = copy_project(tmp_path)
    snakemake(folder, cores=1, config=write_small_config(folder))
    assert result_bytes(folder, "small") == result_bytes(small, "small")


def test_editing_a_mechanism_reruns_its_cells_only(finished, tmp_path):
    folder = tmp_path / "edited"
    shutil.copytree(finished, folder, symlinks=True)
    path = folder / "mechanisms" / "r1smg.py"
    path.write_text(path.read_text() + "\n# a comment\n")
    os.utime(path)
    tiny = cells_of(read_config(ROOT / "config/tiny.yaml"))
    assert planned_cells(folder) == {cell.stem for cell in tiny if cell.mechanism == "r1smg"}


def test_one_target_needs_its_own_experiment_only(tmp_path):
    folder = copy_project(tmp_path)
    cells = planned_cells(folder, "r1smg2024_fig5")
    assert cells
    assert all(cell.startswith("count_query/") for cell in cells)


def test_targets_exist(finished):
    for target in ("all", "data", "results", "tables", "figures", "r1smg2024", "mgm2021"):
        snakemake(finished, "--dry-run", target)


def test_a_killed_run_resumes_to_the_same_bytes(small, tmp_path):
    folder = copy_project(tmp_path)
    config = write_small_config(folder)
    child = subprocess.Popen(
        [sys.executable, "-m", "snakemake", "--cores", "2", "--configfile", config],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    cells = folder / "results/small/cells"
    deadline = time.monotonic() + 120
    while len(list(cells.rglob("*.parquet"))) < 6:
        assert time.monotonic() < deadline, "the run made no progress"
        assert child.poll() is None, "the run ended before it could be killed"
        time.sleep(0.05)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    assert not (folder / "results/small/results.parquet").exists()
    snakemake(folder, "--unlock", config=config)
    snakemake(folder, config=config)
    assert result_bytes(folder, "small") == result_bytes(small, "small")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"experiments": {"count_qery": {}}}, "did you mean 'count_query'"),
        ({"limits": {"second": 5}}, "did you mean 'seconds'"),
        ({"limits": {"seconds": -5}}, "limits.seconds must be a number > 0, got -5"),
    ],
)
def test_a_bad_config_is_told_in_one_sentence(finished, tmp_path, change, words):
    config = yaml.safe_load((ROOT / "config/tiny.yaml").read_text()) | change
    (tmp_path / "bad.yaml").write_text(yaml.safe_dump(config))
    ended = snakemake(finished, "--dry-run", config=str(tmp_path / "bad.yaml"), check=False)
    assert ended.returncode
    assert words in ended.stdout + ended.stderr


BROKEN = '''
"""Mechanisms that fail in every way, and one that works, outside the suite."""

import time

import numpy as np

from mechanisms import AdditiveMechanism
from mechanisms.noise.gaussian_noise import IndependentGaussian


class Mine(AdditiveMechanism):
    """A hundred times the sensitivity, whatever the budget."""

    key, title, paper, theorem, guarantee = "mine", "Mine", "test", "none", "approximate"

    @classmethod
    def noise_for(cls, query, budget):
        return IndependentGaussian(shape=query.shape, sigma=100 * query.l2_sensitivity)


class Raises(Mine):
    """Raises in release."""

    def release(self, value, rng):
        raise ZeroDivisionError("on purpose")


class Hangs(Mine):
    """Never returns."""

    def release(self, value, rng):
        time.sleep(3600)


class Eats(Mine):
    """Takes all the memory there is, a little at a time."""

    def release(self, value, rng):
        eaten = []
        while True:
            eaten.append(np.ones(1 << 22))
'''


def test_failures_are_rows_and_outside_mechanisms_are_drawn(tmp_path):
    folder = copy_project(tmp_path)
    (folder / "outside.py").write_text(BROKEN)
    config = yaml.safe_load((ROOT / "config/tiny.yaml").read_text())
    names = ("Mine", "Raises", "Hangs", "Eats")
    config |= {
        "run": "broken",
        "strict": False,
        "limits": {"seconds": 8, "memory_gib": 0.7},
        "variants": {name.lower(): {"use": f"outside:{name}"} for name in names},
    }
    experiment = config["experiments"]["count_query"]
    config["experiments"] = {"count_query": experiment}
    experiment |= {
        "mechanisms": ["non-private", "gaussian", *(name.lower() for name in names)],
        "calibrations": ["published"],
        "trials": 3,
    }
    (folder / "broken.yaml").write_text(yaml.safe_dump(config))
    snakemake(folder, config="broken.yaml")
    frame = read_frame(folder / "results/broken/results.parquet")
    status = {m: set(rows["status"]) for m, rows in frame.groupby("mechanism")}
    assert status == {
        "non-private": {"ok"}, "gaussian": {"ok"}, "mine": {"ok"},
        "raises": {"error"}, "hangs": {"timeout"}, "eats": {"error"},
    }  # fmt: skip
    messages = {m: " ".join(rows["message"]) for m, rows in frame.groupby("mechanism")}
    assert "ZeroDivisionError: on purpose" in messages["raises"]
    assert "limit of 8 s" in messages["hangs"]
    assert "memory limit of 0.7 GiB" in messages["eats"]
    # Every grid point is there for every mechanism.
    points = frame.groupby("mechanism")["epsilon"].nunique()
    assert set(points) == {2}
    failures = pd.read_csv(folder / "results/broken/failures.csv")
    assert set(failures["mechanism"]) == {"raises", "hangs", "eats"}
    drawn = pd.read_csv(folder / "results/broken/figures/r1smg2024_counts.csv")
    assert set(drawn["mechanism"]) == {"gaussian", "mine"}

    config |= {"strict": True, "run": "strict"}
    experiment["mechanisms"] = ["non-private", "raises"]
    (folder / "broken.yaml").write_text(yaml.safe_dump(config))
    ended = snakemake(folder, config="broken.yaml", check=False)
    assert ended.returncode
    assert "the config says strict" in ended.stdout + ended.stderr
