"""Small numerical helpers that keep their relative accuracy where the naive formula loses it."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np
import scipy

ULP = float(np.finfo(float).eps)
LOG_SQRT_2PI = 0.5 * np.log(2 * np.pi)
# Steps of the trapezoidal rule; even, so that every second node makes a rule too.
_INTEGRAL_STEPS = 1024
# Values below e^-45 of a peak are negligible beside it.
_DROP = 45.0


def log1mexp(x: np.ndarray) -> np.ndarray:
    """Return log(1 - e^x) for x <= 0; -inf at x = 0.

    The switch at -log 2 keeps full relative accuracy (Maechler 2012, equation 7).
    """
    x = np.asarray(x, dtype=float)
    with np.errstate(divide="ignore"):
        return np.where(x > -np.log(2), np.log(-np.expm1(x)), np.log1p(-np.exp(x)))


def written(number: float) -> Fraction:
    """Return the rational that a finite float64 prints as: 1/10 for 0.1, so 3 times 0.1 is 0.3."""
    return Fraction(repr(float(number)))


def written_above(exact: Fraction) -> float:
    """Return the least float64 whose `written` value is at least `exact`."""
    found = float(exact)
    return found if written(found) >= exact else math.nextafter(found, math.inf)


def log_mills(x: np.ndarray) -> np.ndarray:
    """Return log R(x), R(x) = Phi(-x) / phi(x) the Mills ratio of the standard normal, x finite."""
    x = np.asarray(x, dtype=float)
    # Use each form where it is accurate: erfcx overflows below -26, x^2 / 2 cancels above 0.
    upper = np.log(scipy.special.erfcx(np.maximum(x, 0.0) / np.sqrt(2))) + 0.5 * np.log(np.pi / 2)
    low = np.minimum(x, 0.0)
    with np.errstate(over="ignore"):
        lower = scipy.special.log_ndtr(-low) + 0.5 * low**2 + LOG_SQRT_2PI
    return np.where(x > 0, upper, lower)


def mills_slope(x: np.ndarray) -> np.ndarray:
    """Return -R'(x) = 1 - x R(x) for the Mills ratio R, -25 < x <= 1e150; relative error 1e-12.

    1 - x R(x) cancels like 1/x^2. Above 30 its asymptotic series 1/x^2 - 3/x^4 + 15/x^6 - ...
    (Abramowitz and Stegun 7.1.23, differentiated) is exact to 1e-16 after eight terms.
    """
    x = np.asarray(x, dtype=float)
    near = np.minimum(x, 30.0)
    direct = 1 - near * np.sqrt(np.pi / 2) * scipy.special.erfcx(near / np.sqrt(2))
    inverse_square = np.maximum(x, 30.0) ** -2.0
    series = np.zeros_like(x)
    for odd in (15, 13, 11, 9, 7, 5, 3):
        series = 1 - odd * inverse_square * (1 if odd == 15 else series)
    return np.where(x > 30, inverse_square * series, direct)


def log_mills_difference(x: np.ndarray, width: np.ndarray) -> np.ndarray:
    """Return log(R(x) - R(x + width)) - log R(x), R the Mills ratio; x >= -width / 2, width > 0.

    If R(x) and R(x + width) differ by less than 10%, their difference is the integral of -R' over
    the interval, by eight Gauss-Legendre nodes; R is so smooth that this is exact to rounding.
    """
    ratio = log_mills(x + width) - log_mills(x)
    result = log1mexp(np.minimum(ratio, 0.0))
    close = ratio > np.log(0.9)
    if close.any():
        start, step = x[close], width[close]
        nodes, weights = unit_gauss_legendre(8)
        mean_slope = mills_slope(start[:, None] + step[:, None] * nodes) @ weights
        result[close] = np.log(step) + np.log(mean_slope) - log_mills(start)
    return result


@cache
def unit_gauss_legendre(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the nodes and weights of the Gauss-Legendre rule on [0, 1]; weights sum to 1."""
    nodes, weights = scipy.special.roots_legendre(count)
    return 0.5 * (nodes + 1), 0.5 * weights


def stirling_remainder(x: float) -> float:
    """Return log Gamma(x) - ((x - 1/2) log x - x + log sqrt(2 pi)), x > 0, to 1e-14 absolute."""
    if x < 15:
        return float(scipy.special.gammaln(x) - (x - 0.5) * np.log(x) + x - LOG_SQRT_2PI)
    z = 1 / x
    return z / 12 - z**3 / 360 + z**5 / 1260 - z**7 / 1680 + z**9 / 1188


def log_gamma_ratio(x: float, step: float) -> float:
    """Return log(Gamma(x + step) / Gamma(x)) for x > 0, step >= 0.

    A difference of log-gammas loses digits like x log x. From x = 15 on, Stirling's formula keeps
    the error to 1e-14 of step log x; below, the error is the rounding of the two log-gammas.
    """
    if x < 15:
        return float(scipy.special.gammaln(x + step) - scipy.special.gammaln(x))
    remainder = stirling_remainder(x + step) - stirling_remainder(x)
    return float((x - 0.5) * np.log1p(step / x) + step * (np.log(x + step) - 1) + remainder)


def expm1_excess(y: np.ndarray) -> np.ndarray:
    """Return e^y - 1 - y for any y, to full relative accuracy."""
    y = np.asarray(y, dtype=float)
    small = np.clip(y, -0.5, 0.5)
    series = np.ones_like(small)
    for order in range(16, 2, -1):
        series = 1 + small / order * series
    return np.where(np.abs(y) <= 0.5, 0.5 * small**2 * series, np.expm1(y) - y)


def complex_power(values: np.ndarray, exponent: int) -> np.ndarray:
    """Return values^exponent for |values| <= 1, with 0 for powers of modulus below e^-90.

    e^-90 is far below rounding. Repeated squaring is ten times as fast as numpy's power of complex
    numbers. With many components only some hundred frequencies remain.
    """
    result = np.zeros_like(values)
    kept = np.abs(values) > np.exp(-90 / exponent)
    squares, powers = values[kept], np.ones(np.count_nonzero(kept), values.dtype)
    while exponent:
        if exponent % 2:
            powers = powers * squares
        squares = squares * squares
        exponent //= 2
    result[kept] = powers
    return result


def falling_root(
    function: Callable[..., np.ndarray],
    start: np.ndarray,
    width: np.ndarray,
    *,
    floor: float,
    ceiling: float,
    args: tuple[np.ndarray, ...] = (),
    tolerance: float = 1e-12,
) -> np.ndarray:
    """Find roots in [floor, ceiling] of a finite non-increasing function by Chandrupatla's method.

    From `start`, steps of `width`, doubling, go up or down until the function changes sign. The
    method then stops if |function| <= tolerance, or if a few ulps bracket the root. Returns
    `floor` if the function is negative everywhere, `ceiling` if it is positive. Flat arrays.
    """
    # Unlike the attributes of scipy, this submodule is not loaded when it is first asked for.
    from scipy.optimize import elementwise

    low, high = start.copy(), start.copy()
    at_start = function(start, *args)
    up, down = at_start > 0, at_start <= 0
    step = width.copy()
    while up.any() or down.any():
        high[up] = np.minimum(start[up] + step[up], ceiling)
        low[down] = np.maximum(start[down] - step[down], floor)
        moved = function(np.where(up, high, low), *args)
        up_again = up & (moved > 0) & (high < ceiling)
        down_again = down & (moved <= 0) & (low > floor)
        low[up_again], high[down_again] = high[up_again], low[down_again]
        up, down, step = up_again, down_again, 2 * step
    result = elementwise.find_root(
        function,
        (low, high),
        args=args,
        tolerances={"xatol": 0.0, "xrtol": 1e-15, "fatol": tolerance, "frtol": 0.0},
    )
    # No change of sign: the root lies beyond the end that was reached.
    return np.where(result.status == -1, np.where(at_start > 0, ceiling, floor), result.x)


def peak_window(
    log_function: Callable[[np.ndarray], np.ndarray],
    low: np.ndarray,
    high: np.ndarray,
    *,
    points: int = 129,
) -> tuple[np.ndarray, np.ndarray]:
    """Find where n unimodal functions are above e^-45 of their peaks.

    Returns both ends of the intervals, arrays of shape (n,). log_function maps x (n, points), one
    row per function, to logarithms, which must fall without bound on both sides. The search starts
    at [low, high], moves outwards if the peak or its slopes leave the interval, and narrows it
    until at least an eighth of the points lies within. A row that is -inf at every point of the
    search keeps an arbitrary interval.
    """
    grid = np.linspace(0.0, 1.0, points)
    while True:
        width = high - low
        values = log_function(low[:, None] + width[:, None] * grid)
        peak = values.max(axis=1)
        near = values > peak[:, None] - _DROP
        first, last = near.argmax(axis=1), points - 1 - near[:, ::-1].argmax(axis=1)
        leaves_low, leaves_high = first == 0, last == points - 1
        step = width / (points - 1)
        low, high = (
            np.where(leaves_low, low - width, low + (first - 1) * step),
            np.where(leaves_high, high + width, low + (last + 1) * step),
        )
        settled = ~(leaves_low | leaves_high) & (last - first >= points // 8)
        if (settled | (peak == -np.inf)).all():
            return low, high


def log_integral(
    log_function: Callable[[np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the logs of the integrals of n functions over the real line, and relative errors.

    Both have the shape (n,). The functions and the starting intervals are as in `peak_window`. The
    functions must be analytic and fall exponentially or faster: the trapezoidal rule then converges
    faster than any power of the step (Trefethen and Weideman 2014). The error is the difference
    from the rule of every second node.
    """
    low, high = peak_window(log_function, low, high)
    step = (high - low) / _INTEGRAL_STEPS
    values = log_function(low[:, None] + step[:, None] * np.arange(_INTEGRAL_STEPS + 1))
    peak = values.max(axis=1)
    shares = np.exp(values - np.where(peak > -np.inf, peak, 0.0)[:, None])
    fine, coarse = shares.sum(axis=1), 2 * shares[:, ::2].sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.where(fine > 0, np.abs(fine - coarse) / fine, 0.0)
        return peak + np.log(step * fine), error
