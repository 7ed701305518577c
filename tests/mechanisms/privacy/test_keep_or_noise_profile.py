"""The keep-or-noise profile against brute force and the closed form of its atoms."""

import mpmath as mp
import numpy as np
import pytest
from test_every_profile import keep_or_noise

from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.laplace_profile import (
    LaplaceProfile,
)
from mechanisms.privacy.numerics import unit_gauss_legendre


def keep_or_noise_by_brute_force(density, keep, epsilon, cells):
    """delta of one or two components: a sum over kinds of output, by Gauss-Legendre quadrature."""
    unit, weights = unit_gauss_legendre(60)
    x = (cells[:-1, None] + np.diff(cells)[:, None] * unit).ravel()
    w = (np.diff(cells)[:, None] * weights).ravel()
    p, q = (1 - keep) * density(x), (1 - keep) * density(x - 1)
    one = keep + w @ np.maximum(p - np.exp(epsilon) * q, 0)
    # Any kept component reveals the input; only noise on both can be confused.
    pair = np.maximum(np.outer(p, p) - np.exp(epsilon) * np.outer(q, q), 0)
    return one, 1 - (1 - keep) ** 2 + w @ pair @ w


@pytest.mark.parametrize("keep", [0.0, 0.03, 0.6])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.3])
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_keep_or_noise_by_brute_force(keep, epsilon, kind):
    if kind == "laplace":
        noise = LaplaceProfile(l1_sensitivity=1.0, scale=1 / 1.2)
        cells = np.r_[-20, -5, -1, np.linspace(0, 1, 21), 2, 6, 21]
        exact = keep_or_noise_by_brute_force(
            lambda x: 0.6 * np.exp(-1.2 * np.abs(x)), keep, epsilon, cells
        )
    else:
        noise = GaussianProfile(mu=1.2)
        cells = np.linspace(-8, 9, 35)
        exact = keep_or_noise_by_brute_force(
            lambda x: 1.2 * np.exp(-0.72 * x**2) / np.sqrt(2 * np.pi), keep, epsilon, cells
        )
    for components, each in zip((1, 2), exact, strict=True):
        profile = keep_or_noise(noise, keep, components)
        assert profile.delta(epsilon).value == pytest.approx(each, rel=2e-4)


def test_atom_mass_and_the_deltas_below_it():
    profile = keep_or_noise(GaussianProfile(mu=1.0), 0.01, 30)
    mass = 1 - 0.99**30
    assert profile.atom_mass == pytest.approx(mass, rel=1e-13)
    assert profile.delta(1e6).value == pytest.approx(mass, rel=1e-13)
    below = np.array([0.0, 0.999, 1.0]) * profile.atom_mass
    assert profile.epsilon(below).value.tolist() == [np.inf] * 3
    tiny = keep_or_noise(GaussianProfile(mu=1.0), 1e-200, 784)
    assert tiny.atom_mass == pytest.approx(784e-200, rel=1e-12)
    sure = keep_or_noise(GaussianProfile(mu=1.0), 1.0, 2)
    assert sure.atom_mass == 1.0 and sure.delta(5.0).value == 1.0


@pytest.mark.parametrize("epsilon", [0.5, 3, 6, 8, 20])
def test_bounds_contain_epsilon_near_the_atom(epsilon):
    """delta is rounded once from 40 digits, where little but the mass of the atom is left."""
    profile = keep_or_noise(GaussianProfile(mu=1.0), 0.3, 1)
    with mp.workdps(40):
        mass, half = mp.mpf(0.3), mp.mpf("0.5")
        noise = mp.ncdf(half - epsilon) - mp.e**epsilon * mp.ncdf(-half - epsilon)
        found = profile.epsilon(float(mass + (1 - mass) * noise))
    assert found.lower <= epsilon <= found.upper
    if epsilon <= 6:
        assert found.upper - found.lower < 1e-5
    else:
        # The contribution of the noise is below the rounding of the atom.
        assert found.lower > 6.5
