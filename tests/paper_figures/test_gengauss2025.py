"""gengauss2025: generalised Gaussian noise on one element and on many, against exact profiles."""

import itertools
import math

import numpy as np
import pytest
import scipy

from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.laplace_profile import LaplaceProfile, laplace_profile
from paper_figures.gengauss2025.theorems import delta_of_many, epsilon_of_one, survival


@pytest.mark.parametrize("power", [1.0, 1.4286, 2.0, 4.0])
def test_the_tail_is_that_of_the_density(power):
    density = scipy.stats.gennorm(power)
    places = np.array([-2.0, -0.3, 0.0, 0.7, 3.0])
    assert survival(places, power) == pytest.approx(density.sf(places), rel=1e-12)


def test_one_element_has_the_known_profiles():
    """Density exp(-x^2) has the standard deviation 1 / sqrt(2), exp(-|x|) the scale 1."""
    for shift, delta in itertools.product([0.2, 1.4], [1e-6, 0.01]):
        normal = GaussianProfile(mu=math.sqrt(2) * shift).epsilon(delta).value
        assert epsilon_of_one(delta, 2.0, shift) == pytest.approx(normal, rel=1e-9)
        laplace = LaplaceProfile(l1_sensitivity=shift, scale=1.0).epsilon(delta).value
        assert epsilon_of_one(delta, 1.0, shift) == pytest.approx(laplace, rel=1e-12)
    assert epsilon_of_one(0.5, 3.0, 0.2) == 0


@pytest.mark.parametrize("power", [1.0, 1.1429, 3.0])
def test_one_element_has_that_delta(power):
    """By an integral over a fine grid."""
    shift = 0.7
    epsilon = epsilon_of_one(0.01, power, shift)
    x = np.linspace(-30, 30, 2_000_001)
    moved, still = (scipy.stats.gennorm(power).pdf(x - move) for move in (shift, 0.0))
    integral = np.trapezoid(np.maximum(moved - math.exp(epsilon) * still, 0), x)
    assert integral == pytest.approx(0.01, rel=1e-5)


def test_many_elements_by_hand():
    """Both elements, or either, beyond half the change."""
    shift, epsilon = 1.0, 0.5
    near, far = 1 - math.exp(-0.5) / 2, math.exp(-0.5) / 2
    both = near**2 - math.exp(epsilon) * far**2
    either = 1 - (1 - near) ** 2 - math.exp(epsilon) * (1 - (1 - far) ** 2)
    assert delta_of_many(epsilon, 1.0, shift, 2) == pytest.approx(max(both, either), rel=1e-12)


@pytest.mark.parametrize(("size", "epsilon"), [(1, 0.3), (30, 0.7), (1000, 0.7)])
def test_many_elements_stay_below_the_exact_delta_and_not_far(size, epsilon):
    shift = size**-0.5
    exact = laplace_profile(components=size, width=shift, rest=0.0, scale=1.0).delta(epsilon)
    found = delta_of_many(epsilon, 1.0, shift, size)
    assert 0.8 * exact.value < found <= exact.upper
