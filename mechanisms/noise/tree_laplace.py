"""The error of least-squares cells under Laplace noise on every block of a tree of counts."""

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

# Up to this many cells of a subtree the moments beyond the mean are computed, in a second or two.
LARGEST_SUBTREE = 2048
# Up to this many cells the Gram matrix of a workload is formed.
LARGEST_GRAM = 4096


@dataclass(frozen=True, kw_only=True, eq=False)
class TreeLaplace(Noise):
    """The error of the least-squares cells if all blocks have Laplace noise of one scale.

    The error of any union of blocks is the sum of the errors of its cells. The law of the error
    does not depend on the counts, because the estimate is linear and unbiased.

    Args:
        tree: The blocks that are measured.
        scale: Scale b of the noise of each block (variance 2 b^2).
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
        """Return E L in linear time: b^2 times the cells' summed variances at b = 1."""
        return 2 * self.scale**2 * float(self._solver.cell_variances().sum())

    def loss(self):
        """Return the moments of L, a sum of independent terms, one per block of the top level.

        Raises:
            Unsupported: A block of the top level has more than 2048 cells. Its term is a quadratic
                form z^T G z in the noise z of the blocks below it and its own, and the cumulants
                need products of G, which has a row for each of them. `mean_loss` has no such limit.
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
        return LossMoments(tuple(cumulants.tolist()))

    def _subtree_cumulants(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return the first four cumulants of L for one block of the top level, (4,)."""
        noise = TreeLaplace(tree=replace(self.tree, shape=shape), scale=1.0)
        levels = noise.tree.level_shapes
        sizes = [math.prod(level) for level in levels]
        units = np.split(np.eye(sum(sizes)), np.cumsum(sizes)[:-1], axis=1)
        columns = noise._solver.estimate(
            [unit.reshape(-1, *level) for unit, level in zip(units, levels, strict=True)]
        ).reshape(sum(sizes), -1)
        return quadratic_form_cumulants(columns @ columns.T) * self.scale ** np.array([2, 4, 6, 8])

    def workload_variance(self, factors):
        """Return 2 b^2 tr(V C) for V = W^T W and C, the cells' covariance at unit noise variance.

        C is (A^T A)^-1 for the matrix A that maps cells to blocks, and C A^T m is the estimate from
        measurements m. If m is w on the cells and 0 on all other blocks, A^T m is w, so the
        estimate is C w. The result is None above 4096 cells, where V takes more than 128 MiB.
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
        """Return the profile of the noisy tree, an upper bound: the cells are computed from it.

        One cell lies in one block of each of the h levels. One record of a histogram changes one
        cell by B, or under replace two cells by B and -B. The worst two cells lie in different
        blocks of the top level, of which there must be at least two, and share no block. Without
        the structure "histogram" the query must state l1_sensitivity. It bounds the l1 change of
        every level, which is worst if one block changes by all of it (see `LaplaceProfile`).

        The largest loss is known. If two values differ by D, the log ratio of the densities of
        their releases reaches g / b, where g is the least ||m||_1 of measurements m with the
        estimate A^+ m = D and A maps cells to blocks. All cells z with |A z| <= 1 elementwise give
        z^T A^T A D <= g. If D changes at most one cell of each block of the top level, z = sign(D)
        and m = A D show that g = h ||D||_1: h B for one cell and 2 h B for two.
        """
        if self.tree.height == 1:
            return IndependentLaplace(shape=self.shape, scale=self.scale).profile(query)
        if query.structure == "histogram":
            blocks, width = query.changed, query.record_bound
            total = min(blocks, math.prod(self.tree.level_shapes[-1])) * width
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
        """Return the largest known ||D||_1 with at most one changed cell in each top block.

        For a Gram matrix, D is the change of a single diagonal cell by up to B^2.
        """
        if query.gram_change is not None:
            return query.change_of_one
        top = self.tree.level_shapes[-1]
        cells = top[0] if query.one_column else math.prod(top)
        return cells * query.largest_multiple(l2=math.sqrt(cells), l1=cells, linf=1.0)
