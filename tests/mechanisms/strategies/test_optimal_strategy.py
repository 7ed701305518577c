"""Optimal strategies against reference values, a convex solver and their own certificates."""

import itertools
import math

import numpy as np
import pytest

from mechanisms import Unsupported
from mechanisms.strategies import optimal_strategy as strategies
from mechanisms.strategies.optimal_strategy import (
    SDP_TOLERANCE,
    SINGULAR_TOLERANCE,
    TOLERANCE,
    optimal_strategy,
    sdp_strategy,
)
from mechanisms.strategies.workload import (
    AllRange,
    Explicit,
    Prefix,
    RandomRanges,
    Total,
    Width,
)
from tests.peak_memory import peak_of

SINGULAR = [Total(12), Width(16, 4), Width(64, 8), RandomRanges(64, 32), RandomRanges(40, 3, 1)]


def check_certificate(strategy, gram, tolerance):
    """Check that a strategy is feasible, has the stated error and respects its lower bound."""
    assert np.all(np.diag(strategy.gram) == 1)
    assert np.allclose(strategy.gram, strategy.gram.T, rtol=0, atol=1e-12)
    error = np.trace(gram @ np.linalg.inv(strategy.gram))
    assert strategy.error == pytest.approx(error, rel=1e-9)
    assert strategy.lower_bound <= strategy.error * (1 + 1e-13)
    assert strategy.gap <= tolerance


@pytest.mark.parametrize(
    ("workload", "error", "tolerance"),
    [
        # The references have seven or eight digits; the strategy may be worse by its gap.
        (Prefix(2), (3 + math.sqrt(5)) / 2, TOLERANCE),
        (Prefix(8), 17.866177, TOLERANCE),
        (Prefix(64), 282.20142, TOLERANCE),
        (AllRange(2), 2 + math.sqrt(3), TOLERANCE),
        (AllRange(64), 11024.382, TOLERANCE),
        (AllRange(1024), 6484329, TOLERANCE),
        *((each, None, TOLERANCE) for each in (Prefix(256), AllRange(256), RandomRanges(128, 600))),
        *((each, None, SINGULAR_TOLERANCE) for each in SINGULAR),
    ],
    ids=str,
)
def test_reference_values_and_certified_gaps(workload, error, tolerance):
    strategy = optimal_strategy(workload.gram())
    assert error is None or strategy.error == pytest.approx(error, rel=1e-7)
    check_certificate(strategy, workload.gram(), tolerance)


def test_units_of_the_workload_do_not_matter():
    one, other = (optimal_strategy(unit * Prefix(8).gram()) for unit in (1.0, 1e-200))
    assert np.allclose(one.gram, other.gram, rtol=1e-12, atol=0)
    assert other.error == pytest.approx(1e-200 * one.error, rel=1e-12, abs=0)


def test_cells_that_nobody_asks_for_cost_nothing():
    strategy = optimal_strategy(Explicit([[1, 0, 1], [0, 0, 1]]).gram())
    assert strategy.gram[1].tolist() == [0, 1, 0]
    alone = optimal_strategy(Explicit([[1, 1], [0, 1]]).gram())
    assert strategy.error == alone.error


@pytest.mark.parametrize(
    ("workload", "tolerance", "apart"),
    [
        *(
            (kind(size), SDP_TOLERANCE, 1e-6)
            for kind, size in itertools.product((Prefix, AllRange), (8, 24))
        ),
        *((each, SINGULAR_TOLERANCE, 2 * SINGULAR_TOLERANCE) for each in SINGULAR[:2]),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
def test_a_convex_solver_agrees(workload, tolerance, apart):
    gram = workload.gram()
    oracle = sdp_strategy(gram)
    check_certificate(oracle, gram, tolerance)
    assert optimal_strategy(gram).error == pytest.approx(oracle.error, rel=apart)


def test_memory_is_at_most_ten_times_the_gram_matrix():
    gram = Prefix(300).gram()
    _, peak = peak_of(optimal_strategy, gram)
    assert peak < 9 * gram.nbytes


@pytest.mark.parametrize(
    ("search", "setting", "value", "words"),
    [
        (optimal_strategy, "_ITERATIONS", 3, r"in 3 iterations: the gap reached is \d"),
        (sdp_strategy, "SDP_TOLERANCE", -1.0, r"no optimal strategy with a convex solver: gap \d"),
    ],
)
def test_a_search_that_does_not_converge_is_reported_with_its_gap(
    monkeypatch, search, setting, value, words
):
    monkeypatch.setattr(strategies, setting, value)
    with pytest.raises(Unsupported, match=words):
        search(Prefix(64 if search is optimal_strategy else 8).gram())


@pytest.mark.parametrize("coefficient", [1e200, 1e-200])
def test_squares_of_coefficients_that_leave_the_range_of_floats_are_refused(coefficient):
    with pytest.raises(ValueError, match=r"add up to (inf|0): scale"), np.errstate(over="ignore"):
        optimal_strategy(Explicit([[coefficient]]).gram())
