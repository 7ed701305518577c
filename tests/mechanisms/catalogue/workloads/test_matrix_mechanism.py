"""The matrix mechanisms: covariance, sensitivity, privacy, errors and refusals."""

import itertools
import math
import time

import numpy as np
import pytest
import scipy
from queries import counts, workload_error

from mechanisms import Budget, Query, Unsupported, get_mechanism
from mechanisms.catalogue.gaussian import classic_multiplier
from mechanisms.noise.loss_moments import quadratic_form_cumulants
from mechanisms.noise.strategy_noise import StrategyGaussian, sensitivity_bounds
from mechanisms.strategies.optimal_strategy import optimal_strategy
from mechanisms.strategies.workload import AllRange, Explicit, Kronecker, Prefix
from mechanisms.verification.verification import HOLDS, verify
from tests.mechanisms.range_workloads import windows

BUDGET, PURE = Budget(epsilon=0.5, delta=1e-5), Budget(epsilon=0.5)
GAUSSIAN, LAPLACE = "matrix-mechanism", "matrix-mechanism-l1"


def ball(*shape):
    return Query(shape=shape, l2_sensitivity=1.0)


def calibrated(query, key=GAUSSIAN, calibration="published", budget=BUDGET, **options):
    return get_mechanism(key).calibrate(query, budget, calibration, **options)


def covariance(noise):
    """sigma^2 X^-1 or 2 b^2 (A^T A)^-1, by brute force."""
    gram = np.ones((1, 1))
    for strategy in noise.strategies:
        if isinstance(noise, StrategyGaussian):
            gram = np.kron(gram, strategy.gram)
        else:
            gram = np.kron(gram, strategy.matrix().T @ strategy.matrix())
    variance = noise.sigma**2 if isinstance(noise, StrategyGaussian) else 2 * noise.scale**2
    return variance * np.linalg.inv(gram)


@pytest.mark.parametrize(
    ("key", "shape", "workload"),
    [
        (GAUSSIAN, (6,), "prefix"),
        (GAUSSIAN, (2, 3), "all-range"),
        (GAUSSIAN, (2, 3), ["identity", "prefix"]),
        (GAUSSIAN, (2, 1, 2), "prefix"),
        (LAPLACE, (40,), "prefix"),
        (LAPLACE, (10, 8), ["prefix", "identity"]),
        (LAPLACE, (12, 2), Explicit(np.tri(24))),
    ],
    ids=lambda value: None if isinstance(value, str) else str(value)[:20],
)
def test_draws_have_the_covariance(key, shape, workload):
    mechanism = calibrated(counts(*shape), key, workload=workload)
    trials = 100_000
    draws = mechanism.sample(np.random.default_rng(1), trials)
    assert draws.shape == (trials, *shape)
    flat = draws.reshape(trials, -1)[:, :60]
    expected = covariance(mechanism.noise)[:60, :60]
    # Var(x_i x_j) = C_ii C_jj + C_ij^2 and a fourth cumulant of at most 3 C_ii C_jj, Laplace's.
    fourth = 1 if key == GAUSSIAN else 4
    variances = np.diag(expected)
    error = np.sqrt((fourth * np.outer(variances, variances) + expected**2) / trials)
    assert np.all(np.abs(flat.T @ flat / trials - expected) < 4.5 * error)


def test_cumulants_of_the_loss_follow_from_the_covariance():
    mechanism = calibrated(counts(3, 4), workload="all-range")
    eigenvalues = np.linalg.eigvalsh(covariance(mechanism.noise))
    expected = [2 ** (k - 1) * math.factorial(k - 1) * np.sum(eigenvalues**k) for k in (1, 2, 3, 4)]
    assert mechanism.loss().cumulants == pytest.approx(expected, rel=1e-10)
    losses = mechanism.noise.squared_norms(np.random.default_rng(2), 20_000)
    assert losses.mean() == pytest.approx(mechanism.expected_loss(), abs=3 * losses.std() / 141)
    named = mechanism.parameters()
    assert next(iter(named)) == "sigma"
    extremes = (named["sigma_min"], named["sigma_max"])
    assert extremes == pytest.approx(np.sqrt(eigenvalues[[0, -1]]), rel=1e-10)


def test_cumulants_of_a_kronecker_product_are_those_of_the_whole_form():
    noise = calibrated(counts(10, 11), LAPLACE, workload="prefix").noise
    estimators = [s.estimate(np.eye(s.measurements)) for s in noise.strategies]
    whole = np.kron(*(each @ each.T for each in estimators))
    expected = quadratic_form_cumulants(whole) * noise.scale ** np.array([2, 4, 6, 8])
    assert noise.loss().cumulants == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("shape", [(5,), (3, 4)])
@pytest.mark.parametrize("count", [1.0, 3.0])
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_mu_is_the_largest_over_all_neighbours_of_a_counts(adjacency, count, shape):
    query = counts(*shape, adjacency=adjacency, record_bound=count)
    mechanism = calibrated(query, workload="prefix")
    precision = np.linalg.inv(covariance(mechanism.noise))
    cells = count * np.eye(query.size)
    moves = cells
    if adjacency == "replace":
        moves = np.array([a - b for a, b in itertools.permutations(cells, 2)])
    largest = math.sqrt(np.einsum("ki,ij,kj->k", moves, precision, moves).max())
    assert mechanism.profile().mu == pytest.approx(largest, rel=1e-10)


def test_which_neighbours_are_meant():
    strategies = (optimal_strategy(Prefix(8).gram()),)
    gram = strategies[0].gram
    whole_ball = math.sqrt(np.linalg.eigvalsh(gram)[-1])
    moved = math.sqrt(2 - 2 * gram.min())
    root = math.sqrt(2)
    replaced = {"shape": (8,), "l2_sensitivity": root, "adjacency": "replace"}
    for query, expected in [
        (counts(8), 1),
        (counts(8, adjacency="replace"), moved),
        (ball(8), whole_ball),
        (Query(**replaced), root * whole_ball),
        # Without structure, two cells may rise together, by at most 2 in the l1 norm.
        (Query(**replaced, l1_sensitivity=2.0), 2.0),
        (Query(**replaced, l1_sensitivity=1.5), 1.5),
        # One cell changes, and nothing else is known.
        (Query(shape=(8,), l2_sensitivity=1.5, l1_sensitivity=1.5), 1.5),
    ]:
        assert sensitivity_bounds(query, strategies).upper == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("query", [counts(16), counts(16, adjacency="replace"), ball(16)])
def test_sigma_is_the_classic_one_for_the_sensitivity_of_the_strategy(query):
    published = calibrated(query, workload="all-range")
    sensitivity = sensitivity_bounds(query, published.noise.strategies).upper
    expected = sensitivity * classic_multiplier(BUDGET)
    assert published.parameters()["sigma"] == pytest.approx(expected, rel=1e-14)
    exact = calibrated(query, calibration="exact", workload="all-range")
    assert workload_error(exact) < workload_error(published)


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_laplace_noise_spends_all_of_epsilon_and_delta_is_known_from_above(adjacency):
    query = counts(40, adjacency=adjacency)
    mechanism = calibrated(query, LAPLACE, budget=PURE, workload="prefix")
    assert mechanism.noise.scale == query.l1_sensitivity / PURE.epsilon
    if adjacency == "add-remove":
        assert verify(mechanism).true_epsilon == pytest.approx([0.5] * 3, rel=1e-9)
        exact = calibrated(query, LAPLACE, "exact", PURE, workload="prefix")
        assert exact.noise.scale == pytest.approx(mechanism.noise.scale, rel=1e-12)
    bounds = mechanism.profile().delta(0.1)
    assert bounds.lower == 0 < bounds.value <= bounds.upper
    with pytest.raises(Unsupported, match="may reveal less"):
        calibrated(query, LAPLACE, "exact", workload="prefix")


def test_a_workload_that_is_singular_but_for_rounding_is_answered():
    """The workload is a Hilbert matrix; another solver finds no better strategy."""
    rows = scipy.linalg.hilbert(10)
    mechanism = calibrated(counts(10), workload=rows)
    expected = np.trace(rows @ covariance(mechanism.noise) @ rows.T)
    assert workload_error(mechanism) == pytest.approx(expected, rel=1e-7)
    other = calibrated(counts(10), "matrix-mechanism-cvxpy", workload=rows)
    assert isinstance(other.noise, StrategyGaussian)
    assert mechanism.optimality_gap() < 1e-5
    assert workload_error(mechanism) == pytest.approx(workload_error(other), rel=1e-5)
    assert verify(calibrated(counts(10), calibration="exact", workload=rows)).verdict == HOLDS


def test_one_workload_stated_in_four_ways():
    query = counts(3, 4)
    product = Kronecker((Prefix(3), Prefix(4)))
    ways = ["prefix", ["prefix", "prefix"], product, product.matrix()]
    errors = [workload_error(calibrated(query, workload=way)) for way in ways]
    assert errors == pytest.approx([errors[0]] * 4, rel=1e-7)


def test_a_workload_with_parameters_is_given_as_an_object():
    width = calibrated(counts(9), workload=windows(9, 3)).noise
    assert width.workload_variance((windows(9, 3),)) == pytest.approx(
        width.sigma**2 * optimal_strategy(windows(9, 3).gram()).error, rel=1e-9
    )


def test_total_is_answered_as_well_as_by_itself():
    """The noise on x is large in directions that cancel in the total."""
    mechanism = calibrated(counts(10), workload="total")
    assert workload_error(mechanism) == pytest.approx(mechanism.noise.sigma**2, rel=2e-6)
    totals = mechanism.sample(np.random.default_rng(0), 20_000).sum(axis=1)
    assert totals.var() == pytest.approx(mechanism.noise.sigma**2, rel=0.05)
    assert mechanism.parameters()["sigma_max"] == pytest.approx(1000 * mechanism.noise.sigma)


@pytest.mark.parametrize(("key", "plain"), [(GAUSSIAN, "gaussian"), (LAPLACE, "laplace")])
def test_the_default_is_plain_noise_at_any_size(key, plain):
    start = time.process_time()
    for query in (counts(7), counts(1000, 1000, adjacency="replace")):
        ours, theirs = (calibrated(query, each) for each in (key, plain))
        assert ours.expected_loss() == theirs.expected_loss() == workload_error(ours)
        assert ours.profile().delta(0.3) == theirs.profile().delta(0.3)
        best = ours.optimality_gap() + 1 if key == GAUSSIAN else ours.optimality()
        assert best == 1
    assert time.process_time() - start < 1


def test_where_the_cells_are_best_nothing_else_is_measured():
    """Tested on all ranges over 16 cells, and on weighted queries of one cell each."""
    ranges = calibrated(counts(16), LAPLACE, workload="all-range")
    assert ranges.noise == calibrated(counts(16), LAPLACE).noise
    weighted = calibrated(counts(3), LAPLACE, workload=[[1, 0, 0], [0, 5, 0]])
    assert weighted.noise == calibrated(counts(3), LAPLACE).noise
    assert workload_error(weighted) == pytest.approx(26 * 2 / 0.5**2, rel=1e-14)
    assert weighted.optimality() == 1


def test_the_axes_of_a_large_query_have_strategies_of_their_own():
    """89 x 89 cells need two strategies over 89 cells, not one over 7921."""
    mechanism = calibrated(counts(89, 89, adjacency="replace"), workload="all-range")
    axis = optimal_strategy(AllRange(89).gram())
    expected = (mechanism.noise.sigma * axis.error) ** 2
    assert workload_error(mechanism) == pytest.approx(expected, rel=1e-9)
    assert mechanism.sample(np.random.default_rng(0), 2).shape == (2, 89, 89)
    assert workload_error(calibrated(counts(40, 60), LAPLACE, workload="prefix")) > 0


@pytest.mark.parametrize(
    ("key", "cells", "reason"),
    [
        (GAUSSIAN, 1_000_000, "at most 2048 cells .* got 1000000"),
        (GAUSSIAN, 4096, "got 4096: .* minutes and 1.25 G"),
        ("matrix-mechanism-cvxpy", 128, "at most 64 cells .* got 128: .* minutes"),
        (LAPLACE, 2048, "at most 1024 cells .* got 2048: .* 80 seconds"),
    ],
)
def test_too_many_cells_are_refused_at_once(key, cells, reason):
    start = time.process_time()
    with pytest.raises(Unsupported, match=reason):
        calibrated(counts(cells), key, workload="prefix")
    assert time.process_time() - start < 0.5
