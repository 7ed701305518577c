"""l2mechanism2025 and jacobian2026: the formulas of published codes, against closed forms."""

import math

import numpy as np
import pytest

from paper_figures.jacobian2026.theorems import distance_of, epsilon_of
from paper_figures.l2mechanism2025.theorems import (
    _caps,
    delta_bound,
    least_scale,
    profile,
    published_scale,
)


def test_caps_of_a_sphere():
    """Archimedes: in 3 dimensions the share is h / 2 of the radius, in 2 the angle over pi."""
    heights = np.array([-0.1, 0.0, 0.25, 1.0, 1.6, 2.0, 2.1])
    inside = heights.clip(0, 2)
    assert _caps(3, heights) == pytest.approx(inside / 2, abs=1e-15)
    assert _caps(2, heights) == pytest.approx(np.arccos(1 - inside) / math.pi, abs=1e-15)


def test_one_element_has_laplace_noise():
    """delta = 1 - e^((epsilon - 1 / b) / 2)."""
    assert delta_bound(1, 1.0, 0.01, 0.5) == pytest.approx(-math.expm1((1 - 2) / 2), rel=1e-12)
    assert least_scale(1, 1.0, 0.01) == pytest.approx(1 / (1 - 2 * math.log1p(-0.01)), rel=1e-9)


@pytest.mark.parametrize("size", [2, 7, 60])
def test_shells_bound_delta_from_above_and_closely(size):
    sigma = 0.8 * least_scale(size, 1.0, 0.01)
    truth = profile(size, sigma).delta(1.0)
    bound = delta_bound(size, 1.0, 0.01, sigma)
    assert truth.upper < bound < 1.05 * truth.upper


@pytest.mark.parametrize("size", [5, 100])
def test_the_search_ends_within_its_tolerance_on_the_private_side(size):
    sigma = published_scale(size, 1.0, 1e-5)
    assert delta_bound(size, 1.0, 1e-5, sigma) <= 1e-5
    assert delta_bound(size, 1.0, 1e-5, sigma - 1e-3) > 1e-5


def test_the_loss_of_a_record_that_is_not_clipped():
    """Equal percentiles give 16 times Laplace noise of scale 2 16 rho / epsilon, by hand."""
    equal = np.full(16, 3.0)
    assert epsilon_of(equal, -equal, equal, 0.5) == pytest.approx(0.5, rel=1e-12)
    one = np.zeros(16)
    one[0] = 3.0 * 16 * 5
    assert epsilon_of(one, -one, equal, 0.5) == pytest.approx(5 * 0.5, rel=1e-12)
    uneven = np.arange(1.0, 17.0)
    assert epsilon_of(2 * uneven, -2 * uneven, uneven, 10.0) == pytest.approx(20.0, rel=1e-12)


def test_the_distance_of_records_that_are_not_clipped():
    """sqrt(sum_i (2 t rho_i)^2 / (2 rho_i 2 sum_j rho_j)) = t for opposite ones, by hand."""
    uneven = np.array([1.0, 2.0, 5.0])
    assert distance_of(uneven, -uneven, uneven) == pytest.approx(1.0, rel=1e-14)
    assert distance_of(3 * uneven, -3 * uneven, uneven) == pytest.approx(3.0, rel=1e-14)
    one = np.array([0.0, 4.0, 0.0])
    assert distance_of(one, -one, uneven) == pytest.approx(math.sqrt(64 / (4 * 16)), rel=1e-14)
