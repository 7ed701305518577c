"""Laplace noise on every block of a tree of counts, seen in the least-squares cells."""

import math
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np

from mechanisms.noise.distribution import MEASURED, Noise
from mechanisms.noise.laplace_noise import IndependentLaplace
from mechanisms.noise.loss_moments import LossMoments, quadratic_form_cumulants
from mechanisms.privacy.bounded_profile import BoundedProfile
from mechanisms.privacy.laplace_profile import laplace_profile
from mechanisms.query.query import Query, Shifts, Unsupported
from mechanisms.strategies.tree import BlockTree, TreeLeastSquares

# Cells of one subtree up to which the higher moments of the loss are computed: a second or two.
LARGEST_SUBTREE = 2048
# Cells up to which the Gram matrix of a workload is written out.
LARGEST_GRAM = 4096


@dataclass(frozen=True, kw_only=True, eq=False)
class TreeLaplace(Noise):
    """The error of the least-squares cells when every block has Laplace noise of one scale.

    Consistent: the error of any union of blocks is the sum over its cells. Its law does not depend
    on the counts, as the estimate is linear and without bias.

    Args:
        tree: The blocks that are measured.
        scale: Scale b of the noise of each of them (variance 2 b^2).
    """

    tree: BlockTree
    scale: float

    @property
    def shape(self) -> tuple[int, ...]:
        return self.tree.shape

    @cached_property
    def _solver(self) -> TreeLeastSquares:
        ones = tuple(np.broadcast_to(1.0, shape) for shape in self.tree.level_shapes)
        return TreeLeastSquares(tree=self.tree, variances=ones)

    def sample(self, rng, trials, dtype=np.float64):
        blocks = (IndependentLaplace(shape=s, scale=self.scale) for s in self.tree.level_shapes)
        return self._solver.estimate([block.sample(rng, trials, dtype) for block in blocks])

    def mean_loss(self) -> float:
        """E L = 2 b^2 times the sum of the cells' variances at unit variance, in linear time."""
        return 2 * self.scale**2 * float(self._solver.cell_variances().sum())

    def loss(self):
        """The moments of L, a sum over the blocks of the top level, which are independent.

        Raises:
            Unsupported: A block has more than 2048 cells. L is a quadratic form z^T G z in the
                noise of the measurements, and its cumulants need products of G, which has a row
                for every block. `mean_loss` has no such limit.
        """
        width = self.tree.branching ** (self.tree.height - 1)
        kinds: dict[tuple[int, ...], int] = {(): 1}
        for n in self.shape:
            full, rest = divmod(n, width)
            sizes = {size: count for size, count in ((width, full), (rest, 1)) if size * count}
            kinds = {
                (*kind, size): copies * count
                for kind, copies in kinds.items()
                for size, count in sizes.items()
            }
        largest = max(math.prod(kind) for kind in kinds)
        if largest > LARGEST_SUBTREE:
            raise Unsupported(
                f"has moments of the loss beyond the mean only for subtrees of at most "
                f"{LARGEST_SUBTREE} cells, got {largest}; expected_loss() is exact at any size"
            )
        cumulants = sum(copies * self._subtree_cumulants(kind) for kind, copies in kinds.items())
        return LossMoments(tuple(float(k) for k in cumulants))

    def _subtree_cumulants(self, shape: tuple[int, ...]) -> np.ndarray:
        """The first four cumulants of L for one block of the top level, (4,)."""
        noise = TreeLaplace(tree=replace(self.tree, shape=shape), scale=1.0)
        levels = noise.tree.level_shapes
        sizes = [math.prod(level) for level in levels]
        units = np.split(np.eye(sum(sizes)), np.cumsum(sizes)[:-1], axis=1)
        columns = noise._solver.estimate(
            [unit.reshape(-1, *level) for unit, level in zip(units, levels, strict=True)]
        ).reshape(sum(sizes), -1)
        return quadratic_form_cumulants(columns @ columns.T) * self.scale ** np.array([2, 4, 6, 8])

    def workload_variance(self, factors):
        """2 b^2 tr(V C), with C the covariance of the estimates for measurements of variance 1.

        C is (A^T A)^-1 for the blocks A, so that C w is the estimate from the measurements w of
        the cells and 0 of all other blocks: A^T of these is w. None above 4096 cells, where V
        takes more than 128 MiB.
        """
        cells = self.size
        if cells > LARGEST_GRAM:
            return None
        gram = reduce(np.kron, [factor.gram() for factor in factors])
        levels = self.tree.level_shapes
        measured = [gram.reshape(cells, *self.shape)]
        measured += [np.zeros((cells, *level)) for level in levels[1:]]
        estimates = self._solver.estimate(measured).reshape(cells, cells)
        return 2 * self.scale**2 * float(np.trace(estimates))

    def parameters(self):
        return {
            "b": self.scale,
            "branching": float(self.tree.branching),
            "height": float(self.tree.height),
        }

    def profile(self, query):
        """The profile of the noisy tree from above; the released cells are a function of it.

        One cell changes one block of each of the h levels. A histogram changes one cell by B, or
        two by B and -B, which share no block if they lie in different blocks of the top level.
        Otherwise the l1 change of a level is at most l1_sensitivity, which the query must state,
        and no level is worse than one block that changes by all of it (see `LaplaceProfile`).

        The largest loss is known: of two releases with cells that differ by D the log ratio of the
        densities reaches g / b, g = min ||m||_1 over the measurements m with the estimate D (the
        noise is A^+ m), and z^T A^T A D <= g for all cells z with |A z| <= 1. One cell: z = D / B
        and g = h B. Two: 2 h B. In general any ||D||_1 that cells of different top blocks may have.
        """
        if self.tree.height == 1:
            return IndependentLaplace(shape=self.shape, scale=self.scale).profile(query)
        if query.structure == "histogram":
            blocks, width = query.changed, query.record_bound
            total = blocks * width
        else:
            blocks, width = 1, query.l1_sensitivity
            total = self._spread_over_top_blocks(query)
        height = self.tree.height
        return BoundedProfile(
            above=laplace_profile(Shifts(height * blocks, width, 0.0), self.scale),
            attained_loss=height * total / self.scale,
            slack=MEASURED,
        )

    def _spread_over_top_blocks(self, query: Query) -> float:
        """The largest ||D||_1 that is known, with at most one cell in each block of the top level.

        One record of a Gram matrix changes a single cell by up to B^2.
        """
        if query.gram_change is not None:
            return query.change_of_one
        top = self.tree.level_shapes[-1]
        cells = top[0] if query.one_column else math.prod(top)
        return cells * query.largest_multiple(l2=math.sqrt(cells), l1=cells, linf=1.0)
