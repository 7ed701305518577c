"""Figures 4 and 5 and the verdicts on the count query, on made-up results that decide them."""

import math
from dataclasses import replace

import numpy as np
import pytest

from claims.ledger import CannotJudge
from claims.verdicts import (
    CONFIRMED,
    CONTRADICTED,
    DEPENDS,
    INCONCLUSIVE,
    NOT_RUN,
    PARTLY,
)
from paper_figures.drawings import DrawingError
from paper_figures.r1smg2024.count_query import accuracy_loss, figure_5, loss_shape
from paper_figures.r1smg2024.count_query_errors import METRICS, counts_over_epsilon
from paper_figures.r1smg2024.count_query_maps import figure_4, largest_counts
from paper_figures.r1smg2024.count_query_order import _median_after_masking, count_order
from runs.results import Results

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


# R1SMG's exact mean over 2000 of 7921 cells is 1.
FACTS = {"expected_loss": 7921 / 2000, "valid_cells": 2000}


def order_results(means, make_results, **kind):
    rows = [
        row
        for calibration in ("published", "exact")
        for row in count_rows(
            {"r1smg": 1} | means, "loss_postprocessed", calibration=calibration, **kind
        )
    ]
    exact = {"mechanism": "r1smg", "epsilon": 1e-5, "data_source": kind.get("source", "official")}
    rows += [exact | {"metric": metric, "value": value} for metric, value in FACTS.items()]
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
    ("means", "squared", "rooted", "typical"),
    [
        # In the median R1SMG's error is 0.45.
        ({"gaussian": 5, "mvg": 9, "dawa": 0.8, "hb": 1.2}, CONFIRMED, CONFIRMED, PARTLY),
        ({"gaussian": 5, "mvg": 9, "dawa": 0.4, "hb": 2.5}, PARTLY, CONFIRMED, CONFIRMED),
        ({"gaussian": 5, "mvg": 9, "dawa": 1.2, "hb": 1.2}, PARTLY, PARTLY, PARTLY),
        ({"gaussian": 0.2, "mvg": 0.1, "dawa": 9, "hb": 0.1}, *[CONTRADICTED] * 3),
        # R1SMG may be far better than H_b.
        ({"gaussian": 5, "mvg": 9, "dawa": 0.8, "hb": 90}, CONFIRMED, CONFIRMED, PARTLY),
        ({"gaussian": 5, "mvg": 9}, PARTLY, PARTLY, PARTLY),
    ],
)
def test_count_order(means, squared, rooted, typical, order_claim, make_results):
    found = count_order(order_claim, order_results(means, make_results))
    verdicts = [squared, rooted, typical]
    assert [outcome.verdict for outcome in found.outcomes] == verdicts
    alike = len(set(verdicts)) == 1
    assert found.verdict == (squared if alike else DEPENDS)
    assert found.sizes.trials == TRIALS


@pytest.mark.parametrize("valid", [3, 30])
def test_the_median_of_r1smg_s_masked_loss(valid, make_rows):
    facts = {"expected_loss": 2.0, "valid_cells": valid}
    rows = make_rows(
        *(
            {"mechanism": "r1smg", "shape": "6x6", "metric": metric, "value": float(value)}
            for metric, value in facts.items()
        )
    )
    rng = np.random.default_rng(0)
    direction = rng.standard_normal((100_000, 36))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    noise = math.sqrt(2.0) * rng.standard_normal((100_000, 1)) * direction
    sampled = np.median(np.sum(noise[:, :valid] ** 2, axis=1))
    assert _median_after_masking(rows) == pytest.approx(sampled, rel=0.02)


def test_a_mechanism_that_was_not_run_is_a_part_of_its_own(order_claim, make_results):
    found = count_order(order_claim, order_results({"gaussian": 5, "mvg": 9}, make_results))
    verdicts = [part.verdict for part in found.outcomes[0].parts]
    assert verdicts == [CONFIRMED, CONFIRMED, NOT_RUN, NOT_RUN]


def test_comparable_is_asked_of_the_whole_interval_of_the_ratio(order_claim, make_results):
    means = {"gaussian": 50, "mvg": 90, "dawa": 0.6, "hb": 0.51}
    found = [
        count_order(order_claim, order_results(means, make_results, spread=spread))
        for spread in (0.01, 0.3)
    ]
    hb = [each.outcomes[0].parts[-1].verdict for each in found]
    assert hb == [CONFIRMED, INCONCLUSIVE]


def test_a_simulated_city_is_never_judged(order_claim, make_results):
    means = {"gaussian": 5, "mvg": 9, "dawa": 0.8, "hb": 1.2}
    results = order_results(means, make_results, source="simulated")
    for measure in (count_order, largest_counts, loss_shape):
        with pytest.raises(CannotJudge, match="simulated data"):
            measure(order_claim, results)


def test_accuracy_loss_is_that_of_the_formulas(make_claim):
    found = accuracy_loss(make_claim(0.5), None)
    # 2 ln(1.25/delta) M s^2 / epsilon^2.
    classic = 7921 * 2 * 2 * math.log(1.25e7) / 0.25
    assert f"{classic:.4g} (stated 5e+04)" in found.numbers
    assert {part.verdict for part in found.parts} == {CONTRADICTED}
    assert "1.62 times" in found.detail
    # A share of 1.95 to 3.62% of 7921 cells, and 27 pickups in each.
    assert "Counted in 155 to 286 of the 7921 cells" in found.detail
    assert "at most 7,722 of the 52,692 pickups" in found.detail
    assert "No number of cells" in accuracy_loss(make_claim(0.1), None).detail


@pytest.mark.parametrize(
    ("exact", "boxes", "expected"),
    [
        (27, [26, 400], CONFIRMED),
        (1294, [204, 900], CONTRADICTED),
        # Another box than ours brings the stated number.
        (1294, [29, 900], PARTLY),
    ],
)
def test_largest_counts(exact, boxes, expected, make_claim, make_results):
    control = {"mechanism": "non-private"}
    facts = {"nonprivate_largest_count": exact, "pickups": 50_000, "valid_cells": 2_000}
    rows = count_rows({"gaussian": 61, "non-private": 27}, "largest_count")
    rows += [control | {"metric": m, "value": v} for m, v in facts.items()]
    rows += [control | {"metric": "largest_in_box", "value": float(v)} for v in boxes]
    found = largest_counts(make_claim(0.1), make_results(rows))
    assert found.verdict == expected
    assert f"{min(boxes)} to {max(boxes)}" in found.detail


def test_largest_counts_wait_for_the_scan_of_boxes(make_claim, make_results):
    facts = {"nonprivate_largest_count": 27, "pickups": 50_000, "valid_cells": 2_000}
    rows = [{"mechanism": "non-private", "metric": m, "value": v} for m, v in facts.items()]
    with pytest.raises(CannotJudge, match="largest_in_box"):
        largest_counts(make_claim(0.1), make_results(rows))


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


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ("skewed", "bell", CONFIRMED),
        # The exact shape of Gaussian noise stays bell-shaped.
        ("bell", "skewed", PARTLY),
        ("bell", "bell", PARTLY),
    ],
)
def test_loss_shape(ours, theirs, expected, make_claim, make_results):
    rng = np.random.default_rng(0)
    samples = {"skewed": rng.chisquare(1, 200), "bell": 100 + rng.standard_normal(200)}
    claim = replace(make_claim(others=["gaussian"], bell=0.1), margin=0.1)
    rows = shape_rows({"r1smg": samples[ours], "gaussian": samples[theirs]})
    found = loss_shape(claim, make_results(rows))
    assert found.verdict == expected
    assert (found.parts[0].verdict == CONTRADICTED) == (theirs == "skewed")


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
    facts |= {"largest_in_box": 28}
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
    below = {axis.get_xlabel() for axis in drawn.figure.axes}
    assert "mean largest count 70\n(paper: above 60)" in below
    assert "1 random boxes that contain SoHo and LaGuardia" in drawn.note
    found = largest_counts(make_claim(0.1), results)
    assert "Classic Gaussian 70" in found.detail
    assert (found.verdict, found.sizes.trials) == (CONFIRMED, 2)
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


def test_the_note_on_counts_names_published_curves_that_nobody_can_tell_apart(make_results):
    means = {"imgm": 1.0, "gaussian-analytic": 1.05, "laplace": 1.3}
    rows = [
        row
        for calibration, factor in (("published", 1.0), ("exact", 2.0))
        for metric in METRICS
        for row in count_rows(
            {name: factor * mean for name, mean in means.items()}, metric, calibration=calibration
        )
    ]
    note = counts_over_epsilon(make_results(rows)).note
    assert "within 10% of each other: Analytic Gaussian and IMGM." in note
