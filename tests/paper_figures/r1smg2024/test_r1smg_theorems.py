"""Verdicts in closed form: bounds that no noise can beat, and numbers known from elsewhere."""

import math

import numpy as np
import pytest
import scipy

from claims.verdicts import CONFIRMED, CONTRADICTED
from mechanisms import Budget, Query, get_mechanism
from paper_figures.r1smg2024 import noise_only
from paper_figures.r1smg2024.pca import symmetric_norm
from paper_figures.r1smg2024.theorems import least_variance, noise_along_one_direction


@pytest.mark.parametrize(("epsilon", "delta"), [(1e-5, 1e-7), (0.1, 1e-6), (1.0, 1e-5), (3.0, 0.1)])
@pytest.mark.parametrize("key", ["gaussian-analytic", "laplace"])
def test_no_private_noise_has_less_than_the_least_variance(key, epsilon, delta):
    budget = Budget(epsilon=epsilon, delta=delta)
    query = Query(shape=(1,), l2_sensitivity=1.0, l1_sensitivity=1.0)
    spent = get_mechanism(key).calibrate(query, budget, "exact").expected_loss()
    assert 0 < least_variance(budget) <= spent


@pytest.mark.parametrize("size", [1, 3, 400])
def test_noise_along_one_direction_needs_no_more_for_more_elements(size):
    budget = Budget(epsilon=0.3, delta=1e-6)
    spent = noise_along_one_direction(size, budget)
    # The privacy of Gaussian noise with this covariance on R^M follows from the distance between
    # two answers in its norm; differences along the direction are in its range.
    direction = np.ones(size) / math.sqrt(size)
    covariance = spent * np.outer(direction, direction)
    distance = math.sqrt(direction @ np.linalg.pinv(covariance, rcond=1e-9) @ direction)
    phi = scipy.stats.norm.cdf
    shift = budget.epsilon / distance
    delta = phi(distance / 2 - shift) - math.exp(budget.epsilon) * phi(-distance / 2 - shift)
    assert delta == pytest.approx(budget.delta, rel=1e-6)
    assert spent == pytest.approx(noise_along_one_direction(2, budget))
    # All private noise needs the least variance of a scalar.
    assert spent >= least_variance(budget)


def test_the_noise_of_a_symmetric_matrix_is_smaller_by_a_root_of_two():
    noise = np.random.default_rng(0).standard_normal((800, 800))
    plain, symmetric = (np.linalg.norm(n, 2) for n in (noise, (noise + noise.T) / 2))
    assert symmetric == pytest.approx(symmetric_norm(1.0, 800), rel=0.02)
    assert symmetric == pytest.approx(plain / math.sqrt(2), rel=0.02)


def test_full_rank_moments_beyond_r1smg_s_would_contradict(monkeypatch):
    gaussian = noise_only.noise_of("gaussian", 100)
    of = noise_only.noise_of
    monkeypatch.setattr(
        noise_only, "noise_of", lambda key, side: gaussian if key == "r1smg" else of(key, side)
    )
    found = noise_only.full_rank_moments(sides=[2, 10], tolerance=1e-6)
    verdicts = [part.verdict for part in found.parts[:3]]
    assert verdicts == [CONFIRMED, CONFIRMED, CONTRADICTED]
