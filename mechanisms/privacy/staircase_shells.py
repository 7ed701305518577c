"""The shells of staircase noise: which ball a draw is uniform in, and the best first edge.

Noise in a norm whose density falls by the factor e^-epsilon at the radii (k + theta) w, k = 0, 1,
..., is a mixture of uniform laws on these balls, the k-th with probability proportional to
e^(-epsilon k) (k + theta)^M. At theta in (0, 1] and w = 1 everything else follows.
"""

import functools
import math

import numpy as np
import scipy

# Beyond so many shells K-norm noise has the same error within a millionth.
LARGEST = 1 << 14
# e^-epsilon and the first edge are floats up to here.
LARGEST_EPSILON = 500.0
# Shells of a probability below e^-110 of the largest are left out; their moments up to the eighth
# are below e^-70.
_LEFT_OUT = 110.0
_GRID = 257


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
    grid = np.linspace(-epsilon / (size + 2) - 5.0, 0.0, _GRID)
    costs = np.array([mean_square(size, epsilon, np.exp(block)) for block in grid])
    at = int(costs.argmin())
    found = scipy.optimize.minimize_scalar(
        lambda log: float(mean_square(size, epsilon, np.exp(log))),
        bounds=(grid[max(at - 1, 0)], grid[min(at + 1, _GRID - 1)]),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return math.exp(found.x if found.fun < costs[at] else grid[at])
