"""The covariance, sensitivity, privacy, errors and refusals of the matrix mechanism."""

import itertools
import math
import time

import numpy as np
import pytest
import scipy
from histograms import workload_error
from queries import counts

from mechanisms import (
    Budget,
    Query,
    Unsupported,
    get_mechanism,
)
from mechanisms.catalogue.gaussian import classic_multiplier
from mechanisms.noise.strategy_gaussian import StrategyGaussian, sensitivity_bounds
from mechanisms.strategies.optimal_strategy import optimal_strategy
from mechanisms.strategies.workload import (
    AllRange,
    Kronecker,
    Prefix,
    Width,
)
from mechanisms.verification.verification import HOLDS, LOOSE, verify

BUDGET = Budget(epsilon=0.5, delta=1e-5)


def ball(*shape):
    return Query(shape=shape, l2_sensitivity=1.0)


def calibrated(query, key="matrix-mechanism", calibration="published", **options):
    return get_mechanism(key).calibrate(query, BUDGET, calibration, **options)


def covariance(noise):
    """sigma^2 X^-1, by brute force."""
    gram = np.ones((1, 1))
    for strategy in noise.strategies:
        gram = np.kron(gram, strategy.gram)
    return noise.sigma**2 * np.linalg.inv(gram)


@pytest.mark.parametrize(
    ("shape", "workload"),
    [
        ((6,), "prefix"),
        ((2, 3), "all-range"),
        ((2, 3), ["identity", "prefix"]),
        ((2, 1, 2), "prefix"),
    ],
)
def test_draws_have_the_covariance(shape, workload):
    mechanism = calibrated(counts(*shape), workload=workload)
    draws = mechanism.sample(np.random.default_rng(1), 200_000)
    assert draws.shape == (200_000, *shape)
    flat = draws.reshape(len(draws), -1)
    expected = covariance(mechanism.noise)
    # A sample covariance has standard error sqrt((C_ii C_jj + C_ij^2) / trials).
    variances = np.diag(expected)
    error = np.sqrt((np.outer(variances, variances) + expected**2) / len(draws))
    assert np.all(np.abs(flat.T @ flat / len(draws) - expected) < 4.5 * error)


def test_cumulants_of_the_loss_follow_from_the_covariance():
    mechanism = calibrated(counts(3, 4), workload="all-range")
    eigenvalues = np.linalg.eigvalsh(covariance(mechanism.noise))
    expected = [2 ** (k - 1) * math.factorial(k - 1) * np.sum(eigenvalues**k) for k in (1, 2, 3, 4)]
    assert mechanism.loss().cumulants == pytest.approx(expected, rel=1e-10)
    losses = mechanism.noise.squared_norms(np.random.default_rng(2), 20_000)
    assert losses.mean() == pytest.approx(mechanism.expected_loss(), abs=3 * losses.std() / 141)
    named = mechanism.parameters()
    assert next(iter(named)) == "sigma"
    assert named["sigma_max"] == pytest.approx(math.sqrt(eigenvalues[-1]), rel=1e-10)
    assert named["sigma_min"] == pytest.approx(math.sqrt(eigenvalues[0]), rel=1e-10)


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
def test_claims_are_true_and_the_exact_calibration_is_tight(query):
    published = calibrated(query, workload="all-range")
    sensitivity = sensitivity_bounds(query, published.noise.strategies).upper
    expected = sensitivity * classic_multiplier(BUDGET)
    assert published.parameters()["sigma"] == pytest.approx(expected, rel=1e-14)
    assert verify(published).verdict == LOOSE
    exact = calibrated(query, calibration="exact", workload="all-range")
    assert verify(exact).verdict == HOLDS
    assert exact.profile().delta(BUDGET.epsilon).value == pytest.approx(BUDGET.delta, rel=1e-9)
    assert workload_error(exact) < workload_error(published)


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
    width = calibrated(counts(9), workload=Width(9, 3)).noise
    assert width.workload_variance((Width(9, 3),)) == pytest.approx(
        width.sigma**2 * optimal_strategy(Width(9, 3).gram()).error, rel=1e-9
    )


def test_total_is_answered_as_well_as_by_itself():
    """The noise on x is large in directions that cancel in the total."""
    mechanism = calibrated(counts(10), workload="total")
    assert workload_error(mechanism) == pytest.approx(mechanism.noise.sigma**2, rel=2e-6)
    totals = mechanism.sample(np.random.default_rng(0), 20_000).sum(axis=1)
    assert totals.var() == pytest.approx(mechanism.noise.sigma**2, rel=0.05)
    assert mechanism.parameters()["sigma_max"] == pytest.approx(1000 * mechanism.noise.sigma)


def test_the_default_is_the_classic_gaussian_at_any_size(uber, uber_budget):
    start = time.process_time()
    for query in (uber, Query(shape=(1000, 1000), l2_sensitivity=1.0)):
        ours, gaussian = (
            get_mechanism(key).calibrate(query, uber_budget)
            for key in ("matrix-mechanism", "gaussian")
        )
        assert ours.expected_loss() == gaussian.expected_loss()
        assert workload_error(ours) == ours.expected_loss()
        assert ours.profile().mu == gaussian.profile().mu
        assert ours.optimality_gap() == 0
    assert time.process_time() - start < 1


def test_the_count_query_with_rectangles(uber_budget):
    """89 x 89 cells need two strategies over 89 cells, not one over 7921."""
    mechanism = get_mechanism("matrix-mechanism").calibrate(
        counts(89, 89, adjacency="replace"), uber_budget, workload="all-range"
    )
    axis = optimal_strategy(AllRange(89).gram())
    assert workload_error(mechanism) == pytest.approx(
        (mechanism.noise.sigma * axis.error) ** 2, rel=1e-9
    )
    assert mechanism.sample(np.random.default_rng(0), 2).shape == (2, 89, 89)


@pytest.mark.parametrize(
    ("key", "cells", "reason"),
    [
        ("matrix-mechanism", 1_000_000, "at most 2048 cells .* got 1000000"),
        ("matrix-mechanism-cvxpy", 128, "at most 64 cells .* got 128: use"),
    ],
)
def test_too_many_cells_are_refused_at_once(key, cells, reason):
    start = time.process_time()
    with pytest.raises(Unsupported, match=reason):
        calibrated(counts(cells), key, workload="prefix")
    assert time.process_time() - start < 0.5
