"""Fisher information and variance against quadrature, and mu of many small shifts."""

import math

import numpy as np
import pytest
from scipy import integrate

from mechanisms import Budget, Query, get_mechanism
from mechanisms.privacy import fisher


def by_quadrature(density, score):
    """(Fisher information, variance) of a symmetric density on the right half line."""

    def mean(function):
        return 2 * integrate.quad(lambda x: function(x) * density(x), 0, np.inf, limit=300)[0]

    return mean(lambda x: score(x) ** 2) / mean(lambda x: 1), mean(lambda x: x**2) / mean(
        lambda x: 1
    )


@pytest.mark.parametrize("k", [6.0, 20.0, 1000.0])
def test_gamma_mixture(k):
    theta = 0.3
    information, variance = by_quadrature(
        lambda x: k * theta / 2 * (1 + theta * x) ** -(k + 1),
        lambda x: (k + 1) * theta / (1 + theta * x),
    )
    assert fisher.kappa_of_gamma_mixture(k) == pytest.approx(information * variance, rel=1e-6)
    assert fisher.gamma_mixture_std(k, theta) == pytest.approx(math.sqrt(variance), rel=1e-6)
    mu = fisher.gamma_mixture_mu(k, theta, 2.0)
    assert mu == pytest.approx(2 * math.sqrt(information), rel=1e-6)


def test_settings_of_the_published_code_of_plrv_o():
    # k = 33000, theta = 1.2e-5, C = 0.1: sd / C is 35.7.
    assert fisher.gamma_mixture_std(33_000, 1.2e-5) / 0.1 == pytest.approx(35.7, abs=0.05)


def test_a_mixture_of_laplace_noise_has_that_law():
    rng = np.random.default_rng(0)
    draws = rng.laplace(size=400_000) / rng.gamma(8.0, 0.3, size=400_000)
    assert draws.std() == pytest.approx(fisher.gamma_mixture_std(8.0, 0.3), rel=0.02)


def test_noises_know_their_kappa():
    query = Query(shape=(4,), l2_sensitivity=1.0, l1_sensitivity=2.0)
    budget = Budget(epsilon=0.5, delta=1e-5)
    for key, kappa in (("gaussian", 1.0), ("laplace", 2.0), ("r1smg", None)):
        assert get_mechanism(key).calibrate(query, budget).noise.kappa() == kappa


def test_a_mixture_without_a_variance_is_refused():
    with pytest.raises(ValueError, match="must be >"):
        fisher.kappa_of_gamma_mixture(2.0)
