"""Stage 1 of DAWA: a partition of a vector into intervals whose cells are alike.

`dyadic_partition` is private; `published_partition` is what the authors publish, and is not.

The cost of a bucket is its deviation sum |x_i - mean|, which is the error of spreading its total
evenly, plus the expected size of the noise on that total. Laplace noise is added to the costs, and
the cheapest partition is chosen.

Sensitivity: if one cell of a bucket of l cells changes by 1, its distance from the mean changes by
at most 1 - 1/l and the distances of the l - 1 other cells by at most 1/l each. So the deviation
changes by at most 2 (1 - 1/l). A change of l1 norm D within the bucket is a chain of such changes
and moves the deviation by at most 2 (1 - 1/l) D. In a histogram whose records count B each, D <= B
if one record is added or removed, and D <= 2 B if one is replaced.
"""

import math
from collections.abc import Callable

import numpy as np

from mechanisms.strategies.greedy_h import bucket_tree


def dyadic_partition(
    values: np.ndarray,
    l1_sensitivity: float,
    epsilon: float,
    charge: float,
    rng: np.random.Generator,
    trials: int,
) -> np.ndarray:
    """Draw the cheapest partition into aligned intervals of 2^k cells; epsilon-DP.

    Proof: a cell lies in one aligned interval of every length l = 1, 2, 4, ... By the sensitivity
    above, a change of l1 norm D = l1_sensitivity moves the vector of all deviations by at most D S
    in l1 norm, where S is the sum of 2 (1 - 1/l) over the lengths. Every cost, including that of a
    single cell, gets Laplace noise of scale D S / epsilon, so publishing all costs would be
    epsilon-DP (Dwork et al. 2006). Clamping them and finding the cheapest partition is
    post-processing.

    (With intervals at every offset, a cell would lie in 2^k intervals of length 2^k. Single cells
    have no deviation, and the proof needs no noise on their costs. Without noise they would be the
    only buckets whose cost is never raised, and empty regions would be split into cells.)

    Args:
        values: (n,). If n is not a power of two, the last interval of a length may be shorter.
        l1_sensitivity: Largest l1 change of the values.
        charge: Cost of a bucket beyond its deviation, and the least cost that it can have.
        trials: Number of independent partitions.

    Returns:
        Whether a bucket starts at each cell, boolean (trials, n).
    """
    size = len(values)
    tree = bucket_tree(size)
    lengths = tree.counts(np.ones(size))
    sensitivity = sum(2 * (1 - 1 / length.max()) for length in lengths)
    scale = l1_sensitivity * sensitivity / epsilon
    splits = []
    best = None
    for level, (length, total) in enumerate(zip(lengths, tree.counts(values), strict=True)):
        starts = np.arange(0, size, 2**level)
        means = np.repeat(total / length, length.astype(int))
        deviations = np.add.reduceat(np.abs(values - means), starts)
        noise = rng.laplace(scale=scale, size=(trials, len(starts))) if scale else 0.0
        own = np.maximum(deviations + charge + noise, charge)
        children = own if best is None else tree.block_sums(best)
        splits.append(children < own)
        best = np.minimum(own, children)

    starts = np.zeros((trials, size), dtype=bool)
    reached = np.ones((trials, 1), dtype=bool)
    for level in range(tree.height - 1, -1, -1):
        starts[:, :: 2**level] |= reached & ~splits[level]
        if level:
            reached = tree.spread(reached & splits[level], level - 1)
    return starts


def published_partition(
    values: np.ndarray,
    l1_sensitivity: float,
    epsilon: float,
    charge: float,
    rng: np.random.Generator,
    trials: int,
) -> np.ndarray:
    """Draw the cheapest partition into intervals of 2^k cells at any offset, as published.

    The cost of an interval of l > 1 cells gets Laplace noise of scale
    (2 - 1/l - 1/n) l1_sensitivity / epsilon, the cost of a single cell none (Li et al. 2014,
    Section 3, and the code published with it). This is not epsilon-DP: a cell stays single if all
    longer intervals around it are expensive. Because its own cost has no noise, the effects of one
    record on all those intervals add up (see `log_all_single`).

    The arguments and the result are those of `dyadic_partition`.
    """
    size = len(values)
    deviations = running_deviations(values)
    # The longest comes first, because `argmin` takes the first of equal costs.
    lengths = 2 ** np.arange(len(deviations))[::-1]
    # costs[i, :, k] is the cost of the bucket of lengths[k] cells that ends before cell i.
    costs = np.full((size + 1, trials, len(lengths)), np.inf)
    for level, deviation in enumerate(deviations):
        place, length = -1 - level, 2**level
        scale = published_scale(length, size, l1_sensitivity, epsilon)
        noise = scale * rng.laplace(size=(trials, len(deviation)))
        costs[length:, :, place] = np.maximum(deviation + charge + noise, charge).T

    # The shortest path is found cell by cell, for all trials and lengths at once. A bucket that
    # would begin before the first cell has an infinite cost.
    rows = np.arange(trials)
    cheapest = np.zeros((trials, size + 1))
    chosen = np.zeros((trials, size + 1), dtype=int)
    for end in range(1, size + 1):
        totals = cheapest[:, end - lengths] + costs[end]
        cheapest[:, end] = totals.min(axis=1)
        chosen[:, end] = totals.argmin(axis=1)
    came_from = np.arange(size + 1) - lengths[chosen]
    came_from[:, 0] = 0  # trials whose path has ended stay there

    starts = np.zeros((trials, size), dtype=bool)
    place = np.full(trials, size)
    while place.any():
        place = came_from[rows, place]
        starts[rows, place] = True
    return starts


def log_all_single(
    size: int,
    deviations: Callable[[int], list[tuple[float, int]]],
    *,
    l1_sensitivity: float,
    epsilon: float,
    charge: float,
) -> float:
    """Return log P(`published_partition` makes every cell a bucket of its own), in closed form.

    This happens exactly if every interval of l > 1 cells costs more than its l single cells, which
    cost l times the charge: its deviation plus noise exceeds (l - 1) times the charge. The noise of
    the intervals is independent, so the probabilities multiply.

    Args:
        size: n.
        deviations: Maps l to the deviations of the n - l + 1 intervals of l cells, each with the
            number of intervals that have it; see `spikes` and `every_other`.
        l1_sensitivity, epsilon, charge: As in `published_partition`.
    """
    total = 0.0
    for level in range(1, size.bit_length()):
        length = 2**level
        scale = published_scale(length, size, l1_sensitivity, epsilon)
        for deviation, count in deviations(length):
            excess = ((length - 1) * charge - deviation) / scale
            tail = math.log(0.5) - excess if excess > 0 else math.log1p(-0.5 * math.exp(excess))
            total += count * tail
    return total


def spikes(size: int, changes: dict[int, float]) -> Callable[[int], list[tuple[float, int]]]:
    """Return the deviations, for `log_all_single`, of equal cells after up to two of them change.

    changes: Maps each changed cell to its change, in ascending order of the cells.
    """
    places = list(changes)

    def holding(low: int, high: int, length: int) -> int:
        """Return how many intervals contain all cells from low to high."""
        return max(0, min(low, size - length) - max(0, high - length + 1) + 1)

    def deviation(values: list[float], length: int) -> float:
        mean = sum(values) / length
        return sum(abs(v - mean) for v in values) + (length - len(values)) * abs(mean)

    def found(length: int) -> list[tuple[float, int]]:
        both = holding(places[0], places[-1], length) if len(places) > 1 else 0
        alone = [(holding(place, place, length) - both, changes[place]) for place in places]
        kinds = [(deviation([value], length), count) for count, value in alone]
        kinds.append((deviation(list(changes.values()), length), both))
        none = size - length + 1 - sum(count for _, count in kinds)
        return [*kinds, (0.0, none)]

    return found


def every_other(size: int, change: float) -> Callable[[int], list[tuple[float, int]]]:
    """Return the deviations, for `log_all_single`, of equal cells after every other one changes."""
    return lambda length: [(length * abs(change) / 2, size - length + 1)]


def published_scale(length: int, size: int, l1_sensitivity: float, epsilon: float) -> float:
    """Return the scale of the published noise on the cost of `length` out of `size` cells."""
    return (2 - 1 / length - 1 / size) * l1_sensitivity / epsilon if length > 1 else 0.0


def running_deviations(values: np.ndarray) -> list[np.ndarray]:
    """Return sum |x_i - mean| over every interval of 1, 2, 4, ... cells.

    Entry k has shape (n - 2^k + 1,), with one number for each first cell of an interval of 2^k
    cells. This takes O(n^2) time and O(n log n) memory.
    """
    sums = np.concatenate([[0.0], np.cumsum(values)])
    deviations = []
    for level in range(len(values).bit_length()):
        length = 2**level
        means = (sums[length:] - sums[:-length]) / length
        deviation = np.zeros(len(means))
        for place in range(length):
            deviation += np.abs(values[place : place + len(means)] - means)
        deviations.append(deviation)
    return deviations
