"""Every numerical helper against 60-digit arithmetic, at the edges of its domain."""

import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from mechanisms.privacy import numerics


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(60):
        yield


@pytest.mark.parametrize("number", ["0.1", "1", "3e-30", "1e-300", "5e-324"])
def test_the_least_float_that_prints_no_lower_than_a_number(number):
    first, written = float(number), Fraction(number)
    after = math.nextafter(first, math.inf)
    little = Fraction(after - first) / 1000
    found = [numerics.written_above(written + sign * little) for sign in (-1, 0, 1)]
    assert found == [first, first, after]
    assert numerics.written(first) == written


def mills(x):
    return mp.erfc(x / mp.sqrt(2)) / 2 / mp.npdf(x)


def exact_difference(x, width):
    return mp.log((mills(x) - mills(x + width)) / mills(x))


def exact_stirling_remainder(x):
    return mp.loggamma(x) - ((x - mp.mpf(0.5)) * mp.log(x) - x + mp.log(2 * mp.pi) / 2)


def values_of(function, exact, tolerance, *arguments):
    """A case for each value of the one argument, or each combination of the two."""
    return [(function, exact, tolerance, given) for given in itertools.product(*arguments)]


@pytest.mark.parametrize(
    ("function", "exact", "tolerance", "given"),
    [
        *values_of(
            numerics.log1mexp,
            lambda x: mp.log1p(-mp.exp(x)),
            {"rel": 1e-14},
            [-1e-300, -1e-12, -0.5, -np.log(2), -1.0, -40.0, -700.0],
        ),
        *values_of(
            numerics.log_mills,
            lambda x: mp.log(mills(x)),
            {"rel": 1e-14, "abs": 2e-15},
            [-37.0, -5.0, -1e-9, 0.0, 1e-9, 1.0, 29.9, 30.1, 1e5, 1e12],
        ),
        *values_of(
            numerics.mills_slope,
            lambda x: 1 - x * mills(x),
            {"rel": 1e-12},
            [-20.0, -1.0, 0.0, 1.0, 10.0, 29.99, 30.0, 30.01, 1e3, 1e6],
        ),
        *values_of(
            lambda x, width: numerics.log_mills_difference(np.array([x]), np.array([width]))[0],
            exact_difference,
            {"abs": 1e-12},
            [-0.5e-8, 0.0, 1.0, 25.0, 31.0, 1e4],
            [1e-8, 1e-3, 0.3, 5.0, 60.0],
        ),
        *values_of(
            numerics.log_gamma_ratio,
            lambda x, step: mp.loggamma(x + step) - mp.loggamma(x),
            {"rel": 2e-14, "abs": 2e-14},
            [1e-3, 0.5, 14.9, 15.1, 1e3, 5e6, 1e12],
            [0.5, 1.0, 7.3],
        ),
        *values_of(
            numerics.stirling_remainder,
            exact_stirling_remainder,
            {"abs": 1e-14},
            [0.1, 1.0, 14.9, 15.1, 1e3, 5e6],
        ),
        *values_of(
            numerics.expm1_excess,
            lambda y: mp.expm1(y) - y,
            {"rel": 1e-14},
            [-1e3, -1.0, -0.5, -1e-7, 1e-12, 0.3, 0.51, 5.0],
        ),
    ],
)
def test_functions_have_the_digits_that_they_state(function, exact, tolerance, given):
    with mp.workdps(400):
        expected = float(exact(*map(mp.mpf, given)))
    assert function(*given) == pytest.approx(expected, **tolerance)


def test_falling_root_finds_roots_on_both_sides_of_the_start_and_stops_at_the_ends():
    target = np.array([0.1, 1.0, 7.0, 300.0, -5.0, 1e7])
    root = numerics.falling_root(
        lambda x, goal: goal - x,
        np.full(6, 5.0),
        np.ones(6),
        floor=0.0,
        ceiling=1e6,
        args=(target,),
    )
    np.testing.assert_allclose(root, target.clip(0.0, 1e6), rtol=1e-12)


def falling_parabolas(x):
    """The log of e^height times a normal density; width and centre differ by row."""
    rows = [[0.0, 1, 0], [7000, 1e-4, -5e3], [-0.3, 30, 2e5]]
    centre, width, height = np.array(rows).T[..., None]
    return height - 0.5 * ((x - centre) / width) ** 2


def test_log_integral_of_normals_far_away_and_narrow():
    value, error = numerics.log_integral(falling_parabolas, np.full(3, -1.0), np.full(3, 1.0))
    expected = np.array([0, -5e3, 2e5]) + np.log([1, 1e-4, 30]) + numerics.LOG_SQRT_2PI
    np.testing.assert_allclose(value, expected, rtol=1e-14, atol=1e-13)
    assert (error < 1e-10).all()


@pytest.mark.parametrize("order", [0.5, 1.0, 7.3, 1e6])
def test_log_integral_of_gamma_densities(order):
    value, _ = numerics.log_integral(
        lambda x: order * x - np.exp(x), np.zeros(1), np.ones(1) + np.log(order)
    )
    assert value[0] == pytest.approx(float(mp.loggamma(order)), rel=1e-14, abs=1e-13)


def test_log_integral_of_nothing_is_minus_infinity():
    value, error = numerics.log_integral(
        lambda x: np.full(x.shape, -np.inf), np.zeros(2), np.ones(2)
    )
    assert value.tolist() == [-np.inf, -np.inf]
    assert error.tolist() == [0.0, 0.0]
