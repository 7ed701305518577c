"""Mechanisms that fail in every way become rows, and all others are drawn."""

from pathlib import Path

import pandas as pd
import pytest
import yaml

from runs.results import read_frame

ROOT = Path(__file__).resolve().parents[2]


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

    only_adds_noise = False

    def _release(self, value, rng):
        raise ZeroDivisionError("on purpose")


class Hangs(Mine):
    """Never returns."""

    only_adds_noise = False

    def _release(self, value, rng):
        time.sleep(3600)


class Eats(Mine):
    """Takes all the memory there is, a little at a time."""

    only_adds_noise = False

    def _release(self, value, rng):
        eaten = []
        while True:
            eaten.append(np.ones(1 << 24))
'''


@pytest.mark.slow
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
    study = config["studies"]["count_query"]
    config["studies"] = {"count_query": study}
    study |= {
        "mechanisms": ["non-private", "gaussian", *(name.lower() for name in names)],
        "calibrations": ["published"],
        "epsilons_for": {},
        "map_epsilons": {"default": [0.5]},
        "trials": 3,
    }
    (project.folder / "broken.yaml").write_text(yaml.safe_dump(config))
    results = project.folder / "results/broken"
    results.mkdir(parents=True)
    (results / "end.txt").write_text("stopped before the end\n")
    ended = project.snakemake("results", "r1smg2024_counts", config="broken.yaml")
    assert (results / "end.txt").read_text() in ended.stderr
    frame = read_frame(results / "studies/count_query.parquet")
    status = {m: set(rows["status"]) for m, rows in frame.groupby("mechanism")}
    assert status == {
        "non-private": {"ok"}, "gaussian": {"ok"}, "mine": {"ok"},
        "raises": {"error"}, "hangs": {"timeout"}, "eats": {"error"},
    }  # fmt: skip
    messages = {m: " ".join(rows["message"]) for m, rows in frame.groupby("mechanism")}
    assert "ZeroDivisionError: on purpose" in messages["raises"]
    assert "limit of 12 s" in messages["hangs"]
    assert "memory limit of 0.7 GiB" in messages["eats"]
    # Every mechanism has every grid point.
    points = frame.groupby("mechanism")["epsilon"].nunique()
    assert set(points) == {2}
    failures = pd.read_csv(results / "failures.csv")
    assert set(failures["mechanism"]) == {"raises", "hangs", "eats"}
    drawn = pd.read_csv(results / "figures/r1smg2024_counts.csv")
    assert set(drawn["mechanism"]) == {"non-private", "gaussian", "mine"}

    # Every run ends with a summary; only a strict run exits with status 1.
    summary = " calibration, 3 ok, 0 unsupported, 3 failed"
    assert summary in ended.stderr
    config |= {"strict": True}
    (project.folder / "broken.yaml").write_text(yaml.safe_dump(config))
    for target in ("summary", "figures"):
        ended = project.snakemake(target, config="broken.yaml", check=False)
        assert ended.returncode, target
        assert summary in ended.stdout + ended.stderr, target
        assert "count_query/city/raises--published: error at 2 grid points" in ended.stderr
    # A single figure needs no summary; the second time there is nothing to draw.
    (results / "figures/r1smg2024_counts.csv").unlink()
    ended = project.snakemake("r1smg2024_counts", config="broken.yaml", check=False)
    assert ended.returncode == 1
    assert summary in ended.stderr and "Traceback" not in ended.stderr
    assert (results / "figures/r1smg2024_counts.csv").exists()
