"""Computes the least second moment of epsilon-DP noise, which staircase noise attains."""

import functools
import math

import numpy as np
import scipy

# The number of cells of theta for each unit of epsilon.
_CELLS = 300
# Below this ripple of the sums S_j, theta hardly matters.
_SMOOTH = 1e-6
# Covers rounding and the shells that are left out.
_MARGIN = 1e-11
# Shells with a probability below e^-110 of the largest are left out. Their moments up to the eighth
# are below e^-70.
_LEFT_OUT = 110.0


@functools.lru_cache(maxsize=256)
def pure_limit(dimension: int, epsilon: float) -> float:
    """Bound the least E||n||^2 of epsilon-DP noise n from below, for changes in the l2 unit ball.

    With M = `dimension` it is the minimum over theta of M / (M + 2) S_(M+2) / S_M, where
    S_j = sum_k e^(-epsilon k) (k + theta)^j: docs/the_limit.md. For one element Geng and
    Viswanath, "The optimal mechanism in differential privacy" (2014), Theorem 3 with cost x^2, have
    a closed form: (2^(-2/3) b^(2/3) (1 + b)^(2/3) + b) / (1 - b)^2, b = e^-epsilon.

    If epsilon <= 10, the bound is at most 1e-4 below the least, relatively.
    """
    if dimension == 1:
        b = math.exp(-epsilon)
        value = ((b * (1 + b) / 2) ** (2 / 3) + b) / math.expm1(-epsilon) ** 2
        return value * (1 - 1e-14)
    above, below = _ripple(dimension, epsilon), _ripple(dimension + 2, epsilon)
    if above < _SMOOTH:
        return (
            dimension * (dimension + 1.0) / epsilon**2 * (1 - below) / (1 + above) * (1 - _MARGIN)
        )
    # A cell of width h loses about (epsilon h)^2. For large epsilon the best theta is near 0.
    least = math.exp(-epsilon / (dimension + 2) - 5.0)
    nodes = np.union1d(
        np.linspace(0.0, 1.0, math.ceil(_CELLS * max(epsilon, 0.2)) + 1),
        np.geomspace(least, 1.0, _CELLS),
    )
    sums = _sums(dimension, epsilon, nodes)
    return float(_on_cells(dimension, nodes, sums).min()) * (1 - _MARGIN)


def _ripple(power: int, epsilon: float) -> float:
    """Bound the relative distance of S_power from e^(epsilon theta) power! / epsilon^(power + 1).

    By Poisson summation it is at most 2 sum_m |1 + 2 pi i m / epsilon|^-(power + 1), m >= 1.
    """
    terms = 2 * math.pi / epsilon * np.arange(1.0, 2001.0)
    rest = 2000 / power * terms[-1] ** -(power + 1.0)
    return 2 * float(np.exp(-(power + 1) / 2 * np.log1p(terms**2)).sum() + rest)


def _on_cells(dimension: int, nodes: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """Return lower bounds on the second moment between neighbouring nodes of theta.

    The sums S_j rise with theta. So on a cell the derivative of S_(M+2) / S_M,
    ((M + 2) S_(M+1) S_M - M S_(M-1) S_(M+2)) / S_M^2, lies between two numbers.
    """
    width = np.diff(nodes)
    (b0, b1, b2, b3), (t0, t1, t2, t3) = sums[:, :-1], sums[:, 1:]
    least, most = (
        ((dimension + 2) * b2 * b1 - dimension * t0 * t3),
        ((dimension + 2) * t2 * t1 - dimension * b0 * b3),
    )
    from_left = b3 / b1 + np.minimum(least / b1 / b1, 0.0) * width
    from_right = t3 / t1 - np.maximum(most / b1 / b1, 0.0) * width
    found = np.maximum(np.maximum(from_left, from_right), b3 / t1)
    return dimension / (dimension + 2) * found


def _sums(dimension, epsilon, theta):
    """Return S_(M-1), ..., S_(M+2), (4, n) for theta (n,), times one number for all."""
    first, last = _first_and_last(dimension, epsilon)
    shells = np.arange(first, last + 1)
    edges = shells + theta[:, None]
    middle = dimension / epsilon
    # M >= 2 here, so the weight of a radius of 0 is 0.
    falls = epsilon * (shells - middle)
    weights = np.exp(scipy.special.xlogy(dimension - 1, edges / middle) - falls)
    return np.array([(weights * edges**j).sum(axis=1) for j in range(4)])


def _first_and_last(dimension: int, epsilon: float) -> tuple[int, int]:
    """Return the first and the last shell k whose probability counts, whatever theta is.

    x^M e^(-epsilon x) is e^(-c) of its largest value at x = -W(-e^(-1 - c/M)) M / epsilon, for the
    two real branches of the Lambert function W.
    """
    inner = -math.exp(-1 - _LEFT_OUT / dimension)
    low, high = (-scipy.special.lambertw(inner, branch).real for branch in (0, -1))
    return max(int(low * dimension / epsilon) - 2, 0), int(high * dimension / epsilon) + 3
