"""Measurements that read results, on made-up results whose verdict is known."""

import re

import numpy as np
import pytest

from paper_figures.imgm2022.guarantees import tight_guarantee
from paper_figures.ledger import CONTRADICTED, NOT_REPRODUCED, NOT_RUN, REPRODUCED, CannotJudge
from paper_figures.mgm2021.noise_only_claims import run_times
from paper_figures.r1smg2024.count_query_claims import (
    accuracy_loss,
    count_order,
    largest_counts,
    loss_shape,
)
from paper_figures.suite.guarantee import guarantee
from papers.settings import PAPER_SETTINGS

TRIALS = 30


def setting(name):
    return next(found for found in PAPER_SETTINGS if found.name == name)


def guarantee_rows(mechanism, verdicts, **metrics):
    """Rows of the guarantee study at the named settings, with these verdicts."""
    rows = []
    for name, verdict in verdicts.items():
        query, budget = setting(name).query, setting(name).budget
        cell = {
            "experiment": "guarantee",
            "dataset": "papers",
            "data_source": "none",
            "mechanism": mechanism,
            "shape": "x".join(map(str, query.shape)),
            "epsilon": budget.epsilon,
            "delta": budget.delta,
        }
        values = {"true_delta": budget.delta, "claimed_delta": budget.delta}
        values |= {"wasted_variance": 1.0, f"verdict_{verdict}": 1.0} | metrics
        rows += [cell | {"metric": metric, "value": value} for metric, value in values.items()]
    return rows


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (("holds", "loose"), REPRODUCED),
        (("loose", "undecided"), NOT_REPRODUCED),
        (("loose", "refuted"), CONTRADICTED),
        (("undecided", "refuted"), CONTRADICTED),
    ],
)
def test_guarantee_by_the_verdicts_of_the_settings(verdicts, expected, make_claim, make_results):
    names = ("mgm2021-mnist", "mgm2021-adult")
    rows = guarantee_rows("mgm", dict(zip(names, verdicts, strict=True)))
    claim = make_claim(mechanism="mgm", shown="mgm2021-mnist")
    assert guarantee(claim, make_results(rows)).verdict == expected


def test_guarantee_looks_at_the_range_of_the_theorem_only(make_claim, make_results):
    # R1SMG claims epsilon < 1/M: the first setting lies within, the second does not.
    verdicts = {"r1smg2024-count-1e-05": "holds", "r1smg2024-count-0.5": "refuted"}
    claim = make_claim(mechanism="r1smg", shown="r1smg2024-count-1e-05")
    found = guarantee(claim, make_results(guarantee_rows("r1smg", verdicts)))
    assert found.verdict == REPRODUCED
    outside = guarantee_rows("r1smg", {"r1smg2024-count-0.5": "refuted"})
    with pytest.raises(CannotJudge, match="within the range"):
        guarantee(claim, make_results(outside))


def test_guarantee_needs_the_setting_that_it_tells_of(make_claim, make_results):
    rows = guarantee_rows("mgm", {"mgm2021-adult": "holds"})
    with pytest.raises(CannotJudge, match="mgm2021-mnist"):
        guarantee(make_claim(mechanism="mgm", shown="mgm2021-mnist"), make_results(rows))


@pytest.mark.parametrize(
    ("metrics", "verdict", "expected"),
    [
        ({}, "holds", REPRODUCED),
        ({"wasted_variance": 1.001}, "holds", CONTRADICTED),
        ({"true_delta": 0.0}, "loose", CONTRADICTED),
    ],
)
def test_tight_guarantee(metrics, verdict, expected, make_claim, make_results):
    rows = guarantee_rows("imgm", {"mgm2021-mnist": verdict}, **metrics)
    claim = make_claim(1e-6, mechanism="imgm", draws=3)
    assert tight_guarantee(claim, make_results(rows)).verdict == expected


def count_rows(means, metric, *, source="official", calibration="published", spread=0.01):
    """Trials of a metric around the mean of each mechanism."""
    rng = np.random.default_rng(1)
    return [
        {
            "mechanism": mechanism,
            "data_source": source,
            "calibration": calibration,
            "epsilon": 1e-5 if mechanism == "r1smg" else 0.5,
            "trial": trial,
            "metric": metric,
            "value": value,
        }
        for mechanism, mean in means.items()
        for trial, value in enumerate(mean * (1 + spread * rng.standard_normal(TRIALS)))
    ]


def order_results(means, make_results, **kind):
    rows = [
        row
        for calibration in ("published", "exact")
        for row in count_rows(means, "loss_postprocessed", calibration=calibration, **kind)
    ]
    return make_results(rows)


@pytest.fixture
def order_claim(make_claim):
    return make_claim(
        epsilon=0.5,
        r1smg_epsilon=1e-5,
        others=["gaussian", "mvg"],
        comparable=["dawa", "hb"],
        factor=2.0,
        better="dawa",
    )


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ({"gaussian": 5, "mvg": 9}, NOT_RUN),
        ({"gaussian": 5, "mvg": 9, "dawa": 0.8, "hb": 1.2}, REPRODUCED),
        ({"gaussian": 5, "mvg": 9, "dawa": 0.8}, NOT_RUN),
        ({"gaussian": 5, "mvg": 9, "dawa": 0.8, "hb": 2.5}, NOT_REPRODUCED),
        ({"gaussian": 5, "mvg": 9, "dawa": 1.2, "hb": 1.2}, CONTRADICTED),
        ({"gaussian": 0.5, "mvg": 9}, CONTRADICTED),
    ],
)
def test_count_order(means, expected, order_claim, make_results):
    results = order_results({"r1smg": 1} | means, make_results)
    found = count_order(order_claim, results)
    assert found.verdict == expected
    assert found.trials == TRIALS


def test_comparable_is_asked_of_the_whole_interval_of_the_ratio(order_claim, make_results):
    means = {"r1smg": 1, "gaussian": 50, "mvg": 90, "dawa": 0.6, "hb": 1.9}
    found = [
        count_order(order_claim, order_results(means, make_results, spread=spread))
        for spread in (0.01, 0.2)
    ]
    assert [each.verdict for each in found] == [REPRODUCED, NOT_REPRODUCED]
    assert re.search(r"hb over R1SMG's: 1\.\d+ \[1\.\d+, 1\.\d+\], reproduced", found[0].detail)


def test_count_order_that_the_trials_do_not_decide(order_claim, make_results):
    means = {"r1smg": 1, "gaussian": 1.0001, "mvg": 9, "dawa": 0.8, "hb": 1.2}
    assert count_order(order_claim, order_results(means, make_results)).verdict == NOT_REPRODUCED


def test_a_simulated_city_is_never_judged(order_claim, make_results):
    means = {"r1smg": 1, "gaussian": 5, "mvg": 9, "dawa": 0.8, "hb": 1.2}
    results = order_results(means, make_results, source="simulated")
    for measure in (count_order, largest_counts, accuracy_loss, loss_shape):
        with pytest.raises(CannotJudge, match="simulated data"):
            measure(order_claim, results)


def loss_results(means, make_results):
    rows = count_rows(means, "loss")
    rows += [row | {"metric": "expected_loss", "trial": None} for row in rows if row["trial"] == 0]
    return make_results(rows)


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ({"r1smg": 15000, "gaussian": 50000}, REPRODUCED),
        ({"r1smg": 400000, "gaussian": 50000}, NOT_REPRODUCED),
        ({"r1smg": 15000, "gaussian": 2e6}, NOT_REPRODUCED),
    ],
)
def test_accuracy_loss(means, expected, make_claim, make_results):
    claim = make_claim(
        0.5,
        epsilon=0.5,
        r1smg_epsilon=1e-5,
        others=["gaussian"],
        stated={"r1smg": 15000, "others": 50000},
    )
    assert accuracy_loss(claim, loss_results(means, make_results)).verdict == expected


@pytest.mark.parametrize(
    ("largest", "expected"),
    [
        ((27, 61), REPRODUCED),
        ((27, 600), REPRODUCED),
        ((27, 50), NOT_REPRODUCED),
        ((1294, 61), NOT_REPRODUCED),
    ],
)
def test_largest_counts(largest, expected, make_claim, make_results):
    facts = {"nonprivate_largest_count": largest[0], "pickups": 50_000, "valid_cells": 2_000}
    rows = count_rows({"gaussian": largest[1]}, "largest_count")
    rows += [{"mechanism": "non-private", "metric": m, "value": v} for m, v in facts.items()]
    claim = make_claim(0.1, epsilon=0.5, stated=27, above={"gaussian": 55})
    assert largest_counts(claim, make_results(rows)).verdict == expected


def shape_rows(samples):
    return [
        {
            "mechanism": key,
            "epsilon": 1e-5 if key == "r1smg" else 0.5,
            "trial": trial,
            "value": value,
        }
        for key, values in samples.items()
        for trial, value in enumerate(values)
    ]


def test_loss_shape(make_claim, make_results):
    rng = np.random.default_rng(0)
    skewed, bell = rng.chisquare(1, 200), 100 + rng.standard_normal(200)
    claim = make_claim(epsilon=0.5, r1smg_epsilon=1e-5, others=["gaussian"])

    def verdict(ours, theirs):
        results = make_results(shape_rows({"r1smg": ours, "gaussian": theirs}))
        return loss_shape(claim, results).verdict

    assert verdict(skewed, bell) == REPRODUCED
    assert verdict(bell, skewed) == CONTRADICTED
    assert verdict(rng.standard_normal(200), bell) == NOT_REPRODUCED
    # Less skewed than R1SMG, but not bell-shaped.
    assert verdict(rng.chisquare(1, 200) ** 3, skewed) == NOT_REPRODUCED


def timing_rows(seconds, shape="120x400"):
    return [
        {
            "experiment": "noise_only",
            "dataset": "gradient-shapes",
            "metric": "draw_seconds",
            "shape": shape,
            "mechanism": mechanism,
            "trial": trial,
            "value": value * factor,
        }
        for mechanism, value in seconds.items()
        for trial, factor in enumerate((0.9, 1.0, 1.3))
    ]


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        ({"gaussian": 2.0, "udn": 3.0, "mvg": 600.0}, REPRODUCED),
        ({"gaussian": 2.0, "udn": 3.0, "mvg": 2.0}, NOT_REPRODUCED),
        ({"gaussian": 2.0, "udn": 3.0}, NOT_RUN),
        ({"gaussian": 2.0, "udn": 30.0}, NOT_REPRODUCED),
    ],
)
def test_run_times(seconds, expected, make_claim, make_results):
    claim = make_claim(1.0, shape="120x400", stated={"gaussian": 0.0016, "udn": 0.0025, "mvg": 0.5})
    timings = timing_rows(seconds) + timing_rows(seconds, "105x12")
    assert run_times(claim, make_results([{}], timings)).verdict == expected


def test_run_times_need_the_shape_of_the_paper(make_claim, make_results):
    claim = make_claim(1.0, shape="120x400", stated={"gaussian": 1.0, "udn": 1.5})
    timings = timing_rows({"gaussian": 1.0, "udn": 1.5}, "10x12")
    with pytest.raises(CannotJudge, match="120x400"):
        run_times(claim, make_results([{}], timings))
