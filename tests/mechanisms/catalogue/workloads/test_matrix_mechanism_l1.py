"""The matrix mechanism with Laplace noise: search, errors, moments, privacy and refusals."""

import itertools
import math
import time

import numpy as np
import pytest
from histograms import histogram, workload_error

from mechanisms import (
    Budget,
    Unsupported,
    get_mechanism,
)
from mechanisms.noise.loss_moments import quadratic_form_cumulants
from mechanisms.strategies import p_identity
from mechanisms.strategies.cell_groups import grouped
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
from mechanisms.verification.verification import HOLDS, verify

BUDGET = Budget(epsilon=0.5)


def calibrated(*shape, key="matrix-mechanism-l1", calibration="published", l1=1.0, **options):
    return get_mechanism(key).calibrate(histogram(*shape, l1=l1), BUDGET, calibration, **options)


def any_strategy(rows, cells, seed=0):
    theta = np.random.default_rng(seed).exponential(size=(rows, cells))
    return PIdentity(theta=theta, error=math.nan, lower_bound=math.nan)


def whole_matrix(noise):
    """The strategy A, by brute force."""
    matrix = np.ones((1, 1))
    for strategy in noise.strategies:
        matrix = np.kron(matrix, strategy.matrix())
    return matrix


@pytest.mark.parametrize(("rows", "cells"), [(0, 4), (1, 5), (3, 8)])
def test_a_strategy_agrees_with_its_matrix(rows, cells):
    strategy = any_strategy(rows, cells)
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


@pytest.mark.parametrize("shape", [(1000, 1000), (7,)])
def test_the_default_is_plain_laplace_noise_at_any_size(shape):
    ours, laplace = calibrated(*shape), calibrated(*shape, key="laplace")
    assert ours.noise == laplace.noise
    assert workload_error(ours) == ours.expected_loss() == laplace.expected_loss()
    assert ours.optimality() == 1
    assert ours.profile().slack is None
    assert calibrated(*shape, calibration="exact").noise == ours.noise


def test_where_the_cells_are_best_nothing_else_is_measured():
    """Tested on all ranges over 16 cells, and on weighted queries of one cell each."""
    assert calibrated(16, workload="all-range").noise == calibrated(16).noise
    weighted = calibrated(3, workload=[[1, 0, 0], [0, 5, 0]])
    assert weighted.noise == calibrated(3).noise
    assert workload_error(weighted) == pytest.approx(26 * 2 / 0.5**2, rel=1e-14)
    assert weighted.optimality() == 1


CASES = [
    ((40,), "prefix"),
    ((10, 8), ["prefix", "identity"]),
    ((12, 2), Explicit(np.tri(24))),
]


@pytest.mark.parametrize(("shape", "workload"), CASES, ids=["prefix", "product", "matrix"])
def test_draws_have_the_covariance(shape, workload):
    mechanism = calibrated(*shape, workload=workload)
    noise = mechanism.noise
    estimator = np.linalg.pinv(whole_matrix(noise))
    assert noise.scale == 1 / 0.5
    expected = 2 * noise.scale**2 * estimator @ estimator.T
    # Var(x_i x_j) = C_ii C_jj + C_ij^2 and a fourth cumulant of at most 3 C_ii C_jj, Laplace's.
    trials = 40_000
    draws = mechanism.sample(np.random.default_rng(1), trials)
    assert draws.shape == (trials, *shape)
    flat = draws.reshape(trials, -1)[:, :60]
    expected = expected[:60, :60]
    variances = np.diag(expected)
    error = np.sqrt((4 * np.outer(variances, variances) + expected**2) / trials)
    assert np.all(np.abs(flat.T @ flat / trials - expected) < 4.5 * error)


def test_cumulants_of_a_kronecker_product_are_those_of_the_whole_form():
    noise = calibrated(10, 11, workload="prefix").noise
    estimators = [s.estimate(np.eye(s.measurements)) for s in noise.strategies]
    whole = np.kron(*(each @ each.T for each in estimators))
    expected = quadratic_form_cumulants(whole) * noise.scale ** np.array([2, 4, 6, 8])
    assert noise.loss().cumulants == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("l1", [1.0, 2.0])
def test_one_record_moves_the_measurements_by_the_sensitivity_at_most(l1):
    """Laplace noise of scale l1 / epsilon is thus epsilon-DP; all pairs of neighbours are tried."""
    mechanism = calibrated(20, l1=l1, workload="prefix")
    matrix = whole_matrix(mechanism.noise)
    cells = np.eye(20)
    moves = cells if l1 == 1 else [a - b for a, b in itertools.permutations(cells, 2)]
    largest = np.abs(np.asarray(moves) @ matrix.T).sum(axis=1).max()
    assert largest <= l1 * (1 + 1e-12)
    assert mechanism.noise.scale == l1 / BUDGET.epsilon


def test_claim_spends_all_of_epsilon_and_delta_is_known_from_above():
    mechanism = calibrated(40, workload="prefix")
    result = verify(mechanism)
    assert result.verdict == HOLDS
    assert result.true_epsilon == pytest.approx([0.5] * 3, rel=1e-9)
    bounds = mechanism.profile().delta(0.1)
    assert bounds.lower == 0 < bounds.value <= bounds.upper
    exact = calibrated(40, calibration="exact", workload="prefix")
    assert exact.noise.scale == pytest.approx(mechanism.noise.scale, rel=1e-12)
    some = Budget(epsilon=0.5, delta=1e-6)
    with pytest.raises(Unsupported, match="may reveal less"):
        get_mechanism("matrix-mechanism-l1").calibrate(
            mechanism.query, some, "exact", workload="prefix"
        )


def test_too_many_cells_are_refused_at_once_but_not_per_axis():
    start = time.process_time()
    with pytest.raises(Unsupported, match=r"at most 1024 cells .* got 2048: use"):
        calibrated(2048, workload="prefix")
    assert time.process_time() - start < 0.5
    assert workload_error(calibrated(40, 60, workload="prefix")) > 0
