"""The shells of staircase noise: which ball a draw is uniform in, and the best first and last edge.

Noise in a norm whose density falls by the factor e^-epsilon at the radii (k + theta) w, k = 0, 1,
..., is a mixture of uniform laws on these balls, the k-th with probability proportional to
e^(-epsilon k) (k + theta)^M. At theta in (0, 1] and w = 1 everything else follows. The density of
one number may also end at a radius, where delta pays for what is beyond.
"""

import functools
import math
from collections.abc import Callable

import numpy as np
import scipy

from mechanisms.privacy.numerics import ULP

# Beyond so many shells K-norm noise has the same error within a millionth.
LARGEST = 1 << 14
# e^-epsilon and the first edge are floats up to here.
LARGEST_EPSILON = 500.0
# Shells of a probability below e^-110 of the largest are left out; their moments up to the eighth
# are below e^-70.
_LEFT_OUT = 110.0
_GRID = 257
# Of delta: covers the rounding of the probabilities, so that a cut is proven to keep the budget.
_ALLOWED = 1e-11
# The most, of delta, that the rounding of the end may cost, and the least delta that is cut for.
_MOST_ROUNDING, _LEAST_DELTA = 1e-7, 1e-280


def first_and_last(size: int, epsilon: float) -> tuple[int, int]:
    """The shells k whose probability counts, whatever theta is; M = `size`.

    x^M e^(-epsilon x) is e^(-c) of its largest value at -W(-e^(-1 - c/M)) M / epsilon.
    """
    inner = -math.exp(-1 - _LEFT_OUT / size)
    low, high = (-scipy.special.lambertw(inner, branch).real for branch in (0, -1))
    return max(int(low * size / epsilon) - 2, 0), int(high * size / epsilon) + 3


def edges_and_probabilities(
    size: int, epsilon: float, theta: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Radii k + theta of the shells, and how likely each is; arrays (*theta.shape, K)."""
    first, last = first_and_last(size, epsilon)
    edges = np.arange(first, last + 1) + np.asarray(theta, float)[..., None]
    logs = size * np.log(edges) - epsilon * edges
    weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return edges, weights / weights.sum(axis=-1, keepdims=True)


def mean_square(size: int, epsilon: float, theta: np.ndarray) -> np.ndarray:
    """E R^2 of the radius R = k + theta of the ball, (*theta.shape)."""
    edges, probabilities = edges_and_probabilities(size, epsilon, theta)
    return (probabilities * edges**2).sum(axis=-1)


@functools.lru_cache(maxsize=256)
def best_theta(size: int, epsilon: float) -> float:
    """The theta of least E R^2, which is also that of least E ||x||^2 in any norm.

    For large epsilon it is about e^(-epsilon / (M + 2)): the search is in its logarithm.
    """
    return math.exp(
        _least(
            lambda log: float(mean_square(size, epsilon, np.exp(log))),
            -epsilon / (size + 2) - 5.0,
            0.0,
        )
    )


def _least(cost: Callable[[float], float], low: float, high: float) -> float:
    """Where a function is least: on a grid, and then between its neighbours."""
    grid = np.linspace(low, high, _GRID)
    costs = np.array([cost(each) for each in grid])
    at = int(costs.argmin())
    found = scipy.optimize.minimize_scalar(
        cost,
        bounds=(grid[max(at - 1, 0)], grid[min(at + 1, _GRID - 1)]),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return found.x if found.fun < costs[at] else grid[at]


def cut_edges_and_probabilities(
    epsilon: float, theta: float, end: float
) -> tuple[np.ndarray, np.ndarray]:
    """Those of one number, M = 1, whose density ends at the radius `end`; arrays (K,)."""
    inner = np.arange(max(math.ceil(end - theta), 0)) + theta
    edges = np.append(inner[inner < end], end)
    falls = np.full(len(edges), -math.expm1(-epsilon))
    falls[-1] = 1.0
    weights = falls * np.exp(-epsilon * np.arange(len(edges))) * edges
    return edges, weights / weights.sum()


def end_of_cut(epsilon: float, delta: float, theta: float) -> float:
    """The radius beyond which (epsilon, delta) allows no density; M = 1, theta as below.

    A change of 1 crosses one edge, whose loss epsilon allows, or leaves the support. So delta is
    the probability of the last unit, from `end` - 1 to `end`. With b = e^-epsilon, n whole steps
    beyond theta and a share f of another one, it is

        b^n (1 - f + f b) / (2 (theta + b + ... + b^n + f b^(n + 1))).
    """
    odds = math.expm1(epsilon)
    # b^-(n + 1) - 1 where it is delta with f = 1.
    fallen = odds * (1 - 2 * delta * theta) / (2 * delta * (theta * odds + 1))
    n = max(math.ceil(math.log1p(fallen) / epsilon) - 1, 0)
    inside = theta * math.exp(n * epsilon) + math.expm1(n * epsilon) / odds
    whole = 2 * delta * math.exp(-epsilon) - math.expm1(-epsilon)
    return theta + n + min(max((1 - 2 * delta * inside) / whole, 0.0), 1.0)


def _first_edges(epsilon: float, delta: float) -> tuple[float, float]:
    """The ends of theta: at 1 / (2 delta) the noise is uniform, and `end` is at least 1 - theta."""
    if delta <= 0.5:
        return math.exp(-epsilon / 3 - 5.0), 1.0
    b, widest = math.exp(-epsilon), 1 / (2 * delta)
    least = b * (2 * delta - 1) / (2 * ((1 - delta) * (1 - b) + delta * b))
    return max(least, widest * math.exp(-epsilon / 3 - 5.0)), widest


@functools.lru_cache(maxsize=256)
def best_cut(epsilon: float, delta: float) -> tuple[float, float] | None:
    """The first edge and the end of least E x^2 at M = 1.

    None for more edges than LARGEST, and beyond epsilon of about 17: there the error hardly depends
    on delta, and the last step is below rounding.
    """
    # `end` is rounded, which moves the probability of the last unit by this share.
    steps = min(math.log(1 / delta) / epsilon, 1 / delta)
    rounding = 4 * ULP * math.exp(min(epsilon, 100.0)) * (2 + steps)
    if rounding > _MOST_ROUNDING or delta < _LEAST_DELTA:
        return None
    paid = delta * (1 - _ALLOWED - rounding)
    first_edges = _first_edges(epsilon, paid)
    if end_of_cut(epsilon, paid, first_edges[0]) >= LARGEST:
        return None

    def cost(log: float) -> float:
        theta = math.exp(log)
        edges, probabilities = cut_edges_and_probabilities(
            epsilon, theta, end_of_cut(epsilon, paid, theta)
        )
        return float(probabilities @ edges**2)

    theta = math.exp(_least(cost, *np.log(first_edges)))
    return theta, end_of_cut(epsilon, paid, theta)
