"""Losses until a claim falls: never too often by chance, and soon where it is false."""

import numpy as np
import pytest

from mechanisms.privacy.gaussian_profile import GaussianProfile, mu_for
from mechanisms.verification.sampled_audit import losses_to_refute


def drawn(profile):
    return lambda rng, n, reverse=False: profile.sample_losses(rng, n, reverse=reverse)


def test_a_claim_that_holds_with_equality_falls_as_seldom_as_promised():
    """At 90%; looked at after every one of 2000 losses."""
    epsilon, profile = 0.5, GaussianProfile(mu=1.0)
    delta = profile.delta(epsilon).value
    fallen = sum(
        losses_to_refute(
            drawn(profile), epsilon, delta, samples=2000, seed=seed, confidence=0.9
        ) is not None
        for seed in range(150)
    )  # fmt: skip
    assert 0 < fallen <= 15


@pytest.mark.parametrize(("factor", "most"), [(0.5, 1000), (0.8, 30_000)])
def test_less_noise_than_claimed_is_found(factor, most):
    """Analytic Gaussian noise at (1, 1e-5), and `factor` times as much."""
    profile = GaussianProfile(mu=mu_for(1.0, 1e-5) / factor)
    found = [
        losses_to_refute(drawn(profile), 1.0, 1e-5, samples=most, seed=seed) for seed in range(10)
    ]
    assert sum(count is not None for count in found) >= 9
    assert found[0] == losses_to_refute(drawn(profile), 1.0, 1e-5, samples=most, seed=0)


def test_one_loss_refutes_a_pure_claim():
    """A loss above epsilon: losses are exact."""
    assert losses_to_refute(lambda rng, n, reverse: np.full(n, 2.0), 1.0, 0.0, samples=9) == 1
    assert losses_to_refute(lambda rng, n, reverse: np.ones(n), 1.0, 0.0, samples=9) is None


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="0 <= delta < 1"):
        losses_to_refute(lambda rng, n, reverse: np.ones(n), 1.0, 1.0, samples=9)
    with pytest.raises(ValueError, match="NaN"):
        losses_to_refute(lambda rng, n, reverse: np.full(n, np.nan), 1.0, 0.1, samples=9)
