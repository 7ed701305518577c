"""The limit of all additive noise: the tangent condition, and the bound behind it."""

import math

import numpy as np
import pytest
import scipy

from mechanisms.privacy.gaussian_profile import mu_for
from mechanisms.privacy.spherical.spherical_profile import SphericalProfile
from paper_figures.spherical2026.guarantee import (
    largest_delta,
    tangent_at_no_noise,
)


def delta_of(variance, epsilon):
    """delta of Gaussian noise of these variances (...), in closed form; 1 without noise."""
    variance = np.asarray(variance, dtype=float)
    mu = 1 / np.sqrt(np.where(variance > 0, variance, 1.0))
    above = scipy.special.log_ndtr(mu / 2 - epsilon / mu)
    below = epsilon + scipy.special.log_ndtr(-mu / 2 - epsilon / mu)
    return np.where(variance > 0, np.exp(above) - np.exp(below), 1.0)


def least_delta_of_mixtures(variance, epsilon):
    """The least E delta(V) over two-valued V with this mean."""
    share = np.linspace(0, 1, 101)[1:, None]
    low = variance * np.linspace(0, 0.999, 101)
    high = (variance - (1 - share) * low) / share
    return np.min((1 - share) * delta_of(low, epsilon) + share * delta_of(high, epsilon))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_below_the_largest_delta_no_mixture_is_ahead_and_above_it_one_is(epsilon):
    largest = largest_delta(epsilon)
    for delta in (1e-6, 0.9 * largest):
        variance = float(mu_for(epsilon, delta)) ** -2
        assert least_delta_of_mixtures(variance, epsilon) >= delta * (1 - 1e-9)
    above = largest + 0.2 * (1 - largest)
    variance = float(mu_for(epsilon, above)) ** -2
    assert least_delta_of_mixtures(variance, epsilon) < above - 1e-4


def test_the_tangent_is_that_of_delta_over_the_variance():
    variance, epsilon, step = 0.7, 1.0, 1e-5
    slope = delta_of(variance + step, epsilon) - delta_of(variance - step, epsilon)
    height = delta_of(variance, epsilon) - variance * slope / (2 * step)
    assert tangent_at_no_noise(variance**-0.5, epsilon) == pytest.approx(height, rel=1e-8)


@pytest.mark.parametrize("shape", [1.0, 101.0])
def test_spheres_in_high_dimension_tend_to_gaussians_of_their_mean_square(shape):
    size, epsilon = 10_000, 1.0
    unit = SphericalProfile(
        dimension=size, radial_shape=shape, power=2.0, scale=1.0, sensitivity=1.0
    )
    scale = math.sqrt(4 * size / unit.expected_square)
    middles = (np.arange(2000) + 0.5) / 2000
    variances = scale**2 * scipy.stats.gamma(shape / 2).ppf(middles) / size
    mixture = np.mean([delta_of(variance, epsilon) for variance in variances])
    true = unit.scaled(scale).delta(epsilon).value
    assert true == pytest.approx(mixture, rel=0.01)
    # One Gaussian of the mean variance is more private.
    assert true > delta_of(4.0, epsilon)
