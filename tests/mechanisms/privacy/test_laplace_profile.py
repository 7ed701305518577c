"""Laplace profiles against closed forms, brute force and dp_accounting."""

import mpmath as mp
import numpy as np
import pytest
from known_losses import laplace_delta

from mechanisms.privacy.composition import ComposedProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.laplace_profile import (
    IndependentLaplaceProfile,
    LaplaceProfile,
)


@pytest.mark.parametrize("tau", [1e-6, 0.1, 1.0, 30.0])
def test_laplace_closed_form(tau):
    profile = LaplaceProfile(l1_sensitivity=2 * tau, scale=2.0)
    epsilon = tau * np.array([0.0, 1e-3, 0.5, 0.999])
    bounds = profile.delta(epsilon)
    with mp.workdps(50):
        exact = [-mp.expm1((mp.mpf(e) - mp.mpf(tau)) / 2) for e in epsilon]
    for lower, value, upper, each in zip(*bounds, exact, strict=True):
        assert lower <= each <= upper
        assert value == pytest.approx(float(each), rel=1e-12)
    assert profile.epsilon(0.0).value == profile.largest_loss == tau


@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.3, 0.8, 1.5])
def test_worst_pair_of_the_l1_ball_is_one_coordinate(epsilon):
    total = 1.7
    shares = np.linspace(0.5, 0.999, 40)
    deltas = [laplace_delta(epsilon, [total * x, total * (1 - x)]) for x in shares]
    single = LaplaceProfile(l1_sensitivity=total, scale=1.0).delta(epsilon).value
    assert (np.diff(deltas) >= -1e-12).all()
    assert deltas[-1] <= single + 1e-12
    # The derivative in the docstring: the split matters only while epsilon < t1 - t2.
    equal = [d for d, x in zip(deltas, shares, strict=True) if total * (2 * x - 1) <= epsilon]
    np.testing.assert_allclose(equal, equal[0] if equal else [], rtol=1e-10)


@pytest.mark.parametrize(("components", "tau"), [(3, 0.4), (50, 1.0), (784, 0.01)])
def test_two_engines_enclose_the_same_laplace_product(components, tau):
    lattice = IndependentLaplaceProfile(components=components, width=tau, scale=1.0)
    general = ComposedProfile(
        base=LaplaceProfile(l1_sensitivity=tau, scale=1.0), times=components
    )  # fmt: skip
    epsilon = lattice.epsilon(np.array([0.05, 1e-3]) * min(tau * np.sqrt(components), 1.0))
    ours, theirs = lattice.delta(epsilon.value), general.delta(epsilon.value)
    assert (ours.lower <= theirs.upper).all() and (theirs.lower <= ours.upper).all()
    np.testing.assert_allclose(ours.value, theirs.value, rtol=1e-4)


@pytest.mark.parametrize(
    ("components", "tau", "epsilon"),
    [(200, 0.5, 40.0), (784, 0.1, 5.0), (784, 0.1, 60.0), (10_000, 0.02, 1.0)],
)
def test_laplace_product_by_the_inverse_laplace_transform(components, tau, epsilon):
    """delta = 1 / (2 pi i) int M(z)^k e^(-z epsilon) / (z (z + 1)) dz on a vertical line.

    M is the moment generating function of one loss. After |M|^k has fallen to e^-38 or less, its
    atoms contribute far less than the tolerance.
    """
    with mp.workdps(40):
        line = mp.mpf(epsilon) / (components * mp.mpf(tau) ** 2)

        def integrand(y):
            z = line + 1j * y
            w = z + mp.mpf(1) / 2
            one = mp.exp(-mp.mpf(tau) / 2) * (mp.cosh(w * tau) + mp.sinh(w * tau) / (2 * w))
            return mp.re(one**components * mp.exp(-z * epsilon) / (z * (z + 1)))

        width = 1 / (tau * mp.sqrt(components))
        exact = mp.quad(integrand, [width * i for i in range(14)]) / mp.pi
        log_exact = float(mp.log(exact))
    profile = IndependentLaplaceProfile(components=components, width=tau, scale=1.0)
    bounds = profile.log_delta(epsilon)
    assert bounds.lower <= log_exact <= bounds.upper
    assert bounds.value == pytest.approx(log_exact, abs=2e-5)
    assert bounds.upper - bounds.lower < 2e-3


def test_many_small_laplace_components_are_gaussian():
    """mu = sqrt(k) tau; the error of the central limit is 1/k here, as three moments agree."""
    components, mu = 10**6, 0.3
    profile = IndependentLaplaceProfile(
        components=components, width=mu / np.sqrt(components), scale=1.0
    )
    epsilon = np.array([0.0, 0.5, 1.0, 2.0])
    gaussian = GaussianProfile(mu=mu).delta(epsilon).value
    # The variance of one loss is tau^2 (1 - 2 tau / 3 + ...), off by a share 2 tau / 3 of mu^2.
    np.testing.assert_allclose(profile.delta(epsilon).value, gaussian, rtol=1e-2)
    assert (profile.delta(epsilon).value < gaussian).all()


def test_laplace_product_at_its_ends():
    profile = IndependentLaplaceProfile(components=4, width=0.25, scale=1.0)
    # Just below the largest loss, only four atoms of 1/2 at tau remain.
    gap = 1e-9
    bounds = profile.delta(1 - gap)
    assert bounds.lower <= gap / 16 * (1 + 1e-6) and gap / 16 * (1 - 1e-6) <= bounds.upper
    # Noise that hides nothing, and noise that hides everything.
    for tau, delta in ((1e12, 1.0), (1e-12, 0.75e-12)):
        value = IndependentLaplaceProfile(components=4, width=tau, scale=1.0).delta(0.0).value
        assert value == pytest.approx(delta, rel=1e-6)


def test_bounds_cover_the_rounding_of_the_logarithm():
    """For small losses delta(0) is 1 - e^(-tau / 2)."""
    for tau in np.random.default_rng(3).uniform(1.0, 10.0, 50) * 10.0 ** -np.arange(0, 300, 6):
        found = LaplaceProfile(l1_sensitivity=float(tau), scale=1.0).log_delta(0.0)
        with mp.workdps(40):
            assert found.lower <= mp.log(-mp.expm1(-mp.mpf(tau) / 2)) <= found.upper


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(30.0, 1e-12), (1e3, 1e-12), (1e6, 1e-9), (1.0, 1e-15)]
)
def test_a_scale_is_rounded_to_the_private_side(epsilon, delta):
    """An ulp of epsilon changes delta by more than 1e-4."""
    for sensitivity in (1.0, 0.3, 7.0):
        profile = LaplaceProfile(l1_sensitivity=sensitivity, scale=1.0)
        found = profile.scaled(profile.scale_factor(epsilon, delta)).largest_loss
        with mp.workdps(40):
            reached = -mp.expm1(-(mp.mpf(found) - epsilon) / 2)
            assert 0 <= reached <= delta * (1 + mp.mpf("2e-6"))
