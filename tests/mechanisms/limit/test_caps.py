"""Caps of the sphere, and threshold tests made of them, from their definition in mpmath."""

import mpmath
import numpy as np
import pytest

from mechanisms.limit.ball_test import ball_test
from mechanisms.limit.caps import cap, cap_density, cap_error, cap_height
from mechanisms.limit.refined_test import refined_test
from mechanisms.limit.threshold_test import ThresholdTest


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


# Threshold tests: P and Q from their definition, and refusals.


def line(places, values, at):
    """Interpolate linearly between the places in mpmath, and extrapolate the last piece."""
    i = min(max(int(np.searchsorted(places, float(at))) - 1, 0), len(places) - 2)
    low, high, first, last = map(mpmath.mpf, (*places[i : i + 2], *values[i : i + 2]))
    return first + (at - low) / (high - low) * (last - first)


def below(cosine, dimension: int):
    """Pr(u_1 < cosine)."""
    if abs(cosine) >= 1:
        return mpmath.mpf(cosine > 0)
    half = exact(1 - abs(cosine), dimension)
    return half if cosine < 0 else 1 - half


def value(test: ThresholdTest, radius):
    """r^2 + weight (P - e^epsilon Q) with y = r u and with y = r u + e."""
    r = mpmath.mpf(radius)
    outer = 1 + r - line(test.radii, test.gaps, r)
    own = below((r**2 + 1 - outer**2) / (2 * r), test.dimension)
    # |r u| > K(|r u + e|) if |r u + e| < X, the inverse of K at r; K(0) = 1.
    shifted = mpmath.mpf(0)
    if r > 1:
        inner = line(test.outer, test.radii, r)
        shifted = below((inner**2 - r**2 - 1) / (2 * r), test.dimension)
    return r**2 + test.weight * (own - mpmath.exp(test.epsilon) * shifted)


@pytest.mark.parametrize(
    "make", [lambda: refined_test(5, 1.0, 1e-5), lambda: ball_test(3000, 0.5, 1e-7)]
)
def test_the_bound_lies_below_the_value_at_every_radius(make):
    test, rng = make(), np.random.default_rng(1)
    least = test.lower(0.0)
    assert least > 0
    radii = rng.choice(test.points(7)[1:], 15)
    with mpmath.workdps(25):
        exact = [value(test, radius) for radius in radii]
    assert [float(each) for each in exact] == pytest.approx(test.values(radii), rel=1e-7)
    assert min(exact) >= least
    assert least == pytest.approx(test.values(test.points(50)).min(), rel=1e-4)


def test_delta_is_paid_by_the_weight():
    test = ball_test(3000, 1.0, 1e-5)
    paid = test.lower(0.0) - test.lower(1e-4)
    assert paid == pytest.approx(1e-4 * test.weight, rel=1e-4)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"radii": [0.0, 2.0, 1.0]}, "increase from 0"),
        ({"radii": [0.5, 1.0, 2.0]}, "increase from 0"),
        ({"gaps": [0.0, 0.5, 0.1]}, "0 at both ends"),
        ({"gaps": [0.0, -0.1, 0.0]}, "0 at both ends"),
        ({"gaps": [0.0, np.nan, 0.0]}, "0 at both ends"),
        ({"gaps": [0.0, 1.1, 0.0]}, "K must increase"),
        ({"dimension": 1}, "M >= 2"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"weight": np.inf}, "weight"),
    ],
)
def test_invalid_tests_are_refused(changes, words):
    good = {
        "dimension": 3,
        "epsilon": 1.0,
        "radii": [0.0, 1.0, 2.0],
        "gaps": [0.0, 0.5, 0.0],
        "weight": 1.0,
    }
    ThresholdTest(**good | {name: np.array(good[name]) for name in ("radii", "gaps")})
    given = good | changes
    arrays = {name: np.array(given[name]) for name in ("radii", "gaps")}
    with pytest.raises(ValueError, match=words):
        ThresholdTest(**given | arrays)
