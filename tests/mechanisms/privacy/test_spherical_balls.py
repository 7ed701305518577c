"""The two balls of spherical noise, against closed forms in many digits."""

import mpmath as mp
import numpy as np
import pytest

from mechanisms.privacy.spherical.spherical_balls import (
    Meeting,
    SphericalLaw,
    log_share,
    meeting,
    range_of,
    reach_at,
)
from mechanisms.privacy.spherical.spherical_panels import crossings
from mechanisms.privacy.spherical.spherical_radius import balls_at


def cap(dimension, height):
    """Share of the unit ball above a height."""
    half = mp.mpf(dimension + 1) / 2
    return mp.betainc(half, half, 0, (1 - height) / 2, regularized=True)


def share_by_caps(dimension, excess, height):
    """What is left out is a cap of the first ball without one of the second."""
    larger, distance = 1 + excess, excess + reach(excess, height)
    other = (height + distance) / larger
    return cap(dimension, height) - larger**dimension * cap(dimension, other)


def reach(excess, height):
    root = mp.sqrt(height**2 + excess * (excess + 2))
    return root - height - excess


@pytest.mark.parametrize("excess", [1e-9, 1e-4, 0.03, 1.0, 50.0, 1e6])
@pytest.mark.parametrize("dimension", [2, 3, 4, 7, 12, 13, 60])
def test_the_share_is_a_difference_of_caps(dimension, excess):
    spread = min(1.0, 5 / np.sqrt(dimension))
    height = spread * np.array([-0.9999, -0.9, -0.3, -0.1, 0.0, 0.1, 0.5, 0.9, 0.9999])
    excess = np.full(height.size, excess)
    balls = Meeting(np.log1p(excess), excess, reach_at(excess, height), height)
    noise = SphericalLaw(dimension, 1.0, 1.0, 1.0)
    found = log_share(noise, range_of(noise, balls), 26)
    with mp.workdps(60 + 4 * dimension):
        exact = [
            float(mp.log(share_by_caps(dimension, mp.mpf(e), mp.mpf(z))))
            for e, z in zip(excess, height, strict=True)
        ]
    # At z = 0.9999 one part in 1e4 of h is at stake, so that four digits of its rounding count.
    np.testing.assert_allclose(found, exact, rtol=0, atol=3e-10)


def test_balls_that_do_not_meet():
    excess = np.array([0.0, 0.5, 0.5, 1e80, 1e80])
    reach = np.array([3.0, -0.1, 2.1, 2e80, -2e79])
    height = 1 - 0.5 * reach * (1 + (excess + 2) / (excess + reach))
    balls = Meeting(np.log1p(excess), excess, reach, height)
    noise = SphericalLaw(5, 1.0, 1.0, 1.0)
    with np.errstate(divide="ignore"):
        found = log_share(noise, range_of(noise, balls), 26)
    np.testing.assert_allclose(np.exp(found), [1, 0, 1, 1, 0], rtol=0, atol=1e-13)


@pytest.mark.parametrize(("dimension", "shape"), [(5, 5.0), (5, 1.0), (5, 4.999999), (10**6, 0.3)])
@pytest.mark.parametrize("power", [0.4, 1.0, 2.0, 9.0])
def test_the_densities_at_the_two_radii_differ_by_epsilon(dimension, shape, power):
    noise = SphericalLaw(dimension, shape, power, 1.0)
    log_v = np.linspace(-60, 15, 31)[:, None]
    epsilon = np.array([0.0, 1e-9, 1e-3, 1.0, 40.0, 1000.0])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        u = meeting(noise, log_v, epsilon).u
    assert (u[:, 0] == 0).all()
    with mp.workdps(30):
        for i, j in np.ndindex(u[:, 1:].shape):
            rise = mp.mpf(u[i, j + 1])
            growth = mp.exp(mp.mpf(log_v[i, 0])) * mp.expm1(power * rise)
            excess = mp.mpf(noise.gap) * rise + growth - epsilon[j + 1]
            # By how much u would have to change.
            slope = noise.gap + power * (growth + mp.exp(mp.mpf(log_v[i, 0])))
            assert abs(excess / slope) <= 1e-14 * rise


@pytest.mark.parametrize(
    ("shape", "power", "ratio", "epsilon", "heights"),
    [
        # From apart to inside as the radius grows; for p > 1 noise is so flat far out that the
        # first ball leaves the second again.
        (4.0, 0.5, 1.0, 0.5, [-1, 1]),
        (2.0, 1.0, 2.0, 3.0, [-1, 1]),
        (1.0, 2.0, 0.1, 0.5, [-1, 1, 1]),
        (1.0, 2.0, 0.3, 0.0, [-1]),
        (4.0, 1.0, 2.0, 2.5, []),
    ],
)
def test_crossings_are_where_the_spheres_touch(shape, power, ratio, epsilon, heights):
    noise, epsilon = SphericalLaw(4, shape, power, ratio), np.array([epsilon])
    y = np.linspace(-30, 5, 200)[None]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        owner, step, at = crossings(noise, epsilon, y, balls_at(noise, y, epsilon[:, None]))
        found = balls_at(noise, np.sort(at), epsilon).height
    assert (owner == 0).all()
    assert ((y[0, step] <= at) & (at <= y[0, step + 1])).all()
    np.testing.assert_allclose(found, heights, rtol=0, atol=1e-9)
