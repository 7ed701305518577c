"""The whole DAG on config/tiny.yaml, and what must and must not run again."""

import html
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pandas as pd
import pytest
import yaml

from mechanisms import all_mechanisms
from paper_figures.drawings import words_of
from runs.batches import batches_of
from runs.cells import cells_of
from runs.config import read_config
from runs.frames import read_frame

ROOT = Path(__file__).resolve().parents[2]


def result_bytes(project, run):
    """Everything that must be reproducible: all of a run but its seconds and its logs."""
    top = project.folder / "results" / run
    return {
        str(path.relative_to(top)): path.read_bytes()
        for path in sorted(top.rglob("*"))
        if path.is_file()
        and "timings" not in path.name
        and "table5" not in path.name
        and "logs" not in path.parts
    }


def write_small_config(project):
    """A config of few cells: counts, noise alone, matrices, learning; returns its path."""
    config = yaml.safe_load((ROOT / "config/tiny.yaml").read_text())
    config["run"] = "small"
    kept = ("count_query", "noise_only", "first_component", "dpsgd")
    config["experiments"] = {name: config["experiments"][name] for name in kept}
    config["experiments"]["noise_only"]["datasets"] = ["fixed-sensitivity"]
    for experiment in config["experiments"].values():
        experiment["mechanisms"] = ["non-private", "gaussian", "r1smg"]
    (project.folder / "small.yaml").write_text(yaml.safe_dump(config))
    return "small.yaml"


@pytest.fixture(scope="module")
def finished(new_project, tmp_path_factory):
    """A project in which the tiny run has finished on two cores."""
    project = new_project(tmp_path_factory.mktemp("finished"))
    project.snakemake()
    return project


def test_tiny_run_has_every_mechanism_and_no_failure(finished):
    results = finished.folder / "results/tiny"
    frame = read_frame(results / "results.parquet")
    assert set(all_mechanisms()) <= set(frame["mechanism"])
    assert set(frame["status"]) <= {"ok", "unsupported"}
    config = read_config(ROOT / "config/tiny.yaml")
    for experiment, rows in frame.groupby("experiment"):
        assert set(config["experiments"][experiment]["mechanisms"]) == set(rows["mechanism"])
    drawn = {path.name for path in (results / "figures").iterdir()}
    for name in ("r1smg2024_fig4", "r1smg2024_fig5", "r1smg2024_fig9"):
        assert {f"{name}.pdf", f"{name}.png", f"{name}.csv"} <= drawn
    explained = [path.name for path in results.rglob("*.md") if "Not drawn:" in path.read_text()]
    assert explained == []
    tables = {path.name for path in (results / "tables").iterdir()}
    for name in ("r1smg2024_table1", "mgm2021_table4", "mgm2021_table5"):
        assert {f"{name}.csv", f"{name}.md", f"{name}.tex"} <= tables


def test_a_second_run_does_nothing(finished):
    ended = finished.snakemake()
    assert "Nothing to be done" in ended.stdout + ended.stderr


def test_the_report_has_every_drawing_with_its_own_caption(finished):
    finished.snakemake("--report", "report.zip")
    with zipfile.ZipFile(finished.folder / "report.zip") as archive:
        names = {Path(name).name for name in archive.namelist()}
        page = archive.read("report/report.html").decode()
    run = finished.folder / "results/tiny"
    figures, tables = (sorted((run / kind).glob("*.md")) for kind in ("figures", "tables"))
    assert figures and tables
    assert {f"{path.stem}.png" for path in figures} | {"claims.csv"} <= names
    assert {f"{path.stem}.csv" for path in tables} <= names
    caption = words_of(run / "figures/suite_validity.md")[0]
    assert html.escape(caption, quote=False) in page
    assert "system-message" not in page


@pytest.mark.parametrize("target", ["data", "results", "r1smg2024", "mgm2021"])
def test_targets_exist(finished, target):
    finished.snakemake("--dry-run", target)


def test_one_target_needs_its_own_experiment_only(new_project, tmp_path):
    batches = new_project(tmp_path).planned_batches("r1smg2024_fig5")
    assert batches
    assert all(batch.startswith("count_query/") for batch in batches)


def test_editing_a_mechanism_reruns_its_cells_only(finished):
    """Last of those that use `finished`, as it changes a file."""
    path = finished.folder / "mechanisms" / "r1smg.py"
    assert finished.cells_to_run() == set()
    path.write_text(path.read_text() + "\n# a comment\n")
    config = read_config(ROOT / "config/tiny.yaml")
    batches = batches_of(config)
    edited = [batch for batch in batches if any(c.mechanism == "r1smg" for c in batch.cells)]
    assert 1 < len(edited) < len(batches)
    assert finished.planned_batches() == {batch.stem for batch in edited}
    expected = {cell.stem for cell in cells_of(config) if cell.mechanism == "r1smg"}
    assert finished.cells_to_run() == expected
    # The other cells of those batches keep their files.
    cells = finished.folder / "results/tiny/cells/noise_only/fixed-sensitivity"
    before = {path.name: path.stat().st_mtime_ns for path in cells.glob("*.parquet")}
    finished.snakemake("results/tiny/experiments/noise_only.parquet")
    after = {path.name: path.stat().st_mtime_ns for path in cells.glob("*.parquet")}
    assert {name.split("--")[0] for name in after if after[name] != before[name]} == {"r1smg"}


def test_a_killed_run_resumes_to_the_bytes_of_a_whole_one_on_another_number_of_cores(
    new_project, tmp_path
):
    """Neither the number of cores nor a kill in the middle changes a byte."""
    whole, killed = (new_project(tmp_path / name) for name in ("whole", "killed"))
    config = write_small_config(whole)
    write_small_config(killed)
    whole.snakemake(cores=1, config=config)

    child = subprocess.Popen(
        [sys.executable, "-m", "snakemake", "--cores", "2", "--configfile", config],
        cwd=killed.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    cells = killed.folder / "results/small/cells"
    deadline = time.monotonic() + 120
    while len(list(cells.rglob("*.timings.parquet"))) < 6:
        assert time.monotonic() < deadline, "the run made no progress"
        assert child.poll() is None, "the run ended before it could be killed"
        time.sleep(0.05)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    assert not (killed.folder / "results/small/results.parquet").exists()
    killed.snakemake("--unlock", config=config)
    killed.snakemake(config=config)
    assert result_bytes(killed, "small") == result_bytes(whole, "small")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("run: bad\n", "config key experiments is missing"),
        ("run: bad\nexperiments: {}\nrun: b\n", "line 3: the key 'run' is there twice"),
    ],
)
def test_a_bad_config_is_told_in_one_sentence(new_project, tmp_path, text, words):
    project = new_project(tmp_path)
    (project.folder / "bad.yaml").write_text(text)
    ended = project.snakemake("--dry-run", config="bad.yaml", check=False)
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
            eaten.append(np.ones(1 << 24))
'''


def test_failures_are_rows_and_outside_mechanisms_are_drawn(new_project, tmp_path):
    project = new_project(tmp_path)
    (project.folder / "outside.py").write_text(BROKEN)
    config = yaml.safe_load((ROOT / "config/tiny.yaml").read_text())
    names = ("Mine", "Raises", "Hangs", "Eats")
    config |= {
        "run": "broken",
        "strict": False,
        "limits": {"seconds": 12, "memory_gib": 0.7},
        "variants": {name.lower(): {"use": f"outside:{name}"} for name in names},
    }
    config.pop("sets")
    experiment = config["experiments"]["count_query"]
    config["experiments"] = {"count_query": experiment}
    experiment |= {
        "mechanisms": ["non-private", "gaussian", *(name.lower() for name in names)],
        "calibrations": ["published"],
        "epsilons_for": {},
        "map_epsilons": {"default": 0.5},
        "trials": 3,
    }
    (project.folder / "broken.yaml").write_text(yaml.safe_dump(config))
    ended = project.snakemake("results", "r1smg2024_counts", config="broken.yaml")
    results = project.folder / "results/broken"
    frame = read_frame(results / "results.parquet")
    status = {m: set(rows["status"]) for m, rows in frame.groupby("mechanism")}
    assert status == {
        "non-private": {"ok"}, "gaussian": {"ok"}, "mine": {"ok"},
        "raises": {"error"}, "hangs": {"timeout"}, "eats": {"error"},
    }  # fmt: skip
    messages = {m: " ".join(rows["message"]) for m, rows in frame.groupby("mechanism")}
    assert "ZeroDivisionError: on purpose" in messages["raises"]
    assert "limit of 12 s" in messages["hangs"]
    assert "memory limit of 0.7 GiB" in messages["eats"]
    # Every grid point is there for every mechanism.
    points = frame.groupby("mechanism")["epsilon"].nunique()
    assert set(points) == {2}
    failures = pd.read_csv(results / "failures.csv")
    assert set(failures["mechanism"]) == {"raises", "hangs", "eats"}
    drawn = pd.read_csv(results / "figures/r1smg2024_counts.csv")
    assert set(drawn["mechanism"]) == {"non-private", "gaussian", "mine"}

    # Every run ends with a summary; only a strict one ends with status 1.
    summary = f"results/broken: {len(names) + 2} cells, 3 ok, 0 unsupported, 3 failed"
    assert summary in ended.stderr
    config |= {"strict": True}
    (project.folder / "broken.yaml").write_text(yaml.safe_dump(config))
    ended = project.snakemake("summary", config="broken.yaml", check=False)
    assert ended.returncode
    assert summary in ended.stdout + ended.stderr
    assert "count_query/city/raises--published: error at 2 grid points" in ended.stderr
