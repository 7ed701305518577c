"""Profiles known up to bounds, and profiles that an event bounds from below."""

import math

import numpy as np
import pytest

from mechanisms.privacy.bounded_profile import BoundedProfile, enclosed
from mechanisms.privacy.finite_profile import EventProfile, PureProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.laplace_profile import LaplaceProfile


def test_the_truth_lies_between_both_profiles_after_every_operation():
    above, below = GaussianProfile(mu=1.0), GaussianProfile(mu=0.6)
    truth = GaussianProfile(mu=0.8)
    bounded = enclosed(above, below, "unknown")
    pairs = [
        (bounded, truth),
        (bounded.compose(3), truth.compose(3)),
        (bounded.scaled(2.0), truth.scaled(2.0)),
    ]
    for profile, exact in pairs:
        for epsilon in (0.0, 0.5, 2.0):
            bounds = profile.delta(epsilon)
            assert bounds.lower < exact.delta(epsilon).value < bounds.upper
        bounds = profile.epsilon(1e-3)
        assert bounds.lower < exact.epsilon(1e-3).value < bounds.upper
    assert enclosed(above, GaussianProfile(mu=1.0), "unknown") is above


@pytest.mark.parametrize(
    ("beyond", "kept"), [(-0.01, False), (0, True), (0.99, True), (1.01, False)]
)
def test_a_delta_is_kept_by_no_more_than_the_bounds_leave_open(beyond, kept):
    bounded = enclosed(GaussianProfile(mu=1.0), GaussianProfile(mu=0.6), "unknown")
    bounds = bounded.delta(0.5)
    delta = getattr(bounds, bounded.calibrated_curve) + beyond * (bounds.upper - bounds.lower)
    assert bounded.keeps(0.5, delta) is kept


def test_an_attained_loss_makes_the_pure_guarantee_exact():
    above = LaplaceProfile(l1_sensitivity=2.0, scale=1.0)
    known = BoundedProfile(above=above, attained_loss=2.0, slack="unknown")
    assert known.attains_largest_loss
    assert known.epsilon(0.0) == pytest.approx([2.0] * 3)
    assert known.epsilon(0.01).lower == 0.0
    assert known.delta(1.0).lower == 0.0
    assert known.scaled(4.0).epsilon(0.0).lower == pytest.approx(0.5)
    assert known.compose(3).epsilon(0.0).lower == pytest.approx(6.0)
    assert not BoundedProfile(above=above, attained_loss=1.9, slack="unknown").attains_largest_loss
    assert not BoundedProfile(above=PureProfile(largest=1.0), slack="unknown").attains_largest_loss


def test_an_event_bounds_delta_and_epsilon_from_below():
    p, q = 0.2, 0.01
    profile = EventProfile(log_p=math.log(p), log_q=math.log(q))
    for epsilon in (0.0, 1.0, 2.9):
        assert profile.delta(epsilon).lower == pytest.approx(p - math.exp(epsilon) * q, rel=1e-9)
    assert profile.delta(3.1) == (0.0, 0.0, 1.0)
    assert profile.epsilon(0.0).lower == pytest.approx(math.log(p / q), rel=1e-12)
    assert profile.epsilon(0.1).lower == pytest.approx(math.log((p - 0.1) / q), rel=1e-9)
    assert profile.epsilon(0.3) == (0.0, 0.0, math.inf)
    twice = profile.compose(2)
    assert twice.delta(1.0).lower == pytest.approx(p**2 - math.e * q**2, rel=1e-9)
    # An observer of the event learns no more than the profile says.
    losses = profile.sample_losses(np.random.default_rng(1), 200_000)
    gain = -np.expm1(np.minimum(1.0 - losses, 0))
    assert abs(gain.mean() - profile.delta(1.0).value) < 4 * gain.std() / math.sqrt(gain.size)


def test_an_event_of_hardly_any_probability_still_has_a_ratio():
    profile = EventProfile(log_p=-1e6, log_q=-1e6 - 40)
    assert profile.delta(1.0).lower == 0.0
    assert 39.999 < profile.epsilon(0.0).lower < 40
    with pytest.raises(ValueError, match="does not say what more noise"):
        profile.scaled(2.0)
