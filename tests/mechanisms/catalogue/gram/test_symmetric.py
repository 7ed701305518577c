"""MOD-SULQ and Analyze Gauss against the papers' formulas, and their noise."""

import math

import numpy as np
import pytest
from gram_queries import BUDGET, calibrated
from queries import gram

from mechanisms import (
    Unsupported,
)
from mechanisms.verification.verification import HOLDS, verify


@pytest.mark.parametrize(("size", "records"), [(3, 50), (40, 2000)])
def test_beta_of_mod_sulq(size, records):
    """The paper's formula in its own units: n records of the unit ball, A = (1/n) sum x x^T."""
    epsilon, delta = BUDGET.epsilon, BUDGET.delta
    beta = (size + 1) / (records * epsilon) * math.sqrt(
        2 * math.log((size**2 + size) / (delta * 2 * math.sqrt(2 * math.pi)))
    ) + 1 / (records * math.sqrt(epsilon))
    mechanism = calibrated("mod-sulq", gram(size, bound=1 / math.sqrt(records)))
    assert mechanism.parameters() == {"sigma": pytest.approx(beta, rel=1e-14)}


@pytest.mark.parametrize(("adjacency", "factor"), [("add-remove", 1.0), ("replace", math.sqrt(2))])
def test_sigma_of_analyze_gauss(adjacency, factor):
    mechanism = calibrated("analyze-gauss", gram(4, bound=3.0, adjacency=adjacency))
    expected = factor * 9 * math.sqrt(2 * math.log(1.25e6)) / 0.8
    assert mechanism.parameters() == {"sigma": pytest.approx(expected, rel=1e-14)}


def records_of_the_ball(rng, count, size, bound):
    """Points of the ball, among them the origin, the axes and others on the sphere."""
    points = rng.standard_normal((count, size))
    points *= (bound * rng.random(count) ** 0.3 / np.linalg.norm(points, axis=1))[:, None]
    points[0] = 0
    points[1 : 1 + size] = bound * np.eye(size)
    points[1 + size : 4 + size] *= (
        bound / np.linalg.norm(points[1 + size : 4 + size], axis=1)[:, None]
    )
    return points


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize("size", [1, 2, 4])
def test_no_pair_of_records_is_worse_than_the_profile_says(adjacency, size):
    """Compares upper triangles, because symmetric noise hides nothing else."""
    bound = 1.7
    mechanism = calibrated("analyze-gauss", gram(size, bound=bound, adjacency=adjacency))
    rng = np.random.default_rng(2)
    x = records_of_the_ball(rng, 60, size, bound)
    change = x[:, :, None] * x[:, None]
    if adjacency == "replace":
        change = change[:, None] - change
    rows, columns = np.triu_indices(size)
    largest = np.linalg.norm(change[..., rows, columns], axis=-1).max()
    mu = mechanism.profile().mu
    assert largest / mechanism.noise.sigma == pytest.approx(mu, rel=1e-12)


def test_a_box_that_no_diagonal_change_fits_into_leaves_slack():
    query = gram(4, bound=2.0, l2_sensitivity=4.0, linf_sensitivity=1.0)
    mechanism = calibrated("mod-sulq", query)
    assert "excludes the worst pair of records" in mechanism.profile().slack
    # Records along the axes fit if they are half as long, which gives a quarter of sqrt(2) B^2.
    bounds = mechanism.profile()
    attained = mechanism.query.gram_change / 4 / mechanism.noise.sigma
    assert bounds.below.mu == pytest.approx(attained, rel=1e-12)
    assert bounds.below.mu < bounds.above.mu
    assert verify(mechanism).verdict == HOLDS
    with pytest.raises(Unsupported, match="no exact calibration"):
        calibrated("mod-sulq", query, calibration="exact")
    free = gram(4, bound=2.0, l2_sensitivity=8.0, linf_sensitivity=4.0)
    assert calibrated("mod-sulq", free).profile().slack is None


@pytest.mark.parametrize("key", ["mod-sulq", "analyze-gauss"])
def test_symmetric_noise_is_mirrored_and_independent(key):
    mechanism = calibrated(key, gram(4))
    draws = mechanism.sample(np.random.default_rng(0), 40_000)
    assert np.array_equal(draws, draws.swapaxes(1, 2))
    rows, columns = np.triu_indices(4)
    upper = draws[:, rows, columns] / mechanism.noise.sigma
    covariance = upper.T @ upper / len(upper)
    error = np.sqrt((1 + np.eye(10)) / len(upper))
    assert np.all(np.abs(covariance - np.eye(10)) < 4.5 * error)
    assert np.all(np.abs(upper.mean(axis=0)) < 4.5 / math.sqrt(len(upper)))


# Common properties of all mechanisms for Gram matrices.


KEYS = ["mod-sulq", "analyze-gauss", "wishart", "ppca"]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_the_typed_l2_sensitivity_is_not_used(key, adjacency):
    typed, less = (
        calibrated(key, gram(3, adjacency=adjacency, **changed))
        for changed in ({}, {"l2_sensitivity": 0.5})
    )
    assert typed.parameters() == less.parameters()
