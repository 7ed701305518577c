"""H_b: Laplace noise on every level of a tree of counts with the best branching, made consistent.

Only what a histogram query needs is used: the l1 sensitivity of its cells, which is 1 where one
record is added or removed and 2 where one is replaced. One level of the tree partitions the cells,
so by the triangle inequality its counts move by no more than that, and all h levels by h times it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np

from mechanisms.contract.mechanism import AdditiveMechanism
from mechanisms.contract.query import Budget, Query, Unsupported
from mechanisms.noise.distribution import Noise
from mechanisms.noise.laplace_noise import IndependentLaplace
from mechanisms.noise.loss_moments import LossMoments, quadratic_form_cumulants
from mechanisms.profiles.post_processing import PostProcessedProfile
from mechanisms.profiles.product_profiles import LaplaceProfile
from mechanisms.strategies.tree import BlockTree, TreeLeastSquares

# Cells of one subtree up to which the higher moments of the loss are computed: a second or two.
LARGEST_SUBTREE = 2048
# Cells up to which the Gram matrix of a workload is written out.
LARGEST_GRAM = 4096


def tree_height(cells: int, branching: int) -> int:
    """h = ceil(log_b cells), at least 1, in integers: in floats ceil(log_5 125) is 4."""
    height, reach = 1, branching
    while reach < cells:
        height, reach = height + 1, reach * branching
    return height


def best_branching(cells: int, axes: int) -> int:
    """The branching (per axis) with the least error of an average range query.

    One axis: argmin over b >= 2 of (b - 1) h^3 - 2 (b + 1) h^2 / 3, h = ceil(log_b cells) (Qardaji
    et al. 2013, equation 3). Two axes of n = `cells` cells each: argmin of their cost of a
    rectangle, b (n - 1) h^2 (Section 5, as DPBench computes it), which has h = ceil(log_b n) too.
    The smallest b where several cost the same.
    """

    def cost(branching: int) -> int:
        h = tree_height(cells, branching)
        if axes == 1:
            return 3 * (branching - 1) * h**3 - 2 * (branching + 1) * h**2
        return branching * h**2

    # At one height the cost rises with b: only the smallest b of each height can be the best.
    heights = range(1, tree_height(cells, 2) + 1)
    return min((_least_branching(cells, h) for h in heights), key=lambda b: (cost(b), b))


def _least_branching(cells: int, height: int) -> int:
    """The smallest b >= 2 with b^height >= cells; the rounded root is off by one at most."""
    branching = max(2, round(cells ** (1 / height)) - 1)
    while branching**height < cells:
        branching += 1
    return branching


def histogram_tree(shape: tuple[int, ...]) -> BlockTree:
    """The tree of H_b over a histogram; axes of one cell do not count as axes.

    One branching serves both axes of a matrix, chosen for the longer one. The root is left out.
    """
    cells = max(shape)
    axes = sum(n > 1 for n in shape)
    branching = best_branching(cells, max(axes, 1))
    return BlockTree(shape=shape, branching=branching, height=tree_height(cells, branching))


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
            Unsupported: One of them has more than 2048 cells. L is a quadratic form z^T G z in the
                measurements' noise; its cumulants need products of G, of size cells x cells.
                `mean_loss` has no such limit.
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
                f"moments of the loss beyond its mean need subtrees of at most {LARGEST_SUBTREE} "
                f"cells, here {largest}; expected_loss() is exact at any size"
            )
        cumulants = sum(copies * self._subtree_cumulants(kind) for kind, copies in kinds.items())
        return LossMoments(tuple(float(k) for k in cumulants))

    @property
    def _cells(self) -> IndependentLaplace:
        """The noise where the tree has one level only."""
        return IndependentLaplace(shape=self.shape, scale=self.scale)

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
        the cells and 0 of all other blocks: A^T of these is w. None above 4096 cells, where V is
        larger than 128 MiB.
        """
        cells = math.prod(self.shape)
        if cells > LARGEST_GRAM:
            return None
        gram = reduce(np.kron, [factor.gram() for factor in factors])
        levels = self.tree.level_shapes
        measured = [gram.reshape(cells, *self.shape)]
        measured += [np.zeros((cells, *level)) for level in levels[1:]]
        estimates = self._solver.estimate(measured).reshape(cells, cells)
        return 2 * self.scale**2 * float(np.trace(estimates))

    def scaled(self, factor):
        return replace(self, scale=self.scale * factor)

    def parameters(self):
        return {
            "b": self.scale,
            "branching": float(self.tree.branching),
            "height": float(self.tree.height),
        }

    def profile(self, query):
        """That of the noisy tree, of which the released cells are a function."""
        if self.tree.height == 1:
            return self._cells.profile(query)
        if query.l1_sensitivity is None:
            return None
        measured = LaplaceProfile(
            l1_sensitivity=self.tree.height * query.l1_sensitivity, scale=self.scale
        )
        return PostProcessedProfile(measured=measured)

    def slack(self, query):
        if self.tree.height == 1:
            return self._cells.slack(query)
        return "the estimate may reveal less than the measurements it is made of"


class Hb(AdditiveMechanism):
    """Laplace noise of scale h l1_sensitivity / epsilon on each of h levels, then least squares.

    epsilon / h per level; the root is not measured. Pure epsilon-DP under the adjacency of the
    query's l1 sensitivity. For range and prefix queries on histograms: their answers are sums of
    the released cells. At the exact calibration the noise is rescaled by the profile of the noisy
    tree, an upper bound for the cells: it may still be larger than their true profile demands.
    """

    key = "hb"
    title = "H_b"
    paper = "Qardaji et al. 2013"
    theorem = "Section 3 (Laplace mechanism on h levels)"
    guarantee = "pure"

    @classmethod
    def noise_for(cls, query: Query, budget: Budget):
        check_histogram(query)
        tree = histogram_tree(query.shape)
        return TreeLaplace(tree=tree, scale=tree.height * query.l1_sensitivity / budget.epsilon)

    def expected_loss(self):
        return self.noise.mean_loss()


def check_histogram(query: Query) -> None:
    """Unsupported unless the answer is a vector or matrix of counts with an l1 sensitivity."""
    if len(query.shape) > 2:
        raise Unsupported(f"is defined for histograms of one or two axes, got shape {query.shape}")
    if query.l1_sensitivity is None:
        raise Unsupported(
            "needs l1_sensitivity: for a histogram 1 where a record is added or removed, 2 where "
            "one is replaced"
        )
