"""Bounds on probabilities and means: coverage by enumeration, limits, and the grid of values."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from scipy.stats import norm

from mechanisms.check.audit_statistics import (
    betting_interval,
    clopper_pearson,
    hockey_stick,
    spread_on_grid,
    value_grid,
)


@pytest.mark.parametrize("tail", [0.05, 0.001])
@pytest.mark.parametrize("trials", [1, 20, 200])
def test_clopper_pearson_covers_exactly(trials, tail):
    """The error is largest just beyond a bound, where it must equal `tail`."""
    hits = np.arange(trials + 1)
    lower, upper = clopper_pearson(hits, trials, tail)
    just_below, just_above = lower[1:, None] * (1 - 1e-9), upper[:-1, None] * (1 + 1e-9)
    errors_low = (stats.binom.pmf(hits, trials, just_below) * (lower > just_below)).sum(axis=1)
    errors_high = (stats.binom.pmf(hits, trials, just_above) * (upper < just_above)).sum(axis=1)
    assert errors_low == pytest.approx(tail, rel=1e-3)
    assert errors_high == pytest.approx(tail, rel=1e-3)


def test_clopper_pearson_of_no_hit_and_of_only_hits():
    lower, upper = clopper_pearson([0, 1000], 1000, 0.001)
    assert lower[0] == 0 and upper[1] == 1
    assert upper[0] == pytest.approx(1 - 0.001**0.001, rel=1e-12)
    assert lower[1] == pytest.approx(0.001**0.001, rel=1e-12)


@pytest.mark.parametrize("tail", [0.5, 0.01])
@pytest.mark.parametrize("values", [(0.0, 0.05, 1.0), (0.0, 1.0, 1.0), (0.0, 0.4, 0.6)])
def test_betting_interval_covers_exactly(values, tail):
    """Every outcome of 12 samples of a three-valued variable counts with its probability."""
    trials = 12
    counts = np.array(
        [(i, j, trials - i - j) for i, j in itertools.product(range(trials + 1), repeat=2)
         if i + j <= trials]
    )  # fmt: skip
    bounds = [betting_interval(np.array(values), c.astype(float), tail) for c in counts]
    lower, upper = np.array([(b.lower, b.upper) for b in bounds]).T
    worst = 0.0
    for a, b in itertools.product(np.linspace(0, 1, 21), repeat=2):
        if a + b > 1 + 1e-9:
            continue
        p = np.array([a, b, max(0.0, 1 - a - b)])
        mean = p @ values
        pmf = stats.multinomial.pmf(counts, trials, p)
        slack = 1e-9  # of the root
        error_low, error_high = pmf @ (lower > mean + slack), pmf @ (upper < mean - slack)
        assert max(error_low, error_high) <= tail
        worst = max(worst, error_low, error_high)
    assert worst > tail / 20  # the bound is not vacuous


def test_betting_adapts_to_the_variance():
    """For values of 0.05 seen with probability 0.01, it is within 1.5 of the Gaussian limit."""
    trials, tail = 10**6, 1e-4
    bound = betting_interval(np.array([0.0, 0.05]), np.array([0.99, 0.01]) * trials, tail)
    deviation = norm.isf(tail) * 0.05 * math.sqrt(0.01 / trials)
    assert deviation < 5e-4 - bound.lower < 1.5 * deviation
    # The upper bound allows for an unseen value of 1, at a cost near log(1/tail) / trials.
    assert deviation < bound.upper - 5e-4 < 1.5 * deviation - math.log(tail) / trials


def test_betting_at_the_ends():
    assert betting_interval(np.array([0.0]), np.array([50.0]), 0.01).lower == 0
    assert betting_interval(np.array([1.0]), np.array([50.0]), 0.01).upper == 1
    assert betting_interval(np.array([1.0]), np.array([50.0]), 0.01).lower < 0.01 ** (1 / 50)
    one = betting_interval(np.array([0.0, 1.0]), np.array([0.0, 1.0]), 0.01)  # a single sample
    assert one.lower == pytest.approx(0.01) and one.upper == 1


def test_grid_keeps_count_and_mean_and_never_tightens():
    rng = np.random.default_rng(3)
    values = np.concatenate((rng.beta(0.3, 3.0, 500), 10.0 ** -rng.uniform(0, 20, 20), [0, 1, 1]))
    weights = spread_on_grid(values)
    assert weights.sum() == pytest.approx(len(values), rel=1e-13)
    assert weights @ value_grid() == pytest.approx(values.sum(), rel=1e-13)
    exact = betting_interval(values, np.ones(len(values)), 0.01)
    coarse = betting_interval(value_grid(), weights, 0.01)
    assert exact.lower * (1 - 1e-3) < coarse.lower <= exact.lower + 1e-9
    assert exact.upper - 1e-9 <= coarse.upper < exact.upper * (1 + 1e-3)


def test_grid_of_values_below_its_first_step():
    values = np.full(3, 1e-14)
    bound = betting_interval(value_grid(), spread_on_grid(values), 0.01)
    assert bound.lower <= 1e-14 and bound.upper > 0.5


def test_hockey_stick():
    assert hockey_stick(0.5, 0.1, 1.0) == pytest.approx(0.5 - 0.1 * math.e, rel=1e-14)
    assert hockey_stick(0.5, 0.0, 800.0) == 0.5
    assert hockey_stick(0.5, 1e-300, 800.0) == 0.0  # e^800 overflows
    assert hockey_stick(0.0, 0.0, 1.0) == 0.0
