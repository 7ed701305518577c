"""K-norm noise: its bodies, its moments and its pure privacy."""

import math

import numpy as np
import pytest
from scipy import stats

from mechanisms import Budget, Query, Unsupported, get_mechanism, verify
from mechanisms.noise.k_norm_noise import CountNorm
from mechanisms.strategies.workload import Prefix

BUDGET = Budget(epsilon=0.5)


def counts(size):
    return Query(
        shape=(size,),
        l2_sensitivity=math.sqrt(size),
        linf_sensitivity=1.0,
        structure="counts",
    )


def cube(size):
    return Query(shape=(size,), l2_sensitivity=math.sqrt(size), linf_sensitivity=1.0)


def calibrated(query):
    return get_mechanism("k-norm").calibrate(query, BUDGET)


def norm_of(query, draws):
    if query.structure == "counts":
        return np.maximum(draws, 0).max(axis=1) + np.maximum(-draws, 0).max(axis=1)
    return np.abs(draws).max(axis=1)


@pytest.mark.parametrize("query", [counts(1), counts(2), counts(7), cube(1), cube(7)])
def test_the_norm_of_the_noise_is_gamma_distributed(query):
    draws = calibrated(query).sample(np.random.default_rng(0), 20_000)
    norms = norm_of(query, draws)
    assert stats.kstest(norms, stats.gamma(query.size, scale=2.0).cdf).pvalue > 1e-3


@pytest.mark.parametrize("query", [counts(2), counts(7), cube(7), counts(300)])
def test_moments_and_prefix_sums_by_sampling(query):
    mechanism = calibrated(query)
    trials = 20_000 if query.size < 100 else 2000
    draws = mechanism.sample(np.random.default_rng(1), trials)
    losses = np.vecdot(draws, draws)
    error = losses.std() / math.sqrt(trials)
    assert losses.mean() == pytest.approx(mechanism.expected_loss(), abs=4 * error)
    assert losses.var() == pytest.approx(mechanism.loss().variance, rel=0.2)
    prefix = Prefix(query.size)
    squares = np.sum((draws @ prefix.matrix().T) ** 2, axis=1)
    error = squares.std() / math.sqrt(trials)
    expected = mechanism.noise.workload_variance((prefix,))
    assert squares.mean() == pytest.approx(expected, abs=4 * error)


def test_points_of_the_body_for_counts_are_uniform():
    noise = CountNorm(shape=(2,), scale=1.0, width=1.0)
    points = noise.points(np.random.default_rng(2), 40_000, np.dtype(float))
    # The body has area 3: two unit squares, and two triangles of area 1/2 between them.
    shares = [
        np.mean((points > 0).all(axis=1)),
        np.mean((points < 0).all(axis=1)),
        np.mean((points[:, 0] > 0) & (points[:, 1] < 0)),
        np.mean((points > 0).all(axis=1) & (points < 0.5).all(axis=1)),
    ]
    assert shares == pytest.approx([1 / 3, 1 / 3, 1 / 6, 1 / 12], abs=0.01)


def test_one_count_has_laplace_noise():
    laplace = get_mechanism("laplace").calibrate(
        Query(shape=(1,), l2_sensitivity=1.0, l1_sensitivity=1.0), BUDGET
    )
    for query in (counts(1), cube(1)):
        assert calibrated(query).loss().cumulants == pytest.approx(laplace.loss().cumulants)


@pytest.mark.parametrize("query", [counts(5), cube(5)])
def test_the_pure_claim_holds_and_is_tight(query):
    mechanism = calibrated(query)
    assert verify(mechanism, samples=5_000).verdict == "holds"
    epsilon = mechanism.profile().epsilon(0.0)
    assert (epsilon.lower, epsilon.upper) == (0.5, 0.5)
    exact = get_mechanism("k-norm").calibrate(query, BUDGET, "exact")
    assert exact.noise.scale == pytest.approx(mechanism.noise.scale)
    # The loss at draws of the noise, for changes on the edge of the body: all elements, or one.
    draws = mechanism.sample(np.random.default_rng(3), 50_000)
    for change in (np.ones(5), np.eye(5)[0]):
        losses = (norm_of(query, draws - change) - norm_of(query, draws)) * 0.5
        assert losses.max() <= 0.5 * (1 + 1e-9)
        assert losses.max() > 0.499


def test_less_noise_for_counts_than_for_a_box_and_than_laplace():
    query = counts(64)
    laplace = get_mechanism("laplace").calibrate(query, BUDGET).expected_loss()
    box = calibrated(cube(64)).expected_loss()
    assert calibrated(query).expected_loss() < 0.55 * box
    assert box < 0.2 * laplace


def test_what_is_refused():
    with pytest.raises(Unsupported, match="needs linf_sensitivity"):
        calibrated(Query(shape=(2,), l2_sensitivity=1.0))
    few = Query(shape=(9,), l2_sensitivity=2.0, linf_sensitivity=1.0, structure="counts")
    with pytest.raises(Unsupported, match="4 of 9 do"):
        calibrated(few)
    with pytest.raises(Unsupported, match="no exact calibration"):
        get_mechanism("k-norm").calibrate(cube(3), Budget(epsilon=1.0, delta=1e-5), "exact")
