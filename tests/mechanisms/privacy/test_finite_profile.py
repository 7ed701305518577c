"""The bound for a pure guarantee against high precision, enumeration and covered pairs."""

import itertools

import mpmath as mp
import numpy as np
import pytest

from mechanisms.privacy.composition import ComposedProfile
from mechanisms.privacy.finite_profile import PureProfile, WishartProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile


@pytest.mark.parametrize("largest", [1e-9, 0.01, 1.0, 30.0, 800.0])
def test_one_release_in_high_precision(largest):
    profile = PureProfile(largest=largest)
    shares = np.array([0.0, 0.3, 0.999, 1 - 1e-12])
    bounds = profile.delta(largest * shares)
    with mp.workdps(800):
        top = mp.exp(mp.mpf(largest))
        exact = [(top - mp.exp(mp.mpf(float(largest * s)))) / (top + 1) for s in shares]
        for value, upper, each in zip(bounds.value, bounds.upper, exact, strict=True):
            assert value <= upper
            assert upper >= each
            assert value == pytest.approx(float(each), rel=1e-11, abs=4e-16)
    assert (bounds.lower == 0).all()


def enumerated(largest, times, epsilon):
    """delta of `times` randomised responses, answer by answer."""
    truth = 1 / (1 + np.exp(-largest))
    total = 0.0
    for answers in itertools.product((0, 1), repeat=times):
        right = sum(answers)
        p = truth**right * (1 - truth) ** (times - right)
        q = truth ** (times - right) * (1 - truth) ** right
        total += max(p - np.exp(epsilon) * q, 0.0)
    return total


@pytest.mark.parametrize("largest", [0.1, 1.3])
@pytest.mark.parametrize("times", [1, 2, 5, 8])
def test_composition_by_enumeration(largest, times):
    profile = PureProfile(largest=largest).compose(times)
    for epsilon in times * largest * np.array([0.0, 0.21, 0.6, 0.95]):
        bounds = profile.delta(epsilon)
        exact = enumerated(largest, times, epsilon)
        assert bounds.value == pytest.approx(exact, rel=1e-11)
        assert exact <= bounds.upper * (1 + 1e-12)


def test_many_releases_stay_finite():
    profile = PureProfile(largest=0.01, times=100_000)
    log_delta = profile.log_delta(np.array([0.0, 50.0, 900.0]))
    assert np.isfinite(log_delta.value).all()
    # The loss is nearly normal with mean mu^2/2 and variance mu^2, mu = 0.01 sqrt(1e5).
    normal = GaussianProfile(mu=0.01 * np.sqrt(1e5)).delta(5.0).value
    assert profile.delta(5.0).value == pytest.approx(normal, rel=0.01)


def test_the_bound_covers_the_rounding_of_the_logarithm():
    """For small epsilons delta(0) is tanh(epsilon / 2)."""
    for largest in np.random.default_rng(4).uniform(1.0, 10.0, 50) * 10.0 ** -np.arange(0, 300, 6):
        found = PureProfile(largest=float(largest)).log_delta(0.0)
        with mp.workdps(40):
            assert mp.log(mp.tanh(mp.mpf(largest) / 2)) <= found.upper


# The Wishart profile against pairs computed from its definition, and its limits.


@pytest.mark.parametrize("kappa", [1e-300, 1e-9, 0.1, 1.0, 40.0])
def test_delta_is_the_same_at_every_epsilon(kappa):
    profile = WishartProfile(kappa=kappa)
    bounds = profile.delta(np.array([0.0, 1.0, 1e6]))
    exact = -np.expm1(-kappa)
    assert np.all(bounds.lower <= exact) and np.all(exact <= bounds.upper)
    assert bounds.value == pytest.approx(np.full(3, exact), rel=1e-14)
    assert profile.largest_loss == np.inf


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 5.0])
def test_no_replacement_is_worse_in_the_plane(epsilon):
    """If d = 2 and s is sampled, y at an angle to x never exceeds the bound."""
    kappa, trials = 0.9, 20_000
    worst = WishartProfile(kappa=kappa).delta(epsilon).value
    factors = np.random.default_rng(0).standard_normal((trials, 2, 3))
    w = factors @ factors.swapaxes(1, 2)  # c = 1
    for norm_x in (0.0, 0.5, 1.0):
        for angle in (0.0, 0.7, np.pi / 2):
            x = norm_x * np.sqrt(2 * kappa) * np.array([1.0, 0.0])
            y = np.sqrt(2 * kappa) * np.array([np.cos(angle), np.sin(angle)])
            inside = np.linalg.eigvalsh(w + np.outer(x, x) - np.outer(y, y))[:, 0] >= 0
            loss = (x @ x - y @ y) / 2
            delta = 1 - inside.mean() * min(1, np.exp(epsilon - loss))
            assert delta < worst + 4 * inside.std() / np.sqrt(trials)
            if norm_x == 0:
                assert delta > worst - 4 * inside.std() / np.sqrt(trials)


def test_the_convolution_refuses_a_pair_that_is_not_symmetric():
    with pytest.raises(ValueError, match="symmetric pair, got WishartProfile; compose its closed"):
        ComposedProfile(base=WishartProfile(kappa=0.2), times=2)


def test_epsilon_is_all_or_nothing():
    profile = WishartProfile(kappa=0.3)
    mass = -np.expm1(-0.3)
    assert profile.epsilon(0.999 * mass) == (np.inf, np.inf, np.inf)
    assert profile.epsilon(1.001 * mass) == (0.0, 0.0, 0.0)
    at = profile.epsilon(mass)
    assert at.lower == 0.0 and at.upper == np.inf
    assert profile.epsilon(np.array([0.0, 1.0])).value.tolist() == [np.inf, 0.0]
