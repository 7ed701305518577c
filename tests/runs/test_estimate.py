"""The estimate of a run, from timings that are made up and from those of the reference run."""

from pathlib import Path

import pandas as pd
import pytest

from runs import estimate
from runs.__main__ import main
from runs.cells import Cell, cells_of
from runs.config import check_config, read_config
from runs.estimate import HOUR, Measured, estimates, measured_cells, report
from runs.result_table import CPU_SECONDS, PEAK_MEMORY

ROOT = Path(__file__).resolve().parents[2]
PCA = {
    "datasets": ["boids"],
    "mechanisms": ["gaussian", "mvg"],
    "calibrations": ["published"],
    "epsilons": [1, 2],
    "delta": 1e-7,
    "trials": 5,
    "boids": 3,
    "groups": 50,
    "components": 3,
}


def config_of(**settings):
    return check_config({"run": "test", "studies": {"pca": PCA | settings}})


def cell(mechanism, dataset="boids"):
    return Cell(study="pca", dataset=dataset, mechanism=mechanism, calibration="published")


MEASURED = {cell("gaussian"): Measured(3.0, 1e9), cell("mvg"): Measured(7.0, 2e9)}


def only(config, measured=MEASURED, before=None):
    (found,) = estimates(config, measured, before or config_of())
    return found


def test_seconds_grow_with_points_and_trials():
    found = only(config_of(epsilons=[1, 2, 4], trials=10))
    assert (found.cells, found.matched) == (2, 2)
    assert found.seconds == pytest.approx((300, 300, 300))
    assert found.memory == (1e9, 2e9)
    assert found.differing == [] and found.unmatched == []


def test_other_settings_are_named_and_not_followed():
    found = only(config_of(groups=500, components=2))
    assert found.seconds == pytest.approx((100, 100, 100))
    assert found.differing == ["components", "groups"]


def test_cells_without_a_match_get_the_median_and_the_range_of_the_study():
    measured = MEASURED | {cell("udn"): Measured(4.0, 1.5e9)}
    found = only(config_of(mechanisms=["gaussian", "laplace"]), measured)
    assert (found.cells, found.matched) == (2, 1)
    # Ten releases each: gaussian at 3 s; laplace at 4 s, or from 3 to 7 s.
    assert found.seconds == pytest.approx((70, 60, 100))
    assert found.memory == (1e9, 2e9)
    assert found.unmatched == ["boids: laplace (1 cell)"]


def test_a_study_that_was_not_timed_has_no_seconds():
    found = only(config_of(), {cell("gaussian"): Measured(None, 1e9), cell("mvg"): Measured()})
    assert found.seconds is None and found.matched == 2
    shown = report([found], "reference")
    assert "not timed" in shown
    assert "Not timed in the run reference, so not in the total: pca" in shown


def test_a_study_without_any_match():
    found = only(config_of(), {})
    assert (found.matched, found.seconds, found.memory) == (0, None, None)
    assert (found.unmatched, found.unknown) == ([], ["boids (2 cells)"])


def test_another_data_set_says_nothing_of_the_seconds():
    """A record of one may take a thousand times as long as one of the other."""
    elsewhere = {cell(name, dataset="swarm"): took for name, took in MEASURED.items()}
    found = only(config_of(), elsewhere)
    assert (found.seconds, found.unknown) == (None, ["boids (2 cells)"])
    shown = report([found], "reference")
    assert "has not timed, so not in the total: pca: boids (2 cells)" in shown


def test_data_sets_that_lack_the_same_cells_are_named_together():
    found = only(config_of(datasets=["boids", "swarm"], mechanisms=["gaussian", "laplace"]), {})
    assert found.unknown == ["boids, swarm (2 cells each)"]


def test_jobs_are_the_batches_of_the_config():
    config = check_config({"run": "test", "cells_per_job": 1, "studies": {"pca": PCA}})
    assert only(config).jobs == 2


def test_the_report_rounds_its_brackets_outwards():
    measured = MEASURED | {cell("udn"): Measured(4.0, 1.5e9)}
    shown = report([only(config_of(mechanisms=["gaussian", "laplace"]), measured)], "reference")
    # 60 and 100 s are 0.016667 and 0.027778 hours.
    assert "0.0194 [0.016, 0.028]" in shown
    assert "No match in the run reference: pca: boids: laplace (1 cell)" in shown


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        ((0.2, 0.2, 0.2), "below 0.01"),
        ((22, 16, 250), "below 0.01 [0, 0.07]"),
        ((4e5, 1.331e5, 5.3e5), "111 [36, 148]"),
        ((4.5e6, 3.5e4, 4.6e6), "1,250 [9.7, 1,278]"),
    ],
)
def test_hours_are_told_without_exponents(seconds, told):
    assert estimate._hours(seconds) == told


@pytest.fixture(scope="module")
def reference():
    return read_config(ROOT / "config/reference.yaml")


def test_the_reference_run_is_estimated_by_itself(reference, monkeypatch):
    monkeypatch.chdir(ROOT)
    measured = measured_cells("reference", reference)
    found = {each.study: each for each in estimates(reference, measured, reference)}
    assert sum(each.cells for each in found.values()) == len(cells_of(reference))
    assert all(each.matched == each.cells for each in found.values())
    assert not any(each.differing or each.unmatched for each in found.values())
    # By hand: 53507 s, the sum of cpu_seconds of the cells of dpsgd.timings.parquet where every
    # trial has them, and of epoch_seconds of the others.
    assert found["dpsgd"].seconds[0] / HOUR == pytest.approx(14.863, rel=2e-3)
    assert found["guarantee"].seconds is None


def test_cells_that_the_runner_did_not_time_keep_the_seconds_of_their_study(tmp_path, monkeypatch):
    """A run may be put together from cells of different versions."""
    config = config_of(trials=1)
    table = pd.DataFrame(
        [
            ("gaussian", CPU_SECONDS, 8.0),
            ("gaussian", "release_seconds", 3.0),
            ("gaussian", PEAK_MEMORY, 1e9),
            ("mvg", "release_seconds", 5.0),
            ("mvg", PEAK_MEMORY, 2e9),
            # Two of its points, of which one was measured by a later version.
            ("idn", CPU_SECONDS, 4.0),
            ("idn", "release_seconds", 6.0),
            ("idn", PEAK_MEMORY, 2e9),
            ("idn", PEAK_MEMORY, 3e9),
        ],
        columns=["mechanism", "metric", "value"],
    ).assign(study="pca", dataset="boids", calibration="published")
    table = table.assign(shape="3x3", epsilon=1.0, delta=1e-7)
    monkeypatch.setattr(estimate, "read_frame", lambda path: table)
    found = estimate._measured(tmp_path / "pca.timings.parquet", config)
    assert found == {
        cell("gaussian"): Measured(8.0, 1e9, whole=True),
        cell("mvg"): Measured(5.0, 2e9, whole=False),
        cell("idn"): Measured(6.0, 3e9, whole=False),
    }


def test_the_command_line(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert main(["estimate", "config/tiny.yaml"]) == 0
    shown = capsys.readouterr().out
    assert "count_query" in shown and "\ntotal" in shown
    assert main(["estimate", "config/tyni.yaml"]) == 2
    assert "cannot read config/tyni.yaml" in capsys.readouterr().err


def test_a_study_is_named_for_one_reason_only():
    """Without a time on its data set, it is not named among those without any time."""
    shown = report([only(config_of(), {})], "reference")
    assert "has not timed" in shown and "Not timed" not in shown
