"""GaussianProfile and mu_for against high-precision arithmetic, limits and brute force."""

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import linprog

from mechanisms.privacy.gaussian_profile import (
    GaussianProfile,
    mu_for,
    worst_case_mu,
)

EPSILONS = [0.0, 1e-12, 1e-9, 1e-3, 0.3, 1.0, 10.0, 100.0, 1000.0]
DELTAS = [1e-300, 1e-100, 1e-50, 1e-15, 1e-10, 1e-5, 0.01, 0.3, 0.9, 0.999]


def exact_delta(epsilon, mu):
    """The closed form; 400 digits leave 100 after the cancellation at delta = 1e-300."""
    with mp.workdps(400):
        epsilon, mu = mp.mpf(float(epsilon)), mp.mpf(float(mu))
        start = epsilon / mu - mu / 2
        return mp.ncdf(-start) - mp.exp(epsilon) * mp.ncdf(-start - mu)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", DELTAS)
def test_mu_for_and_delta_agree_with_high_precision(epsilon, delta):
    mu = mu_for(epsilon, delta)
    exact = exact_delta(epsilon, mu)
    # d log delta / d log mu = mu phi(start) / delta converts the error of delta into that of mu.
    with mp.workdps(50):
        slope = mp.mpf(mu) * mp.npdf(mp.mpf(epsilon) / mu - mp.mpf(mu) / 2) / exact
        error_of_mu = abs((exact / mp.mpf(delta) - 1) / slope)
    assert error_of_mu < 1e-13
    bounds = GaussianProfile(mu=mu).delta(epsilon)
    assert bounds.lower <= exact <= bounds.upper
    assert abs(bounds.value / exact - 1) < 1e-11
    assert bounds.upper / bounds.lower - 1 < 1e-10


@pytest.mark.parametrize(
    ("mu", "epsilon"),
    [
        *(
            (mu, epsilon)
            for mu in (1e-8, 1e-3, 0.01, 1.0, 30.0, 100.0)
            for epsilon in (0.0, 1e-9, 1e-6, 1e-3, 1.0, 30.0)
            if epsilon / mu < 1e4
        ),
        # The point where delta falls from one.
        *((mu, mu**2 / 2 + s * mu) for mu in (30.0, 100.0, 1e6) for s in (-8.0, -2.0, 0.0, 3.0)),
    ],
)
def test_log_delta_lies_between_its_bounds(mu, epsilon):
    bounds = GaussianProfile(mu=mu).log_delta(epsilon)
    with mp.workdps(400):
        exact = mp.log(exact_delta(epsilon, mu))
        assert bounds.lower <= exact <= bounds.upper
        assert abs(bounds.value - exact) < 1e-10 + 1e-13 * abs(exact)


@pytest.mark.parametrize("mu", [1e-6, 0.1, 1.0, 20.0])
def test_the_upper_bound_of_epsilon_proves_delta_however_small(mu):
    profile = GaussianProfile(mu=mu)
    deltas = profile.delta(0.0).value * np.array([1e-200, 1e-10, 1e-3, 0.5, 0.999])
    bounds = profile.epsilon(deltas)
    np.testing.assert_allclose(profile.delta(bounds.value).value, deltas, rtol=1e-9)
    exact = [exact_delta(e, mu) for e in bounds.upper]
    assert all(e <= d for e, d in zip(exact, deltas, strict=True))


def test_limits():
    profile = GaussianProfile(mu=1.0)
    assert profile.epsilon(0.9).value == 0.0
    assert GaussianProfile(mu=0).delta([0.0, 1.0]).upper.tolist() == [0.0, 0.0]
    assert GaussianProfile(mu=0).epsilon(0.0).value == 0.0
    tiny = profile.log_delta(1e300)
    assert tiny.lower == -np.inf and tiny.upper < -1e299


@pytest.mark.parametrize("mu", [1e3, 1e8, 1e12, 1e30, 1e149])
def test_a_mu_that_protects_nothing(mu):
    """The error of delta once grew like mu, so that a delta of 1 had the lower bound 0."""
    profile = GaussianProfile(mu=mu)
    for epsilon in (0.0, 1.0, mu):
        assert 1 - 1e-13 < profile.delta(epsilon).lower <= profile.delta(epsilon).upper == 1
    bounds = profile.epsilon(np.array([1e-300, 1e-5, 0.5]))
    assert (bounds.lower <= bounds.value).all() and (bounds.value <= bounds.upper).all()
    assert (bounds.lower >= 0.4 * mu**2).all()
    assert bounds.upper[2] == pytest.approx(mu**2 / 2, rel=1e-5)
    assert profile.epsilon(1.0).upper == 0


@pytest.mark.parametrize("seed", range(5))
def test_worst_case_mu_with_a_box_solves_the_linear_programme(seed):
    rng = np.random.default_rng(seed)
    std = rng.uniform(0.2, 3.0, size=(3, 4))
    l2, linf = rng.uniform(0.5, 4.0), rng.uniform(0.3, 1.5)
    gain = 1 / std.ravel() ** 2
    best = linprog(-gain, A_ub=np.ones((1, 12)), b_ub=[l2**2], bounds=[(0, linf**2)] * 12)
    actual = worst_case_mu(std, l2_sensitivity=l2, linf_sensitivity=linf)
    assert actual == pytest.approx(np.sqrt(-best.fun), rel=1e-9)
    # In the ball alone the least noisy component is the worst.
    assert worst_case_mu(std, l2_sensitivity=l2) == pytest.approx(l2 / std.min(), rel=1e-12)
