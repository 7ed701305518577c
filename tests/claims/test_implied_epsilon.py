"""The implied epsilon against closed forms and a search over a dense grid."""

import math

import numpy as np
import pytest

from claims.implied_epsilon import Implied, StatedNumber, in_closed_form, on_curve
from claims.intervals import SHOWN, Interval, Mean
from mechanisms import Budget, Query, get_mechanism

EPSILONS = (0.1, 1.0, 3.0, 30.0)


def curve(seed: int) -> dict[float, Mean]:
    rng = np.random.default_rng(seed)
    return {
        epsilon: Mean(mean + 0.03 * rng.standard_normal(4))
        for epsilon, mean in zip(EPSILONS, (0.1, 0.4, 0.6, 0.9), strict=True)
    }


def by_brute_force(heights: list[float], stated: float) -> float:
    grid = np.geomspace(EPSILONS[0], EPSILONS[-1], 200_001)
    found = grid[np.interp(np.log(grid), np.log(EPSILONS), heights) >= stated]
    return found[0] if len(found) else math.inf


@pytest.mark.parametrize("stated", [0.05, 0.3, 0.5, 0.88, 0.99])
def test_a_curve_reaches_a_score_where_a_dense_grid_does(stated):
    for seed in range(5):
        effects = curve(seed)
        found = on_curve(effects, stated)
        ends = [effect.interval(SHOWN) for effect in effects.values()]
        heights = [
            [effect.value for effect in effects.values()],
            [high for _, high in ends],
            [low for low, _ in ends],
        ]
        expected = [by_brute_force(each, stated) for each in heights]
        # A score that the upper end reaches at the first budget may also be reached below it.
        expected[1] *= heights[1][0] < stated
        assert [found.value, *found.interval] == pytest.approx(expected, rel=1e-4)


def test_the_first_crossing_of_a_curve_that_falls_again_counts():
    flat = {0.1: Mean([0.0, 0.0]), 1.0: Mean([1.0, 1.0]), 10.0: Mean([0.0, 0.0])}
    assert on_curve(flat, 0.5).value == pytest.approx(10**-0.5)


def test_between_budgets_that_are_far_apart_the_interval_is_all_that_is_between():
    scores = {0.5: Mean([0.1, 0.12]), 50.0: Mean([0.7, 0.71]), 500.0: Mean([0.9, 0.91])}
    found = on_curve(scores, 0.6)
    assert 0.5 < found.value < 50.0
    assert found.interval == (0.5, 50.0)
    # The upper end reaches it below 50; the lower end reaches it between two close budgets.
    found = on_curve(scores, 0.72)
    assert found.interval.low == 0.5
    assert 50.0 < found.interval.high < 500.0


@pytest.mark.parametrize("stated", [1e-12, 3.0, 1e20])
def test_laplace_noise_has_its_error_at_the_epsilon_of_its_formula(stated):
    # E||noise||^2 = 2 M (s / epsilon)^2.
    query = Query(shape=(7, 3), l2_sensitivity=2.0, l1_sensitivity=2.0)

    def loss(epsilon):
        laplace = get_mechanism("laplace")
        return laplace.calibrate(query, Budget(epsilon=epsilon)).expected_loss()

    assert in_closed_form(loss, stated).value == pytest.approx(2 * math.sqrt(42 / stated), rel=1e-8)


def test_an_error_that_no_epsilon_has_is_not_reached():
    assert str(in_closed_form(lambda epsilon: 1 + 1 / epsilon, 0.5)) == "not reached up to 1e+15"


@pytest.mark.parametrize(
    ("value", "low", "high", "words"),
    [
        (2.0, 1.0, 3.0, "2 [1, 3]"),
        (2.0, 0.0, math.inf, "2 [0.1 or less, above 50]"),
        (2.0, 0.1, math.inf, "2 [0.1, above 50]"),
        (0.1, 0.1, 0.1, "at most 0.1"),
        (0.1, 0.0, 0.6, "0.1 or less [0.1 or less, 0.6]"),
        (math.inf, math.inf, math.inf, "not reached up to 50"),
        (math.inf, 20.0, math.inf, "not reached up to 50, within the interval from 20"),
    ],
)
def test_words(value, low, high, words):
    assert str(Implied(value, Interval(low, high), Interval(0.1, 50.0))) == words


def test_a_stated_number_in_words():
    implied = Implied(2.0, Interval(1.0, 3.0), Interval(0.1, 50.0))
    stated = {
        "claim": "some-claim",
        "where": "Figure 1",
        "mechanism": "Laplace",
        "number": "F1 0.9",
        "epsilon": "below 1",
        "source": "a study",
    }
    for calibrations, words in (
        (("published",), "2 [1, 3] as published"),
        (("exact", "published"), "2 [1, 3] as published and 2 [1, 3] at equal true privacy"),
    ):
        number = StatedNumber(implied=dict.fromkeys(calibrations, implied), **stated)
        assert str(number) == f"Laplace, F1 0.9: {words} (paper: below 1; a study)"
