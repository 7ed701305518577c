"""What holds of every profile: its losses as drawn reproduce its delta and its survival."""

import math

import numpy as np
import pytest
from kept_components import keep_or_noise

from mechanisms.privacy.chi_square_profile import RaisedVarianceProfile, SwappedVariancesProfile
from mechanisms.privacy.finite_profile import CapProfile, PureProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.laplace_profile import IndependentLaplaceProfile, LaplaceProfile
from mechanisms.privacy.spherical.spherical_profile import SphericalProfile

PROFILES = [
    GaussianProfile(mu=1.3),
    LaplaceProfile(l1_sensitivity=1.5, scale=1.0),
    IndependentLaplaceProfile(components=4, width=0.5, scale=1.0),
    # So many components that their losses are drawn as counts of cells.
    IndependentLaplaceProfile(components=400, width=0.05, scale=1.0),
    IndependentLaplaceProfile(components=50, width=0.1, scale=1.0),
    keep_or_noise(GaussianProfile(mu=0.5), 0.02, 5),
    keep_or_noise(LaplaceProfile(l1_sensitivity=0.5, scale=1.0), 0.02, 3),
    *(
        family(rows=rows, ratio=ratio)
        for family in (RaisedVarianceProfile, SwappedVariancesProfile)
        for rows, ratio in ((1, 0.8), (5, 0.5), (400, 0.25))
    ),
    *(
        SphericalProfile(
            dimension=size, radial_shape=shape, power=power, scale=scale, sensitivity=1.0
        )
        for size, shape, power, scale in (
            (3, 1.0, 2.0, 50.0),
            (16, 1.0, 2.0, 5.0),
            (8, 8.0, 1.0, 1.0),
            (1000, 500.0, 1.5, 0.1),
            (4, 0.05, 0.4, 10.0),
        )
    ),
    *(PureProfile(largest=0.71, times=times) for times in (1, 3)),
    CapProfile(largest=2.0, mass=0.6),
]


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: type(profile).__name__)
def test_sampled_losses_reproduce_delta(profile):
    rng, n = np.random.default_rng(3), 200_000
    forward = profile.sample_losses(rng, n)
    backward = profile.sample_losses(rng, n, reverse=True)
    assert not (forward == -np.inf).any() and not (backward == np.inf).any()
    if not profile.symmetric:
        # Under Q the mean of e^L is one.
        weights = np.exp(backward)
        assert abs(weights.mean() - 1) < 4.5 * weights.std() / math.sqrt(n)
    for epsilon in (0.0, 0.2, 0.7, 1.2):
        exact = profile.delta(epsilon).value
        for losses in (forward, -backward) if profile.symmetric else (forward,):
            gain = -np.expm1(np.minimum(epsilon - losses, 0))
            assert abs(gain.mean() - exact) < 4.5 * gain.std() / math.sqrt(n) + 1e-12
        try:
            survival = profile.survival(epsilon)
        except NotImplementedError:
            continue
        seen = (forward > epsilon).mean()
        assert abs(seen - survival) < 4.5 * math.sqrt(seen / n) + 1e-12
