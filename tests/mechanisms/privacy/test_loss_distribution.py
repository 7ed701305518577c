"""Profiles as distributions of dp-accounting: two-sided bounds, also after composition."""

import math

import numpy as np
import pytest
from test_every_profile import PROFILES

from mechanisms.privacy.bounded_profile import BoundedProfile
from mechanisms.privacy.chi_square_profile import RaisedVarianceProfile
from mechanisms.privacy.finite_profile import PureProfile, WishartProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.laplace_profile import LaplaceProfile

EPSILON = np.array([0.0, 0.01, 0.3, 1.0, 2.0])
# dp-accounting's own arithmetic, its sums of masses and convolutions by FFT, may raise a
# pessimistic bound and lower an optimistic one by this much.
ROUNDING, FFT = 1e-9, 1e-11

# Profiles whose losses fill some hundred places of a grid.
DISCRETISED = [
    name for name, profile in PROFILES.items() if 0.1 < profile.epsilon(1e-15).upper < 100
]


def deltas(profile, epsilon=EPSILON, times=1, **options):
    """dp-accounting's lower and upper bound on delta."""
    plds = [
        profile.to_dp_accounting(pessimistic=pessimistic, **options)
        for pessimistic in (False, True)
    ]
    if times > 1:
        plds = [pld.self_compose(times) for pld in plds]
    return [np.array([pld.get_delta_for_epsilon(float(e)) for e in epsilon]) for pld in plds]


@pytest.mark.parametrize(
    ("profile", "times", "interval", "error", "above_by", "below_by"),
    [
        *(
            (profile, 1, 1e-4, 0.0, {"rtol": 1e-4, "atol": 1e-12}, {"rtol": 2e-2, "atol": 1e-4})
            for profile in (GaussianProfile(mu=0.7), LaplaceProfile(l1_sensitivity=1.0, scale=0.8))
        ),
        # Ten Gaussians equal one with sqrt(10) mu; ten Laplace releases meet the suite's bounds.
        *(
            (profile, 10, 1e-3, FFT, {"rtol": 1e-3, "atol": 1e-9}, {"rtol": 0.1, "atol": 5e-3})
            for profile in (
                GaussianProfile(mu=0.2),
                LaplaceProfile(l1_sensitivity=1.0, scale=5.0),
            )
        ),
    ],
)
def test_releases_are_enclosed(profile, times, interval, error, above_by, below_by):
    true = profile.compose(times).delta(EPSILON)
    below, above = deltas(profile, times=times, interval=interval)
    assert (above >= true.lower * (1 - ROUNDING) - error).all()
    assert (below <= true.upper * (1 + ROUNDING) + error).all()
    assert np.allclose(above, true.value, **above_by)
    assert np.allclose(below, true.value, **below_by)


def test_the_gaussian_equals_dp_accountings_own():
    from dp_accounting.pld import privacy_loss_distribution

    own = privacy_loss_distribution.from_gaussian_mechanism(1 / 0.7)
    ours = GaussianProfile(mu=0.7).to_dp_accounting()
    for epsilon in EPSILON:
        expected = own.get_delta_for_epsilon(float(epsilon))
        assert ours.get_delta_for_epsilon(float(epsilon)) == pytest.approx(expected, rel=1e-4)
    mixed = ours.compose(own).get_delta_for_epsilon(1.0)
    assert mixed == pytest.approx(GaussianProfile(mu=0.7 * math.sqrt(2)).delta(1.0).value, rel=1e-4)


@pytest.mark.parametrize("name", DISCRETISED)
def test_every_profile_has_a_pessimistic_distribution(name):
    """It is never below the suite's delta, and close to it."""
    true = PROFILES[name].delta(EPSILON)
    pld = PROFILES[name].to_dp_accounting(interval=0.02)
    above = np.array([pld.get_delta_for_epsilon(float(e)) for e in EPSILON])
    assert (above >= true.lower * (1 - ROUNDING)).all()
    assert np.allclose(above, true.upper, rtol=0.02, atol=1e-9)


def test_the_worse_direction_covers_the_other():
    """After composing twice in dp-accounting, the bound is above delta in both directions."""
    profile = RaisedVarianceProfile(ratio=0.3, rows=20)
    pld = profile.to_dp_accounting(interval=1e-3).self_compose(2)
    rng = np.random.default_rng(0)
    forth = profile.sample_losses(rng, 200_000) + profile.sample_losses(rng, 200_000)
    back = -profile.sample_losses(rng, 200_000, reverse=True)
    back -= profile.sample_losses(rng, 200_000, reverse=True)
    for epsilon in (0.5, 1.0):
        for losses in (forth, back):
            sampled = np.maximum(-np.expm1(epsilon - losses), 0.0)
            error = sampled.std() / math.sqrt(len(losses))
            assert pld.get_delta_for_epsilon(epsilon) >= sampled.mean() - 5 * error


@pytest.mark.parametrize(
    ("profile", "options", "error", "words"),
    [
        (GaussianProfile(mu=0.5), {"interval": 0.0}, ValueError, "interval must be"),
        (GaussianProfile(mu=50.0), {"interval": 1e-4}, ValueError, "interval must be at least"),
        (WishartProfile(kappa=0.5), {}, ValueError, "infinite with a probability"),
        (
            RaisedVarianceProfile(ratio=0.3, rows=20),
            {"pessimistic": False},
            ValueError,
            "two directions",
        ),
        (PureProfile(largest=1.0), {"pessimistic": False}, ValueError, "only bounds of this Pure"),
        (
            BoundedProfile(above=GaussianProfile(mu=1.0), slack="for a test"),
            {"pessimistic": False},
            ValueError,
            r"only bounds of this BoundedProfile are known \(for a test\)",
        ),
    ],
)
def test_profiles_that_cannot_be_discretised_are_refused(profile, options, error, words):
    with pytest.raises(error, match=words):
        profile.to_dp_accounting(**options)
