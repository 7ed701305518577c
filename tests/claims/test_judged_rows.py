"""Bounds in findings are rounded in their own direction."""

import math

import pytest

from claims.judged_rows import at_least
from mechanisms.query.words import rounded_down, rounded_up


@pytest.mark.parametrize(
    ("value", "digits", "down", "up"),
    [
        (0.0042667, 3, "0.00426", "0.00427"),
        (0.1, 3, "0.1", "0.1"),
        (0.9999, 3, "0.999", "1"),
        (-0.0042667, 3, "-0.00427", "-0.00426"),
        (12345.0, 3, "1.23e+04", "1.24e+04"),
        (0.0, 3, "0", "0"),
        (math.inf, 3, "inf", "inf"),
        (2 / 3, 1, "0.6", "0.7"),
        (2 / 3, 5, "0.66666", "0.66667"),
    ],
)
def test_bounds_keep_their_side(value, digits, down, up):
    assert (rounded_down(value, digits), rounded_up(value, digits)) == (down, up)


def test_a_probability_below_1_stays_below_1():
    assert at_least(1.0) == "0.999999"
    assert at_least(0.4567899) == "0.456789"
