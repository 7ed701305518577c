"""H_b: Laplace noise on every level of a tree of counts with the best branching, made consistent.

Only what a histogram query needs is used: the l1 sensitivity of its cells, which is 1 where one
record is added or removed and 2 where one is replaced. One level of the tree partitions the cells,
so by the triangle inequality its counts move by no more than that, and all h levels by h times it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mechanisms._tree import BlockTree, TreeLeastSquares
from mechanisms.base import AdditiveMechanism
from mechanisms.contract import Budget, Query, Unsupported
from mechanisms.loss import LossMoments
from mechanisms.noise import IndependentLaplace, Noise
from mechanisms.privacy.products import LaplaceProfile
from mechanisms.privacy.profile import Bounds, PrivacyProfile

# Cells of one subtree up to which the higher moments of the loss are computed: a second or two.
LARGEST_SUBTREE = 2048


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


def quadratic_form_cumulants(form: np.ndarray) -> np.ndarray:
    """Cumulants 1 to 4 of z^T G z for a symmetric G and independent z_i ~ Laplace(1), (4,).

    The sums over indecomposable partitions of the factors of z into blocks of two, four, six and
    eight (McCullagh, Tensor Methods in Statistics, Section 3.3), one for each multigraph of
    blocks, with the even cumulants 2, 12, 240 and 10080 of the Laplace distribution.
    """
    k2, k4, k6, k8 = 2.0, 12.0, 240.0, 10080.0
    own = np.diag(form)
    squared = form @ form
    own2 = np.diag(squared)
    own3 = np.vecdot(squared, form)
    entries = form**2
    return np.array(
        [
            k2 * own.sum(),
            2 * k2**2 * own2.sum() + k4 * (own**2).sum(),
            8 * k2**3 * own3.sum() + 12 * k4 * k2 * own @ own2 + k6 * (own**3).sum(),
            48 * k2**4 * (squared**2).sum()
            + k4 * k2**2 * (96 * own @ own3 + 48 * own2 @ own2)
            + k4**2 * (24 * own @ entries @ own + 8 * (entries**2).sum())
            + 24 * k6 * k2 * own**2 @ own2
            + k8 * (own**4).sum(),
        ]
    )


@dataclass(frozen=True, kw_only=True)
class PostProcessedProfile(PrivacyProfile):
    """An upper bound: the release is a function of measurements whose profile is known.

    By post-processing its own delta is nowhere above that of `measured`, which is reported as the
    value; the lower bound is 0. Sampled losses are those of the measurements.
    """

    measured: PrivacyProfile

    @property
    def largest_loss(self) -> float:
        return self.measured.largest_loss

    def compose(self, times: int) -> PostProcessedProfile:
        return PostProcessedProfile(measured=self.measured.compose(times))

    def scaled(self, factor: float) -> PostProcessedProfile:
        return PostProcessedProfile(measured=self.measured.scaled(factor))

    def scale_factor(self, epsilon: float, delta: float) -> float:
        return self.measured.scale_factor(epsilon, delta)

    def sample_losses(self, rng, n, *, reverse=False):
        return self.measured.sample_losses(rng, n, reverse=reverse)

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        bounds = self.measured._log_delta(epsilon)
        return Bounds(np.full(epsilon.shape, -np.inf), bounds.value, bounds.upper)

    def _survival(self, epsilon: np.ndarray) -> np.ndarray:
        return self.measured._survival(epsilon)

    def _epsilon(self, delta: np.ndarray) -> Bounds:
        bounds = self.measured._epsilon(delta)
        return Bounds(np.zeros(delta.shape), bounds.value, bounds.upper)


class Hb(AdditiveMechanism):
    """Laplace noise of scale h l1_sensitivity / epsilon on each of h levels, then least squares.

    epsilon / h per level; the root is not measured. Pure epsilon-DP under the adjacency of the
    query's l1 sensitivity. For range and prefix queries on histograms: their answers are sums of
    the released cells. On the exact footing the noise is rescaled by the profile of the noisy
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
