"""Counts of a histogram in a tree of blocks, and least-squares estimates of the cells."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True, kw_only=True)
class BlockTree:
    """A hierarchy of blocks over a histogram; every level is a partition of its cells.

    Level k holds the blocks of branching^k cells per axis, and level 0 the cells themselves. Blocks
    are aligned to the first cell. If the length of an axis is not a power of the branching, the
    last block of a level holds the cells that are left. Nothing is padded, so no count is known
    beforehand.

    Args:
        shape: Cells per axis.
        branching: Children per axis, at least 2.
        height: Number of levels, at least 1. Levels of larger blocks are not part of the tree.
    """

    shape: tuple[int, ...]
    branching: int
    height: int

    @cached_property
    def level_shapes(self) -> tuple[tuple[int, ...], ...]:
        """Blocks per axis of every level, the cells first."""
        widths = (self.branching**level for level in range(self.height))
        return tuple(tuple(-(-n // width) for n in self.shape) for width in widths)

    def block_sums(self, values: np.ndarray) -> np.ndarray:
        """Sum over the children of every block of the next level; leading axes are kept."""
        for axis in range(-len(self.shape), 0):
            starts = np.arange(0, values.shape[axis], self.branching)
            values = np.add.reduceat(values, starts, axis=axis)
        return values

    def spread(self, values: np.ndarray, level: int) -> np.ndarray:
        """Copy the value of every block of the level above `level` to each of its children."""
        for axis, count in enumerate(self.level_shapes[level], start=-len(self.shape)):
            parents = np.arange(count) // self.branching
            values = values.take(parents, axis=axis)
        return values

    def counts(self, histogram: np.ndarray) -> list[np.ndarray]:
        """Return the sums of the histogram (..., *shape) over the blocks of every level."""
        levels = [histogram]
        while len(levels) < self.height:
            levels.append(self.block_sums(levels[-1]))
        return levels


@dataclass(frozen=True, kw_only=True, eq=False)
class TreeLeastSquares:
    """The generalised least-squares estimate of the cells from measured counts of all blocks.

    The pass up the tree estimates every block from its own subtree: it averages the measured count
    and the sum of the children's estimates, weighted by their precisions. The pass down shares the
    difference between a block's final estimate and that sum among its children, in proportion to
    their variances (Hay et al. 2010, Theorem 3, for any variances and numbers of children). Each
    pass visits every block once.

    Args:
        tree: Its top level may have many blocks, which share no measured parent.
        variances: Variance of the measured count of every block, one array of the level's shape
            per level; infinite if a block above the cells is not measured.
    """

    tree: BlockTree
    variances: tuple[np.ndarray, ...]

    @cached_property
    def _passes(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """The gains (weights of a block's own count) and shares (of the parent's news) by level.

        The gain of level 0 is not used, and the top level has no shares.
        """
        below = self.variances[0]
        gains, shares = [np.ones(())], []
        for level in range(1, self.tree.height):
            total = self.tree.block_sums(below)
            shares.append(below / self.tree.spread(total, level - 1))
            gains.append(total / (total + self.variances[level]))
            below = total * (1 - gains[level])
        return gains, shares

    def estimate(self, measured: list[np.ndarray]) -> np.ndarray:
        """Estimate the cells (..., *shape) from the measured counts of every level.

        The arrays are overwritten. The estimates are linear in the counts, unbiased and of their
        dtype.
        """
        gains, shares = self._passes
        dtype = measured[0].dtype
        totals = []
        for level in range(1, self.tree.height):
            totals.append(self.tree.block_sums(measured[level - 1]))
            own = measured[level]
            own -= totals[-1]
            own *= gains[level].astype(dtype)
            own += totals[-1]
        for level in range(self.tree.height - 2, -1, -1):
            news = measured[level + 1] - totals[level]
            correction = self.tree.spread(news, level)
            correction *= shares[level].astype(dtype)
            measured[level] += correction
        return measured[0]

    def cell_variances(self) -> np.ndarray:
        """Return the variance of every cell's estimate, in the histogram's shape.

        In the pass down the tree, let V be the posterior variance of a block and T the sum of its
        children's own variances v. The posterior variance of a child is v - v^2 / T + (v / T)^2 V.
        """
        gains, shares = self._passes
        own = [self.variances[0]]
        for level in range(1, self.tree.height):
            own.append(self.tree.block_sums(own[-1]) * (1 - gains[level]))
        posterior = own[-1]
        for level in range(self.tree.height - 2, -1, -1):
            share, above = shares[level], self.tree.spread(posterior, level)
            posterior = own[level] * (1 - share) + share**2 * above
        return posterior
