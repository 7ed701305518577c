"""Threshold tests: P and Q from their definition in mpmath, and refusals."""

import mpmath
import numpy as np
import pytest

from mechanisms.limit.ball_test import ball_test
from mechanisms.limit.refined_test import refined_test
from mechanisms.limit.threshold_test import ThresholdTest


def line(places, values, at):
    """Interpolate linearly between the places in mpmath, and extrapolate the last piece."""
    i = min(max(int(np.searchsorted(places, float(at))) - 1, 0), len(places) - 2)
    low, high, first, last = map(mpmath.mpf, (*places[i : i + 2], *values[i : i + 2]))
    return first + (at - low) / (high - low) * (last - first)


def below(cosine, dimension: int):
    """Pr(u_1 < cosine)."""
    if abs(cosine) >= 1:
        return mpmath.mpf(cosine > 0)
    half = mpmath.betainc((dimension - 1) / mpmath.mpf(2), 0.5, 0, 1 - cosine**2, True) / 2
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
