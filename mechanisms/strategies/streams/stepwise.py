"""C^-1 z one step at a time, for streams whose vectors do not all fit into memory.

Each function takes the draws z_1, z_2, ... as an iterable of vectors of one size, keeps as many
vectors as it says, and yields the noise of every step when that step's draw is made.
"""

from collections.abc import Iterable, Iterator

import numpy as np


def moving_average(draws: Iterable[np.ndarray], coefficients: np.ndarray) -> Iterator[np.ndarray]:
    """sum_j coefficients_j z_{t-j}: the first column of C^-1, (p,). Keeps p - 1 draws."""
    kept = Recent(coefficients[1:])
    for draw in draws:
        made = float(coefficients[0]) * draw + kept.weighted(draw)
        kept.add(draw)
        yield made


def recursion(draws: Iterable[np.ndarray], coefficients: np.ndarray) -> Iterator[np.ndarray]:
    """The y with sum_j coefficients_j y_{t-j} = z_t: that of C, (p,). Keeps p - 1 results."""
    kept = Recent(coefficients[1:])
    for draw in draws:
        made = (draw - kept.weighted(draw)) / float(coefficients[0])
        kept.add(made)
        yield made


def buffered_recursion(
    draws: Iterable[np.ndarray], rates: np.ndarray, weights: np.ndarray
) -> Iterator[np.ndarray]:
    """`recursion` for 1, c_1, c_2, ... with c_i = sum_j weight_j rate_j^(i-1): a buffer per rate.

    McMahan et al. 2024 (arXiv:2408.08868), Algorithm 1.
    """
    buffers: np.ndarray | None = None
    for draw in draws:
        if buffers is None:
            buffers = np.zeros((len(rates), *draw.shape), draw.dtype)
            rates, weights = (each.astype(draw.dtype) for each in (rates, weights))
        made = draw - np.tensordot(weights, buffers, 1)
        buffers *= rates.reshape(-1, *[1] * draw.ndim)
        buffers += made
        yield made


def forward_substitution(
    draws: Iterable[np.ndarray], lower: np.ndarray, bands: int
) -> Iterator[np.ndarray]:
    """The y with lower y = z, (n, n) lower-triangular. Keeps bands - 1 results."""
    before = bands - 1
    kept: np.ndarray | None = None
    for step, draw in enumerate(draws):
        if kept is None:
            kept = np.zeros((before, *draw.shape), draw.dtype)
        steps = np.arange(max(step - before, 0), step)
        weights = lower[step, steps].astype(draw.dtype)
        # Nothing is kept, and nothing is before the first step, with one band.
        earlier = np.tensordot(weights, kept[steps % max(before, 1)], 1)
        made = (draw - earlier) / float(lower[step, step])
        if before:
            kept[step % before] = made
        yield made


class Recent:
    """The last vectors, and their weighted sum.

    Args:
        weights: Those of the last vector, of the one before it, and so on, (p,).
    """

    def __init__(self, weights: np.ndarray) -> None:
        self.weights = weights
        self.vectors: np.ndarray | None = None
        self.added = 0

    def weighted(self, like: np.ndarray) -> np.ndarray:
        """The weighted sum, of the shape and precision of `like`."""
        if not len(self.weights):
            return np.zeros_like(like)
        if self.vectors is None:
            self.vectors = np.zeros((len(self.weights), *like.shape), like.dtype)
        # The vector that was added last lies at added - 1, modulo p.
        ages = (self.added - 1 - np.arange(len(self.weights))) % len(self.weights)
        return np.tensordot(self.weights[ages].astype(like.dtype), self.vectors, 1)

    def add(self, vector: np.ndarray) -> None:
        """Put a vector in the place of the oldest."""
        if len(self.weights):
            self.vectors[self.added % len(self.weights)] = vector
            self.added += 1
