"""Workloads against explicit rows, and their strategies against solvers and certificates."""

import itertools
import math

import numpy as np
import pytest

from mechanisms import Unsupported
from mechanisms.strategies import optimal_strategy as strategies
from mechanisms.strategies import p_identity
from mechanisms.strategies.cell_groups import bisected, grouped
from mechanisms.strategies.optimal_strategy import (
    SDP_TOLERANCE,
    SINGULAR_TOLERANCE,
    TOLERANCE,
    optimal_strategy,
    sdp_strategy,
)
from mechanisms.strategies.p_identity import PIdentity, error_and_gradient, search
from mechanisms.strategies.workload import (
    AllRange,
    Average,
    Explicit,
    Identity,
    Kronecker,
    Prefix,
    Total,
)
from tests.mechanisms.range_workloads import random_ranges, windows
from tests.peak_memory import peak_of

EXAMPLES = [
    *(kind(n) for kind in (Identity, Total, Average, Prefix, AllRange) for n in (1, 2, 7)),
    Explicit([[1, 0, -2.5], [0, 3, 1]]),
    Kronecker((Prefix(3), AllRange(4))),
    Kronecker((AllRange(3), Total(2), Identity(2))),
]


@pytest.mark.parametrize("workload", EXAMPLES, ids=lambda workload: type(workload).__name__)
def test_gram_equals_that_of_the_rows(workload):
    rows = workload.matrix()
    assert rows.shape == (workload.queries, workload.cells)
    gram = rows.T @ rows
    assert np.allclose(workload.gram(), gram, rtol=1e-14, atol=0)
    assert workload.trace() == pytest.approx(np.trace(gram), rel=1e-14)
    x = np.random.default_rng(0).standard_normal((3, 2, workload.cells))
    assert np.allclose(workload.gram_times(x), x @ gram, rtol=1e-12, atol=1e-11)


def test_large_workloads_need_no_matrix():
    n = 10**6
    x = np.ones(n)
    assert Prefix(n).trace() == n * (n + 1) / 2
    # A sum of k ones is k; each length occurs once, or n + 1 - k times.
    assert x @ Prefix(n).gram_times(x) == pytest.approx(n * (n + 1) * (2 * n + 1) / 6, rel=1e-12)
    lengths = np.arange(1.0, n + 1)
    energy = np.sum(lengths**2 * (n + 1 - lengths))
    assert x @ AllRange(n).gram_times(x) == pytest.approx(energy, rel=1e-9)


def test_rows_are_the_stated_queries():
    x = np.array([3.0, -1.0, 4.0, 1.5])
    assert np.array_equal(Prefix(4).matrix() @ x, np.cumsum(x))
    assert Average(4).matrix() @ x == pytest.approx(x.mean())
    expected = {x[i : j + 1].sum() for i in range(4) for j in range(i, 4)}
    assert set(AllRange(4).matrix() @ x) == expected


def test_kronecker_asks_for_rectangles_of_the_flattened_table():
    table = np.arange(12.0).reshape(3, 4) ** 2
    answers = Kronecker((Prefix(3), Prefix(4))).matrix() @ table.ravel()
    assert np.allclose(answers.reshape(3, 4), table.cumsum(axis=0).cumsum(axis=1))


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (lambda: Prefix(0), ValueError, "at least 1, got 0"),
        (lambda: Prefix(2.0), TypeError, "integer, got 2.0"),
        (lambda: Explicit([[]]), ValueError, "non-empty"),
        (lambda: Explicit([1, 2, 3]), ValueError, r"got shape \(3,\); one query is one row"),
        (lambda: Explicit([[1, 2], [3]]), ValueError, "equal lengths"),
        (lambda: Explicit([[1, np.nan]]), ValueError, r"nan at index \(0, 1\)"),
        (lambda: Explicit([[1, np.inf]]), ValueError, "inf"),
        (lambda: Explicit([[0, 0]]), ValueError, "nonzero element"),
        (lambda: Explicit([["a", "b"]]), TypeError, "real numbers"),
        (lambda: Kronecker(()), TypeError, "one Workload per axis"),
        (lambda: Kronecker((Prefix(2), 3)), TypeError, "one Workload per axis"),
    ],
)
def test_bad_workloads(build, error, words):
    with pytest.raises(error, match=words):
        build()


SINGULAR = [
    Total(12),
    windows(16, 4),
    windows(64, 8),
    random_ranges(64, 32),
    random_ranges(40, 3, 1),
]


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
        *(
            (each, None, TOLERANCE)
            for each in (Prefix(256), AllRange(256), random_ranges(128, 600))
        ),
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


@pytest.mark.parametrize(("rows", "cells"), [(0, 4), (1, 5), (3, 8)])
def test_a_strategy_agrees_with_its_matrix(rows, cells):
    theta = np.random.default_rng(0).exponential(size=(rows, cells))
    strategy = PIdentity(theta=theta, error=math.nan, lower_bound=math.nan)
    matrix = strategy.matrix()
    assert matrix.shape == (strategy.measurements, strategy.cells)
    assert np.abs(matrix).sum(axis=0) == pytest.approx(np.ones(cells), rel=1e-14)
    inverse = np.linalg.inv(matrix.T @ matrix)
    assert np.allclose(strategy.inverse_gram(), inverse, rtol=1e-10, atol=1e-12)
    measured = np.random.default_rng(1).standard_normal((2, 3, strategy.measurements))
    expected = measured @ np.linalg.pinv(matrix).T
    assert np.allclose(strategy.estimate(measured), expected, rtol=1e-10, atol=1e-12)
    assert strategy.estimate(measured.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("labels", [range(7), (0, 1, 0, 2, 2, 2, 1)], ids=["cells", "groups"])
@pytest.mark.parametrize("workload", [Prefix(7), AllRange(7), windows(7, 3), random_ranges(7, 3)])
def test_error_and_gradient(workload, labels):
    """Compared with the matrix of the strategy, and with finite differences."""
    gram, labels = workload.gram(), np.array(labels)

    def error(theta):
        theta = theta[:, labels]
        matrix = np.concatenate([np.eye(7), theta]) / (1 + theta.sum(axis=0))
        return np.trace(gram @ np.linalg.inv(matrix.T @ matrix))

    groups = labels.max() + 1
    theta = np.random.default_rng(2).random((2, groups))
    value, gradient = error_and_gradient(theta, grouped(gram, labels))
    assert value == pytest.approx(error(theta), rel=1e-12)
    step = 1e-5
    for place in np.ndindex(theta.shape):
        moved = np.zeros_like(theta)
        moved[place] = step
        slope = (error(theta + moved) - error(theta - moved)) / (2 * step)
        assert gradient[place] == pytest.approx(slope, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("kind", [Prefix, AllRange])
@pytest.mark.parametrize("cells", [1, 2, 5, 16, 64])
def test_never_worse_than_the_identity_nor_better_than_possible(kind, cells):
    gram = kind(cells).gram()
    strategy = search(gram)
    error = np.trace(gram @ strategy.inverse_gram())
    assert strategy.error == pytest.approx(error, rel=1e-9)
    assert strategy.error <= np.trace(gram) * (1 + 1e-12)
    # Unit l1 columns have l2 norms of at most 1, whose least error is known.
    assert strategy.lower_bound <= optimal_strategy(gram).error * (1 + 1e-9)
    assert optimal_strategy(gram).lower_bound <= strategy.error * (1 + 1e-12)


@pytest.mark.parametrize("queries", [1, 2, 5, 10, 15])
@pytest.mark.parametrize("cells", [24, 36, 64])
def test_errors_of_fewer_queries_than_cells(cells, queries):
    """If only sums of cells are asked for, no best strategy may exist; errors must still be right.

    The errors of W A^+ and of the release are computed without differences of large numbers.
    """
    rng = np.random.default_rng([cells, queries])
    first, last = np.sort(rng.integers(0, cells, (2, queries)), axis=0)[..., None]
    rows = (np.arange(cells) >= first) & (np.arange(cells) <= last)
    workload = Explicit(rows.astype(float))
    found = search(workload.gram())
    matrix = found.matrix()
    dense = np.sum(np.square(rows @ np.linalg.pinv(matrix, rcond=1e-14)))
    assert found.error == pytest.approx(dense, rel=1e-6)
    assert np.sum(workload.gram() * found.inverse_gram()) == pytest.approx(dense, rel=1e-6)
    assert found.lower_bound * (1 - 1e-9) <= found.error
    estimate = found.estimate(np.eye(found.measurements))
    assert np.sum(np.square(rows @ estimate.T)) == pytest.approx(dense, rel=1e-6)


@pytest.mark.parametrize("kind", [Prefix, AllRange])
def test_the_order_of_the_cells_does_not_matter(kind):
    gram, order = kind(40).gram(), np.random.default_rng(4).permutation(40)
    permuted = search(gram[np.ix_(order, order)])
    assert permuted.error == pytest.approx(search(gram).error, rel=1e-3)


def test_cells_that_no_query_distinguishes_get_equal_weights():
    workload = random_ranges(100, 6)
    same = np.all(np.diff(workload.matrix(), axis=1) == 0, axis=0)
    assert 85 < same.sum() < 99
    theta = search(workload.gram()).theta
    assert np.all(np.diff(theta, axis=1)[:, same] == 0)
    assert np.any(np.diff(theta, axis=1)[:, ~same] != 0)


@pytest.mark.parametrize("factors", [(Prefix(40),), (AllRange(40),), (Prefix(6), Prefix(7))])
def test_one_descent_is_nearly_as_good_as_many(factors, monkeypatch):
    """Above half of the largest number of cells the search makes only one descent."""
    gram = Kronecker(factors).gram()
    many = search(gram).error
    monkeypatch.setattr(p_identity, "LARGEST_SIZE", len(gram))
    assert many <= search(gram).error <= 1.04 * many


@pytest.mark.parametrize("kind", [Prefix, AllRange])
def test_a_line_is_cut_into_intervals_whatever_the_order_of_its_cells(kind):
    order = np.random.default_rng(0).permutation(50)
    levels = bisected(kind(50).gram()[np.ix_(order, order)], 9)
    assert [labels.max() + 1 for labels in levels] == [2, 4, 8, 16]
    for labels in levels:
        line = np.empty(50, dtype=int)
        line[order] = labels
        assert np.count_nonzero(np.diff(line)) == labels.max()
        sizes = np.bincount(labels)
        assert sizes.max() - sizes.min() <= 1
