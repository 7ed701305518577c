"""Stage 2 of DAWA: GreedyH, a binary tree over buckets whose weights suit range queries."""

import numpy as np

from mechanisms.strategies.tree import BlockTree, TreeLeastSquares

# Shares of the budget that a block may leave to its children.
SHARES = np.arange(100, 0, -1) / 100


def bucket_tree(buckets: int) -> BlockTree:
    """Return the binary tree over the buckets, including its root."""
    return BlockTree(shape=(buckets,), branching=2, height=(buckets - 1).bit_length() + 1)


def greedy_weights(lengths: np.ndarray) -> list[np.ndarray]:
    """Return the weights of all blocks of a binary tree over buckets, by level, buckets first.

    From the buckets up, every block keeps the share 1 - p of its budget for its own total and
    leaves the share p to its children. p in {0.01, ..., 1} is the best for the part of the workload
    within the block (Li et al. 2014, Section 4). The workload is all ranges of cells, and every
    bucket is spread evenly over its cells. The weights along a path from the root to a bucket add
    up to 1, so the l1 norm of every column of the strategy is 1.

    Let C be the covariance of the children's estimates for unit noise, u = C 1, k = 1' u and W the
    workload. Measuring the block itself changes C to (C - g u u') / p^2 with g = q / (p^2 + k q)
    and q = (1-p)^2 (Sherman and Morrison). The error tr(W C W') becomes
    (tr(W C W') - g |W u|^2) / p^2. Because the levels above will measure too, the published code
    damps this gain at depth d below the root by t = 2^(-d/2): once in q, and once in the excess of
    |W u|^2 over the sum of the children's |W u|^2. This function does the same.

    Args:
        lengths: Cells per bucket, (k,) integers.
    """
    tree = bucket_tree(len(lengths))
    ends = np.cumsum(lengths)
    response = np.ones(len(lengths))  # u of the block that contains each bucket
    error = _range_energy(response, lengths, ends - lengths, ends)
    mass, apart = response.copy(), error.copy()  # k of each block; |W u|^2 of each block
    own, kept = [np.ones(len(lengths))], []
    for level in range(1, tree.height):
        blocks = np.arange(0, len(lengths), 2**level)
        block_ends = ends[np.minimum(blocks + 2**level, len(lengths)) - 1]
        block_starts = ends[blocks] - lengths[blocks]
        energy = _range_energy(response, lengths, block_starts, block_ends)
        mass, error, apart = (tree.block_sums(each) for each in (mass, error, apart))
        damping = 2 ** (-(tree.height - 1 - level) / 2)
        damped = (1 - SHARES) ** 2 * damping
        gains = damped / (SHARES**2 + mass[:, None] * damped)
        reach = apart + damping * (energy - apart)
        errors = (error[:, None] - gains * reach[:, None]) / SHARES**2
        share, error = SHARES[errors.argmin(axis=1)], errors.min(axis=1)
        shrink = 1 / (share**2 + mass * (1 - share) ** 2)
        mass, apart = mass * shrink, energy * shrink**2
        response *= np.repeat(shrink, 2**level)[: len(lengths)]
        own.append(1 - share)
        kept.append(share)
    left = np.ones(1)
    for level in range(tree.height - 1, -1, -1):
        own[level] = own[level] * left
        if level:
            left = tree.spread(left * kept[level - 1], level - 1)
    return own


def noisy_totals(
    totals: np.ndarray, lengths: np.ndarray, scale: float, rng: np.random.Generator, trials: int
) -> np.ndarray:
    """Estimate bucket totals (k,) from noisy weighted measurements, (trials, k).

    Every weighted total gets Laplace noise of `scale`. This is epsilon-DP for
    scale = l1_sensitivity / epsilon, because the weights along the path to a bucket add up to 1.
    """
    weights = greedy_weights(lengths)
    tree = bucket_tree(len(lengths))
    measured, variances = [], []
    for weight, count in zip(weights, tree.counts(totals), strict=True):
        noise = rng.laplace(scale=scale, size=(trials, len(count)))
        # Blocks of weight 0 are not measured: neither their count nor noise enters the estimate.
        used = weight > 0
        measured.append(np.divide(count * weight + noise, weight, where=used, out=0 * noise))
        variances.append(np.divide(1.0, weight**2, where=used, out=np.full(len(count), np.inf)))
    return TreeLeastSquares(tree=tree, variances=tuple(variances)).estimate(measured)


def _range_energy(
    response: np.ndarray, lengths: np.ndarray, starts: np.ndarray, ends: np.ndarray
) -> np.ndarray:
    """Return |W v|^2 for every block: W is all ranges of cells, and v is the response within it.

    A block holds the cells from its start to before its end, outside of which v is 0. The blocks
    tile all n cells. The sum of v over a range is a difference of two of the n + 1 prefix sums P_i
    of v, so the squares of all ranges add up to (n + 1) sum P_i^2 - (sum P_i)^2. The prefix sums
    are 0 before the block and constant after it.
    """
    cells = ends[-1]
    prefix = np.cumsum(np.repeat(response / lengths, lengths))
    before = np.concatenate([[0.0], prefix])[starts]
    prefix -= np.repeat(before, ends - starts)
    total, after = prefix[ends - 1], cells - ends
    squares = np.add.reduceat(prefix**2, starts) + after * total**2
    sums = np.add.reduceat(prefix, starts) + after * total
    return (cells + 1) * squares - sums**2
