"""H_b: Laplace noise on a tree of counts with the best branching, then least squares.

The query states the l1 sensitivity of the cells: for a histogram 1 if a record is added or removed
and 2 if one is replaced. Each level of the tree partitions the cells, so by the triangle inequality
its counts change by at most that in l1 norm, and those of all h levels by at most h times as much.
"""

import math

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.noise.tree_laplace import TreeLaplace
from mechanisms.query.query import Budget, Query
from mechanisms.query.requirements import require_histogram
from mechanisms.strategies.tree import BlockTree


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
    If several cost the same, the smallest b.
    """

    def cost(branching: int) -> int:
        h = tree_height(cells, branching)
        if axes == 1:
            return 3 * (branching - 1) * h**3 - 2 * (branching + 1) * h**2
        return branching * h**2

    # Between the root of the cells and b = cells the height is 2, and the cost rises with b.
    return min([*range(2, math.isqrt(cells) + 2), max(cells, 2)], key=cost)


def histogram_tree(shape: tuple[int, ...]) -> BlockTree:
    """The tree of H_b over a histogram; axes of one cell do not count as axes.

    Both axes of a matrix share the branching that is best for the longer one. The root is not
    measured.
    """
    cells = max(shape)
    axes = sum(n > 1 for n in shape)
    branching = best_branching(cells, max(axes, 1))
    return BlockTree(shape=shape, branching=branching, height=tree_height(cells, branching))


class Hb(AdditiveMechanism):
    """Laplace noise of scale h l1_sensitivity / epsilon on each of h levels, then least squares.

    Each level spends epsilon / h; the root is not measured. Pure epsilon-DP under the adjacency of
    the query's l1 sensitivity. Made for range and prefix queries on histograms: their answers are
    sums of the released cells. On a histogram the cells cost exactly epsilon, under either
    adjacency (see `TreeLaplace.profile`), so that at delta = 0 the exact calibration changes
    nothing. For delta > 0 the profile is that of the noisy tree, an upper bound for the cells, and
    the exact calibration is unsupported unless the tree has a single level.
    """

    key = "hb"
    title = "H_b"
    paper = "Qardaji et al. 2013"
    theorem = "Section 3 (Laplace mechanism on h levels)"
    guarantee = "pure"
    look = ("#CC6677", "d", 18)

    @classmethod
    def noise_for(cls, query: Query, budget: Budget):
        require_histogram(query)
        tree = histogram_tree(query.shape)
        return TreeLaplace(tree=tree, scale=tree.height * query.l1_sensitivity / budget.epsilon)

    def expected_loss(self):
        return self.noise.mean_loss()
