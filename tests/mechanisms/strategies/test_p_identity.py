"""Searched strategies of unit l1 columns: errors, gradients, descents, and groups of cells."""

import math

import numpy as np
import pytest

from mechanisms.strategies import p_identity
from mechanisms.strategies.cell_groups import bisected, grouped
from mechanisms.strategies.optimal_strategy import optimal_strategy
from mechanisms.strategies.p_identity import PIdentity, error_and_gradient, search
from mechanisms.strategies.workload import (
    AllRange,
    Explicit,
    Kronecker,
    Prefix,
    RandomRanges,
    Width,
)


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
@pytest.mark.parametrize("workload", [Prefix(7), AllRange(7), Width(7, 3), RandomRanges(7, 3)])
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
    workload = RandomRanges(100, 6)
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
