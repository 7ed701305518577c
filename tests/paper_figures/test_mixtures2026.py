"""mixtures2026: its noise on a grid against densities and closed forms, and its code's scales."""

import math

import numpy as np
import pytest
import scipy

from mechanisms.privacy.gaussian_profile import GaussianProfile
from paper_figures.mixtures2026.noise import STEPS, even_noise, quasi_gaussian
from paper_figures.mixtures2026.theorems import quasi_scale

PHI = scipy.special.ndtr


def quasi_density(x, epsilon, sigma):
    parts = np.exp(epsilon - x**2 / 2 / sigma**2) + np.exp(-((np.abs(x) - 1) ** 2) / 2 / sigma**2)
    return parts / (math.sqrt(2 * math.pi) * sigma * (math.exp(epsilon) + 2 * PHI(1 / sigma)))


NOISES = {
    "wide": (quasi_gaussian(0.5, 1.0), lambda x: quasi_density(x, 0.5, 1.0)),
    "narrow": (quasi_gaussian(2.0, 0.3), lambda x: quasi_density(x, 2.0, 0.3)),
    "middle": (quasi_gaussian(2.0, 0.5), lambda x: quasi_density(x, 2.0, 0.5)),
}


@pytest.mark.parametrize("name", NOISES)
def test_the_cells_have_the_density(name):
    noise, density = NOISES[name]
    assert noise.masses.sum() == pytest.approx(1, rel=1e-12)
    centres = (np.arange(noise.masses.size) + 0.5 - noise.masses.size / 2) / STEPS
    assert noise.masses * STEPS == pytest.approx(density(centres), rel=1e-5, abs=1e-12)


def test_the_mean_size_has_a_closed_form():
    sigma, central = 0.5, math.exp(2.0)
    first = math.sqrt(2 / math.pi) * sigma * (central + math.exp(-1 / (2 * sigma**2)))
    closed = (first + 2 * PHI(1 / sigma)) / (central + 2 * PHI(1 / sigma))
    assert NOISES["middle"][0].amplitude() == pytest.approx(closed, rel=1e-6)


def test_centres_on_the_right_are_refused():
    """The bound rests on a convexity that such noise does not have at 0."""
    with pytest.raises(ValueError, match="centres must not be above 0, got 1"):
        even_noise({1: 1.0}, 0.5)


@pytest.mark.parametrize(("epsilon", "sigma"), [(0.5, 2.0), (10.0, 0.3)])
def test_one_component_is_gaussian_noise(epsilon, sigma):
    noise = even_noise({0: 1.0}, sigma)
    exact = GaussianProfile(mu=1 / sigma).delta(epsilon).value
    least, most = noise.bounds(epsilon)
    assert exact * (1 - 1e-4) < least <= exact * (1 + 1e-9)
    assert exact * (1 - 1e-5) < most < exact * (1 + 1e-4)


@pytest.mark.parametrize("name", NOISES)
def test_delta_at_a_shift_is_an_integral(name):
    noise, density = NOISES[name]
    x = np.linspace(-8, 8, 1_600_001)
    least, most = noise.bounds(1.5)
    assert least <= most
    for move in (STEPS // 4, STEPS // 2 + 7, STEPS):
        shift = move / STEPS
        integral = np.trapezoid(np.maximum(density(x + shift) - math.exp(1.5) * density(x), 0), x)
        assert noise.deltas(1.5, [move])[0] == pytest.approx(integral, rel=1e-4)
        assert integral <= most * (1 + 1e-6)


@pytest.mark.parametrize("name", NOISES)
def test_shifts_between_cells_are_bounded(name):
    """The larger of both ends, times e^kappa, bounds the density between, however wide apart."""
    noise, density = NOISES[name]
    x, width = np.linspace(-3, 3, 5001), 0.2
    factor = math.exp(width**2 / (8 * noise.sigma**2))
    ends = np.maximum(density(x), density(x + width))
    inner = np.array([density(x + share * width) for share in (0.25, 0.5, 0.75)])
    assert (inner <= factor * ends * (1 + 1e-12)).all()
    assert (inner > ends).any()


def test_the_scale_of_the_quasi_gaussian():
    """All of delta at a shift of 1, or densities that differ by a factor of e^epsilon."""
    small = quasi_gaussian(1.0, quasi_scale(1.0, 1e-3))
    assert small.deltas(1.0, [STEPS])[0] == pytest.approx(1e-3, rel=1e-5)
    sigma = quasi_scale(5.0, 0.1)
    density = quasi_density(np.linspace(0, 1, 100_001), 5.0, sigma)
    assert density.max() / density.min() == pytest.approx(math.exp(5), rel=1e-6)
    assert quasi_gaussian(5.0, sigma).bounds(5.0)[1] < 0.07 * 0.1
