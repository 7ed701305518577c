"""Draws the loss ||W n||^2 of additive noise n, where the rows of W are the queries asked."""

import math

import numpy as np

from mechanisms.noise.distribution import Noise
from mechanisms.strategies.workload import Explicit, Workload

# The largest and the smallest number of draws.
MOST_DRAWS, LEAST_DRAWS = 10_000, 30
# The most floats drawn in all, and multiplications with dense Gram matrices: about a second each.
MOST_FLOATS, MOST_PRODUCTS = 1 << 25, 1 << 31
_AT_ONCE = 1 << 22


def sampled_losses(
    noise: Noise, factors: tuple[Workload, ...], seed: list[int]
) -> np.ndarray | None:
    """Draw ||W n||^2, (draws,); None if fewer than LEAST_DRAWS draws are affordable."""
    count = math.prod(factor.cells for factor in factors)
    products = count * sum(map(_products, factors))
    trials = min(MOST_DRAWS, MOST_FLOATS // count, MOST_PRODUCTS // max(products, 1))
    if trials < LEAST_DRAWS:
        return None
    rng = np.random.default_rng(seed)
    losses, at_once = np.empty(trials), max(1, _AT_ONCE // count)
    for start in range(0, trials, at_once):
        size = min(at_once, trials - start)
        losses[start : start + size] = weighted_squares(noise.sample(rng, size), factors)
    return losses


def weighted_squares(errors: np.ndarray, factors: tuple[Workload, ...]) -> np.ndarray:
    """Return ||W n||^2, (count,), of errors n, (count, *shape)."""
    errors = errors.reshape(len(errors), *(factor.cells for factor in factors))
    weighted = errors
    for axis, factor in enumerate(factors, 1):
        moved = np.moveaxis(weighted, axis, -1)
        weighted = np.moveaxis(factor.gram_times(moved), -1, axis)
    return np.sum(errors * weighted, axis=tuple(range(1, errors.ndim)))


def _products(workload: Workload) -> int:
    """Return the multiplications of `gram_times` per number; 0 if it uses no dense matrix."""
    if isinstance(workload, Explicit):
        return workload.queries
    return workload.cells if type(workload).gram_times is Workload.gram_times else 0
