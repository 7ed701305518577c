"""Groups of records against closed forms."""

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest

from mechanisms.plans.plan import compose
from mechanisms.privacy.finite_profile import PureProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.group_profile import GroupProfile, group_profile
from mechanisms.privacy.laplace_profile import LaplaceProfile
from mechanisms.privacy.spherical.spherical_profile import SphericalProfile


@pytest.mark.parametrize(("size", "width"), [(2, 3e-3), (5, 3e-2)])
def test_gaussian_noise_has_the_distance_of_the_group(size, width):
    found, truth = (
        GroupProfile(base=GaussianProfile(mu=0.4), size=size),
        GaussianProfile(mu=0.4 * size),
    )
    assert group_profile(found.base, size).mu == pytest.approx(truth.mu)
    for delta in (1e-1, 1e-5, 1e-10, 1e-15):
        upper = found.delta(truth.epsilon(delta).value).upper
        assert delta * (1 - 1e-9) <= upper <= delta * (1 + width)


@pytest.mark.parametrize(("mu", "size"), [(3.0, 5), (10.0, 2), (30.0, 2)])
def test_groups_whose_losses_are_large(mu, size):
    """Their epsilon is far more than that of one record times their size."""
    found, truth = (
        GroupProfile(base=GaussianProfile(mu=mu), size=size),
        GaussianProfile(mu=size * mu),
    )
    delta = np.array([1e-1, 1e-5, 1e-12])
    epsilon = truth.epsilon(delta).value
    upper = found.epsilon(delta).upper
    assert (upper >= epsilon).all()
    assert (upper <= epsilon * 1.01).all()


def test_laplace_noise_has_the_shift_of_the_group():
    found = GroupProfile(base=LaplaceProfile(l1_sensitivity=1.0, scale=2.0), size=3)
    truth = LaplaceProfile(l1_sensitivity=3.0, scale=2.0)
    epsilon = np.array([0.0, 0.3, 1.0, 1.4])
    np.testing.assert_allclose(found.delta(epsilon).upper, truth.delta(epsilon).value, rtol=1e-9)
    assert found.delta(1.5).upper == 0
    assert found.epsilon(0.0).upper == 1.5


def test_the_bound_holds_rounding():
    """delta(0) of the shift of the group, 1 - e^-6 and 1 - e^-9, is nearly 1."""
    for size in (2, 3):
        found = GroupProfile(base=LaplaceProfile(l1_sensitivity=6.0, scale=1.0), size=size)
        with mpmath.workdps(40):
            assert mpmath.log1p(-mpmath.exp(-3 * size)) <= found.log_delta(0.0).upper


def test_a_large_group():
    """Its nodes are so far apart that e^spacing overflows."""
    found = GroupProfile(base=LaplaceProfile(l1_sensitivity=1000.0, scale=1.0), size=1 << 10)
    np.testing.assert_allclose(found.delta([1e3, 1e6, 1.024e6]).upper, [1, 1, 0], rtol=1e-9)


def test_randomised_response_of_a_pair():
    """Two changes in a row, a = epsilon - 1 and b = 1: delta(a) = (1 - e^(a - 1)) / (1 + e^-1)."""
    found = GroupProfile(base=PureProfile(largest=1.0), size=2)
    truth = (1 - np.exp(1.5 - 2.0)) / (1 + np.exp(-1.0))
    assert truth * (1 - 1e-12) <= found.delta(1.5).upper <= truth * (1 + 1e-3)
    assert found.delta(1.5).lower == 0


def test_what_gives_itself_away_does_so_in_a_group():
    shown = GroupProfile(base=GaussianProfile(mu=3.0), size=2)
    assert shown.delta(0.0).upper == pytest.approx(
        GaussianProfile(mu=6.0).delta(0.0).value, rel=1e-3
    )
    with pytest.raises(ValueError, match="size must be at least 2"):
        GroupProfile(base=GaussianProfile(mu=1.0), size=1)


@pytest.mark.parametrize(("mu", "size"), [(1e-3, 2), (0.5, 2), (5.0, 2), (0.5, 5)])
def test_groups_at_every_delta(mu, size):
    found, truth = (
        GroupProfile(base=GaussianProfile(mu=mu), size=size),
        GaussianProfile(mu=size * mu),
    )
    delta = np.array([1e-20, 1e-30, 1e-100, 1e-280])
    upper, exact = found.epsilon(delta).upper, truth.epsilon(delta).value
    assert ((exact <= upper) & (upper <= 1.01 * exact)).all()


def test_spherical_noise_has_the_distance_of_the_group():
    """Of a Gaussian in that family, by its closed form; in a plan three such releases too."""
    one = SphericalProfile(
        dimension=6, radial_shape=6.0, power=2.0, scale=math.sqrt(2) / 0.4, sensitivity=1.0
    )
    delta = np.array([1e-2, 1e-30, 1e-280])
    truth = GaussianProfile(mu=0.4 * 5).epsilon(delta).value
    assert group_profile(one, 5).epsilon(delta).value == pytest.approx(truth, rel=1e-6)
    epsilon = GaussianProfile(mu=0.4 * 2 * math.sqrt(3)).epsilon(1e-9).value
    assert 1e-9 <= compose([one] * 3, group=2).delta(epsilon).upper <= 1.01e-9


def test_groups_of_noise_with_heavy_tails():
    """delta(a) + e^a delta(b) with delta ~ e^(-a / 2): b is about 3 a, and epsilon 4 a at most."""
    one = SphericalProfile(dimension=3, radial_shape=1.0, power=2.0, scale=10.0, sensitivity=1.0)
    delta = np.array([1e-2, 1e-8])
    epsilon = 4.1 * np.array(one.epsilon(delta / 2).upper)
    upper = GroupProfile(base=one, size=2).delta(epsilon).upper
    assert (group_profile(one, 2).delta(epsilon).value <= upper).all()
    assert (upper <= delta).all()
    # Far out, where the noise is large, twice the distance moves epsilon by 2 log 2.
    one, far = replace(one, scale=1e3), np.array([1e-40, 1e-280])
    apart = group_profile(one, 2).epsilon(far).upper - one.epsilon(far).upper
    assert apart == pytest.approx(2 * math.log(2), rel=1e-4)
