"""GaussianProfile and mu_for against high-precision arithmetic, limits and brute force."""

import time

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import linprog

from mechanisms.privacy import gaussian_profile
from mechanisms.privacy.gaussian_profile import (
    GaussianProfile,
    log_delta_and_error,
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
    # d log delta / d log mu = mu phi(start) / delta turns the error of delta into that of mu.
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
        (mu, epsilon)
        for mu in (1e-8, 1e-3, 0.05, 1.0, 30.0, 100.0)
        for epsilon in (0.0, 1e-9, 1e-8, 1e-6, 1e-3, 1.0, 30.0, 1000.0)
        if epsilon / mu < 37  # beyond, delta is below the smallest float: see log_delta
    ],
)
def test_delta_lies_between_its_bounds(mu, epsilon):
    bounds = GaussianProfile(mu=mu).delta(epsilon)
    exact = exact_delta(epsilon, mu)
    assert bounds.lower <= bounds.value <= bounds.upper
    assert bounds.lower <= exact <= bounds.upper
    assert abs(bounds.value / exact - 1) < 1e-10


def test_log_delta_does_not_underflow():
    bounds = GaussianProfile(mu=1e-2).log_delta(1.0)
    with mp.workdps(60):
        start = mp.mpf(1) / mp.mpf(1e-2) - mp.mpf(1e-2) / 2
        exact = mp.log(mp.ncdf(-start) - mp.e * mp.ncdf(-start - mp.mpf(1e-2)))
    assert bounds.lower <= exact <= bounds.upper
    assert abs(bounds.value / exact - 1) < 1e-13


def test_analytic_gaussian_anchor():
    assert 1 / mu_for(1.0, 1e-5) == pytest.approx(3.73063163481594, rel=1e-13)


def test_epsilon_zero_closed_form():
    for delta in (1e-300, 1e-12, 0.3, 0.999):
        with mp.workdps(400):
            exact = 2 * mp.sqrt(2) * mp.erfinv(mp.mpf(delta))
        assert mu_for(0.0, delta) == pytest.approx(float(exact), rel=1e-13)


def test_thousand_pairs_in_fifty_milliseconds():
    rng = np.random.default_rng(0)
    epsilon, delta = 10 ** rng.uniform(-12, 3, 1000), 10 ** rng.uniform(-300, -0.0005, 1000)
    mu_for(epsilon, delta)
    seconds = []
    for _ in range(5):
        start = time.process_time()
        mu = mu_for(epsilon, delta)
        seconds.append(time.process_time() - start)
    assert min(seconds) < 0.05
    reached = [GaussianProfile(mu=m).delta(e).value for m, e in zip(mu, epsilon, strict=True)]
    np.testing.assert_allclose(reached, delta, rtol=1e-10)


def test_shapes_broadcast():
    assert mu_for(np.ones((3, 1)), np.array([1e-5, 1e-3])).shape == (3, 2)
    assert isinstance(mu_for(1.0, 1e-5), float)
    bounds = GaussianProfile(mu=1.0).delta(np.ones((2, 3)))
    assert bounds.value.shape == bounds.lower.shape == bounds.upper.shape == (2, 3)
    assert isinstance(GaussianProfile(mu=1.0).delta(1).value, float)


@pytest.mark.parametrize("mu", [1e-6, 0.1, 1.0, 20.0])
def test_epsilon_inverts_delta(mu):
    profile = GaussianProfile(mu=mu)
    deltas = profile.delta(0.0).value * np.array([1e-200, 1e-10, 1e-3, 0.5, 0.999])
    bounds = profile.epsilon(deltas)
    assert (bounds.lower <= bounds.value).all() and (bounds.value <= bounds.upper).all()
    np.testing.assert_allclose(profile.delta(bounds.value).value, deltas, rtol=1e-9)
    exact = [exact_delta(e, mu) for e in bounds.upper]
    assert all(e <= d for e, d in zip(exact, deltas, strict=True))


def test_limits():
    profile = GaussianProfile(mu=1.0)
    assert profile.epsilon(0.0).value == np.inf
    assert profile.epsilon(1.0).value == 0.0
    assert profile.epsilon(0.9).value == 0.0
    assert GaussianProfile(mu=0).delta([0.0, 1.0]).upper.tolist() == [0.0, 0.0]
    assert GaussianProfile(mu=0).epsilon(0.0).value == 0.0
    assert GaussianProfile(mu=1e3).delta(0.0).value == 1.0
    tiny = profile.log_delta(1e300)
    assert tiny.lower == -np.inf and tiny.upper < -1e299


@pytest.mark.parametrize("mu", [1e3, 1e8, 1e12, 1e30, 1e149, 1e154, 1e160, 1e300])
def test_a_mu_that_protects_nothing(mu):
    """The error of delta grew like mu, so that a delta of 1 had the lower bound 0."""
    profile = GaussianProfile(mu=mu)
    for epsilon in (0.0, 1.0, mu):
        assert 1 - 1e-13 < profile.delta(epsilon).lower <= profile.delta(epsilon).upper == 1
    bounds = profile.epsilon(np.array([1e-300, 1e-5, 0.5]))
    assert (bounds.lower <= bounds.value).all() and (bounds.value <= bounds.upper).all()
    # Beyond floating point it is infinite from above, and a large number from below.
    assert (bounds.lower >= 0.4 * min(mu, 1e150) ** 2).all()
    assert mu > 1e150 or bounds.upper[2] == pytest.approx(mu**2 / 2, rel=1e-5)
    assert profile.epsilon(1.0).upper == 0


@pytest.mark.parametrize("mu", [30.0, 100.0, 1e6])
def test_delta_near_its_fall_lies_between_the_bounds_at_large_mu(mu):
    for start in (-8.0, -2.0, 0.0, 3.0):
        epsilon = mu**2 / 2 + start * mu
        bounds = GaussianProfile(mu=mu).delta(epsilon)
        assert bounds.lower <= exact_delta(epsilon, mu) <= bounds.upper


def test_epsilon_takes_few_steps_at_any_mu(monkeypatch):
    evaluated = []

    def counted(epsilon, mu):
        evaluated.append(epsilon.size)
        return log_delta_and_error(epsilon, mu)

    monkeypatch.setattr(gaussian_profile, "log_delta_and_error", counted)
    for mu in (1e-8, 1.0, 40.0, 1e4, 1e8, 1e100, 1e200):
        evaluated.clear()
        GaussianProfile(mu=mu).epsilon(np.array([1e-300, 1e-12, 0.3 * min(mu, 1)]))
        assert len(evaluated) <= 12


def test_delta_falls_with_epsilon_and_rises_with_mu():
    epsilon = np.geomspace(1e-9, 100, 200)
    for mu in (1e-3, 1.0, 10.0):
        log_delta = GaussianProfile(mu=mu).log_delta(epsilon).value
        assert (np.diff(log_delta) < 0).all()
        assert (GaussianProfile(mu=1.01 * mu).log_delta(epsilon).value > log_delta).all()


def test_composition_and_scaling_act_on_mu():
    profile = GaussianProfile(mu=0.5)
    assert profile.compose(9).mu == pytest.approx(1.5)
    assert profile.scaled(2.0).mu == 0.25
    factor = profile.scale_factor(1.0, 1e-5)
    assert profile.scaled(factor).delta(1.0).value == pytest.approx(1e-5, rel=1e-12)


def test_worst_case_mu_of_the_ball_is_the_least_noisy_component():
    assert worst_case_mu([[2.0, 0.5], [3.0, 1.0]], l2_sensitivity=2.0) == 4.0


@pytest.mark.parametrize("seed", range(5))
def test_worst_case_mu_with_a_box_solves_the_linear_programme(seed):
    rng = np.random.default_rng(seed)
    std = rng.uniform(0.2, 3.0, size=(3, 4))
    l2, linf = rng.uniform(0.5, 4.0), rng.uniform(0.3, 1.5)
    gain = 1 / std.ravel() ** 2
    best = linprog(-gain, A_ub=np.ones((1, 12)), b_ub=[l2**2], bounds=[(0, linf**2)] * 12)
    actual = worst_case_mu(std, l2_sensitivity=l2, linf_sensitivity=linf)
    assert actual == pytest.approx(np.sqrt(-best.fun), rel=1e-9)


def test_worst_case_mu_when_every_component_may_change_fully():
    std = np.linspace(1, 2, 50)
    actual = worst_case_mu(std, l2_sensitivity=3 * np.sqrt(50), linf_sensitivity=3.0)
    assert actual == pytest.approx(3 * np.sqrt((std**-2).sum()), rel=1e-14)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: GaussianProfile(mu=-1.0), ValueError, "mu must be finite and > 0, got -1.0"),
        (lambda: GaussianProfile(mu=np.inf), ValueError, "mu must be finite"),
        (lambda: GaussianProfile(mu="1"), TypeError, "mu must be a real number"),
        (
            lambda: GaussianProfile(mu=1.0).delta(-0.1),
            ValueError,
            "epsilon must be finite and >= 0",
        ),
        (lambda: GaussianProfile(mu=1.0).delta(np.nan), ValueError, "epsilon must be finite"),
        (lambda: GaussianProfile(mu=1.0).delta("x"), TypeError, "epsilon must be a real number"),
        (lambda: GaussianProfile(mu=1.0).epsilon(1.5), ValueError, "delta must lie in"),
        (lambda: GaussianProfile(mu=1.0).compose(0), ValueError, "times must be at least 1"),
        (lambda: GaussianProfile(mu=1.0).compose(1.5), TypeError, "times must be an integer"),
        (lambda: mu_for(1.0, 0.0), ValueError, "delta must satisfy 0 < delta < 1, got 0.0"),
        (lambda: mu_for(1.0, [0.1, 1.0]), ValueError, "delta must satisfy 0 < delta < 1"),
        (lambda: worst_case_mu([1.0, 0.0], l2_sensitivity=1.0), ValueError, "std must be"),
        (lambda: worst_case_mu([1.0], l2_sensitivity=0.0), ValueError, "l2_sensitivity must be"),
    ],
)
def test_bad_arguments_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call()
