"""Measurements of mvg2018's experiments on made-up results whose verdict is known."""

import numpy as np
import pytest

from paper_figures.ledger import CONTRADICTED, NOT_REPRODUCED, NOT_RUN, REPRODUCED, CannotJudge
from paper_figures.mvg2018.claims_of_studies import (
    RECORDS,
    SHAPES,
    covariance_directions,
    covariance_order,
    experiment_times,
    first_component_directions,
    first_component_order,
    regression_close,
    regression_directions,
    regression_order,
    regression_without_noise,
)
from paper_figures.mvg2018.treatment_trials import METRICS, best_share, measured, right_directions

TRIALS = 20
ORDERS = {
    "regression": regression_order,
    "first_component": first_component_order,
    "covariance": covariance_order,
}
DIRECTIONS = {
    "regression": regression_directions,
    "first_component": first_component_directions,
    "covariance": covariance_directions,
}


def rows_of(
    experiment, means, *, metric=None, source="official", calibration="published", spread=0.01
):
    """Trials around the mean of each "mechanism" or "mechanism treatment"."""
    rng = np.random.default_rng(1)
    rows = []
    for name, mean in means.items():
        mechanism, _, treatment = name.partition(" ")
        values = mean * (1 + spread * rng.standard_normal(TRIALS))
        rows += [
            {
                "paper": "mvg2018",
                "experiment": experiment,
                "dataset": "made-up",
                "data_source": source,
                "mechanism": mechanism,
                "calibration": calibration,
                "shape": SHAPES[experiment],
                "epsilon": 1.0,
                "delta": 1 / RECORDS[experiment],
                "metric": f"{metric or METRICS[experiment]} {treatment}".strip(),
                "trial": trial,
                "value": value,
            }
            for trial, value in enumerate(values)
        ]
    return rows


def test_treatments_are_read_from_the_metrics(make_rows):
    means = {"mvg iid": 3, "mvg a-b 0.55": 2, "mvg a-b 0.95": 1, "mvg c 0.55": 4, "jl": 5}
    rows = make_rows(
        *rows_of("regression", means), *rows_of("regression", {"jl": 1}, metric="rmse_of_zero")
    )
    trials = measured(rows, "regression")
    assert set(trials["directions"]) == {"iid", "a-b", "c", ""}
    assert set(trials["share"].dropna()) == {0.55, 0.95}
    assert len(trials) == 5 * TRIALS
    assert right_directions(trials) == "a-b"
    best = best_share(trials[trials["directions"] == "a-b"])
    assert set(best["share"]) == {0.95}
    assert len(best) == TRIALS
    assert right_directions(trials[trials["mechanism"] == "jl"]) is None


@pytest.mark.parametrize("experiment", ORDERS)
@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ({"gaussian": 2, "laplace": 3}, REPRODUCED),
        ({"gaussian": 2, "laplace": 1.0001}, NOT_REPRODUCED),
        ({"gaussian": 2, "laplace": 0.5}, CONTRADICTED),
        ({"gaussian": 2}, NOT_RUN),
        ({"gaussian": 0.5}, CONTRADICTED),
    ],
)
def test_order_at_the_best_share(experiment, means, expected, make_claim, make_results):
    # The wrong share and the wrong directions are no part of it.
    mvg = {"mvg right 0.55": 9, "mvg right 0.95": 1, "mvg wrong 0.95": 0.1, "mvg iid": 0.1}
    claim = make_claim(others=["gaussian", "laplace"])
    results = make_results(rows_of(experiment, mvg | means))
    found = ORDERS[experiment](claim, results)
    assert found.verdict == expected
    assert found.trials == TRIALS


def test_exact_numbers_without_a_difference_reproduce_no_order(make_claim, make_results):
    results = make_results(rows_of("regression", {"mvg right 0.55": 1, "jl": 1}, spread=0))
    found = regression_order(make_claim(others=["jl"]), results)
    assert found.verdict == NOT_REPRODUCED
    assert "0 [0, 0]" in found.ours


@pytest.mark.parametrize(("other", "expected"), [(1.4, REPRODUCED), (1.1, CONTRADICTED)])
def test_order_by_a_factor(other, expected, make_claim, make_results):
    claim = make_claim(0.2, others=["laplace"], factor=1.5)
    results = make_results(rows_of("regression", {"mvg right 0.55": 1, "laplace": other}))
    assert regression_order(claim, results).verdict == expected


def test_order_of_other_treatments(make_claim, make_results):
    means = {"mvg right 0.55": 1, "mvg pca 0.55": 3, "gaussian": 2, "gaussian subspace": 0.5}
    results = make_results(rows_of("regression", means))
    for arguments, expected in (
        ({}, REPRODUCED),
        ({"directions": "pca"}, CONTRADICTED),
        ({"subspace": True}, CONTRADICTED),
    ):
        claim = make_claim(others=["gaussian"], **arguments)
        assert regression_order(claim, results).verdict == expected


@pytest.mark.parametrize("experiment", DIRECTIONS)
@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ({"mvg wrong 0.55": 2, "mvg wrong 0.95": 2, "mvg iid": 3}, REPRODUCED),
        # Better at one share, worse over all.
        ({"mvg wrong 0.55": 0.5, "mvg wrong 0.95": 5, "mvg iid": 3}, REPRODUCED),
        ({"mvg wrong 0.55": 2, "mvg wrong 0.95": 2, "mvg iid": 0.5}, CONTRADICTED),
        ({"mvg wrong 0.55": 2, "mvg wrong 0.95": 2, "mvg iid": 1.0001}, NOT_REPRODUCED),
        ({"mvg wrong 0.55": 2, "mvg wrong 0.95": 2}, NOT_RUN),
    ],
)
def test_directions_over_all_shares(experiment, means, expected, make_claim, make_results):
    right = {"mvg right 0.55": 1, "mvg right 0.95": 1}
    results = make_results(rows_of(experiment, right | means))
    claim = make_claim(others=["wrong", "iid"])
    assert DIRECTIONS[experiment](claim, results).verdict == expected


@pytest.mark.parametrize(("ours", "expected"), [(0.0120, REPRODUCED), (0.3, NOT_REPRODUCED)])
def test_regression_without_noise(ours, expected, make_claim, make_results):
    control = {"non-private": ours, "non-private scaling-columns": 0.3}
    rows = rows_of("regression", control, spread=1e-9)
    for metric in ("rmse_of_zero", "rmse_of_mean"):
        rows += rows_of("regression", {"non-private": 0.016}, metric=metric)
    found = regression_without_noise(make_claim(0.2, stated=0.01226), make_results(rows))
    assert found.verdict == expected
    assert "columns 0.3" in found.detail


@pytest.mark.parametrize(
    ("mvg", "zero", "expected"),
    [
        (0.016, 0.02, REPRODUCED),
        (0.016, 0.016, NOT_REPRODUCED),
        (0.03, 0.04, NOT_REPRODUCED),
        (0.016, 0.014, CONTRADICTED),
    ],
)
def test_close_needs_to_beat_zero(mvg, zero, expected, make_claim, make_results):
    rows = rows_of("regression", {"non-private": 0.012, "mvg right 0.55": mvg}, spread=1e-9)
    rows += rows_of("regression", {"non-private": zero}, metric="rmse_of_zero", spread=0)
    found = regression_close(make_claim(0.25, stated=0.004), make_results(rows))
    assert found.verdict == expected


def test_only_official_data_of_the_paper_s_shape_are_judged(make_claim, make_results):
    rows = rows_of("covariance", {"mvg right 0.55": 1, "gaussian": 2}, source="bundled")
    with pytest.raises(CannotJudge, match="bundled data of shape 21x2126"):
        covariance_order(make_claim(others=["gaussian"]), make_results(rows))
    other = [row | {"data_source": "official", "shape": "21x100"} for row in rows]
    with pytest.raises(CannotJudge, match="official data of shape 21x100"):
        covariance_order(make_claim(others=["gaussian"]), make_results(other))
    budget = [row | {"data_source": "official", "epsilon": 2.0} for row in rows]
    with pytest.raises(CannotJudge):
        covariance_order(make_claim(others=["gaussian"]), make_results(budget))


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ({"laplace": 1, "jl": 9}, REPRODUCED),
        ({"laplace": 5, "jl": 9}, CONTRADICTED),
        # The state of the machine can make that much.
        ({"laplace": 3.4, "jl": 9}, NOT_REPRODUCED),
        ({"laplace": 1}, NOT_RUN),
    ],
)
def test_times(means, expected, make_claim, make_results):
    everywhere = ("regression", "first_component", "covariance")
    rows = [
        row for e in everywhere for row in rows_of(e, {"mvg right 0.55": 1, "mvg right 0.95": 1})
    ]
    timings = [
        row
        for experiment in everywhere
        for row in rows_of(
            experiment,
            {"mvg iid": 99, "mvg right 0.55": 3, "mvg right 0.95": 99} | means,
            metric="release_seconds",
        )
    ]
    claim = make_claim(
        0.25,
        faster={key: ["laplace"] for key in everywhere},
        slower={key: ["jl"] for key in everywhere},
    )
    assert experiment_times(claim, make_results(rows, timings)).verdict == expected

    # Releases that a busy machine interrupts do not decide.
    for row in timings[:: TRIALS // 4]:
        if row["mechanism"] in means:
            row["value"] *= 100
    assert experiment_times(claim, make_results(rows, timings)).verdict == expected
