"""Caps of the sphere against mpmath, at heights of probability 1/2 to 1e-40."""

import mpmath
import numpy as np
import pytest

from mechanisms.limit.caps import cap, cap_density, cap_error, cap_height


def exact(height, dimension: int):
    """Pr(u_1 < height - 1) as half a regularised incomplete beta function, for height <= 1."""
    height = mpmath.mpf(height)
    return mpmath.betainc((dimension - 1) / mpmath.mpf(2), 0.5, 0, height * (2 - height), True) / 2


@pytest.mark.parametrize("dimension", [2, 3, 10, 101, 1000, 48_000, 10**6])
def test_a_cap_is_as_exact_as_the_bound_assumes(dimension):
    with mpmath.workdps(40):
        for deviations in (0.0, 1e-12, 1e-8, 1e-6, 1e-4, 0.01, 0.1, 0.99, 1.01, 3.0, 8.0, 13.0):
            height = 1 - min(deviations / dimension**0.5, 0.999)
            reference = exact(height, dimension)
            wrong = abs(mpmath.mpf(float(cap(height, dimension))) / reference - 1)
            assert wrong < cap_error(dimension) / 10, deviations


@pytest.mark.parametrize("dimension", [2, 3, 10])
def test_a_few_ulp_of_the_height_move_a_cap_near_the_pole_by_less_than_its_error(dimension):
    for distance in (4e-16, 1e-15, 3e-15, 1e-12, 1e-6):
        height, moved = 2 - distance, min(2 - distance + 8e-16, 2.0)
        with mpmath.workdps(40):
            reference = 1 - exact(2 - mpmath.mpf(height), dimension)
            wrong = abs(float(cap(moved, dimension)) - reference)
            assert wrong < cap_error(dimension) / 2


@pytest.mark.parametrize("dimension", [2, 3, 50, 10**5])
def test_density_and_height_belong_to_the_cap(dimension):
    heights = 1 - np.minimum(np.array([0.01, 0.5, 2.0]) / dimension**0.5, 0.9)
    step = 1e-3 / dimension**0.5
    slope = (cap(heights + step, dimension) - cap(heights - step, dimension)) / (2 * step)
    assert cap_density(heights, dimension) == pytest.approx(slope, rel=1e-5)
    assert cap_height(cap(heights, dimension), dimension) == pytest.approx(heights, rel=1e-9)


def test_the_whole_sphere_and_nothing():
    assert cap(np.array([-1.0, 0.0, 1.0, 2.0, 5.0]), 7) == pytest.approx([0, 0, 0.5, 1, 1], abs=0)
