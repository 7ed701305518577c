"""Figures 4 and 5 and the verdicts on the count query, on made-up results that decide them."""

import re

import numpy as np
import pytest

from paper_figures.drawings import DrawingError
from paper_figures.ledger import CONTRADICTED, NOT_REPRODUCED, NOT_RUN, REPRODUCED, CannotJudge
from paper_figures.r1smg2024.count_query import accuracy_loss, figure_5, loss_shape
from paper_figures.r1smg2024.count_query_maps import count_order, figure_4, largest_counts
from paper_figures.results import Results

TRIALS = 30


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
    claim = make_claim(0.1, stated=27, above={"gaussian": 55})
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
    claim = make_claim(others=["gaussian"])

    def verdict(ours, theirs):
        results = make_results(shape_rows({"r1smg": ours, "gaussian": theirs}))
        return loss_shape(claim, results).verdict

    assert verdict(skewed, bell) == REPRODUCED
    assert verdict(bell, skewed) == CONTRADICTED
    assert verdict(rng.standard_normal(200), bell) == NOT_REPRODUCED
    # Less skewed than R1SMG, but not bell-shaped.
    assert verdict(rng.chisquare(1, 200) ** 3, skewed) == NOT_REPRODUCED


def map_rows(mechanism, largest, epsilon=0.5):
    """A released map of 2 x 3 cells."""
    cell = {"metric": "released_count", "mechanism": mechanism, "epsilon": epsilon, "trial": 0}
    values = np.linspace(0, largest, 6).reshape(2, 3)
    return [
        cell | {"row": row, "column": column, "value": value}
        for (row, column), value in np.ndenumerate(values)
    ]


def test_figure_4_prints_the_mean_that_the_claim_judges(make_rows, make_claim):
    facts = {"nonprivate_largest_count": 27, "pickups": 500, "valid_cells": 6}
    rows = [{"mechanism": "non-private", "metric": m, "value": v} for m, v in facts.items()]
    for mechanism, largest in {"non-private": (27, 27), "gaussian": (50, 90)}.items():
        counts = {"mechanism": mechanism, "metric": "largest_count"}
        rows += [counts | {"trial": t, "value": float(v)} for t, v in enumerate(largest)]
    # Another epsilon than the paper's, which neither may read.
    other = {"mechanism": "gaussian", "metric": "largest_count", "epsilon": 2.0}
    rows += [other | {"trial": trial, "value": 1e6} for trial in range(2)]
    maps = map_rows("non-private", 27) + map_rows("gaussian", 50) + map_rows("gaussian", 9, 2.0)
    results = Results(make_rows(*rows), maps=make_rows(*maps))
    drawn = figure_4(results)
    printed = drawn.data[drawn.data["quantity"] == "mean largest count"].iloc[0]
    assert printed["gaussian (published)"] == 70
    assert "mean largest count 70" in {axis.get_xlabel() for axis in drawn.figure.axes}
    claim = make_claim(0.1, stated=27, above={"gaussian": 60})
    found = largest_counts(claim, results)
    assert "gaussian 70" in found.ours
    assert (found.verdict, found.trials) == (REPRODUCED, 2)
    cells = drawn.data[drawn.data["quantity"] == "released count"]
    assert cells["gaussian (published)"].tolist() == np.linspace(0, 50, 6).tolist()
    assert cells[["row", "column"]].to_numpy(int).tolist() == [list(at) for at in np.ndindex(2, 3)]


def test_figure_4_without_maps_at_the_paper_s_epsilons_says_what_to_set(make_rows):
    maps = map_rows("non-private", 27, 2.0) + map_rows("gaussian", 27, 2.0)
    with pytest.raises(DrawingError, match=r"set count_query\.map_epsilons"):
        figure_4(Results(make_rows({}), maps=make_rows(*maps)))


def test_figure_5_draws_the_paper_s_epsilons_alone(make_results):
    rows = [
        row | {"epsilon": epsilon}
        for epsilon in (1e-5, 0.5)
        for row in count_rows({"r1smg": 5, "gaussian": 7}, "loss")
    ]
    drawn = figure_5(make_results(rows))
    pairs = drawn.data[["mechanism", "epsilon"]].drop_duplicates()
    assert sorted(map(tuple, pairs.to_numpy())) == [("gaussian", 0.5), ("r1smg", 1e-5)]
    assert "epsilon 0.5 (R1SMG: 1e-05), delta 1e-07" in drawn.caption
