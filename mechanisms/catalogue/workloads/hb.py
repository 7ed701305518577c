"""H_b: Laplace noise on a tree of counts with the best branching, then least squares.

The query states the l1 sensitivity of the cells: for a histogram 1 if a record is added or removed
and 2 if one is replaced. Each level of the tree partitions the cells, so by the triangle inequality
the l1 change of its counts is at most this sensitivity, and that of all levels at most h times it.
"""

import math

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.noise.tree_laplace import TreeLaplace
from mechanisms.query.query import Budget, Query
from mechanisms.query.requirements import require_histogram
from mechanisms.strategies.tree import BlockTree


def tree_height(cells: int, branching: int) -> int:
    """Return h = ceil(log_b cells), at least 1, in integers: in floats ceil(log_5 125) is 4."""
    height, reach = 1, branching
    while reach < cells:
        height, reach = height + 1, reach * branching
    return height


def best_branching(cells: int, axes: int) -> int:
    """Return the branching (per axis) with the least error of an average range query.

    For one axis of n = `cells` cells it minimises (b - 1) h^3 - 2 (b + 1) h^2 / 3 over b >= 2, with
    h = ceil(log_b n) (Qardaji et al. 2013, equation 3). For two axes of n cells each it minimises
    the paper's cost of a rectangle, b (n - 1) h^2, with the same h (Section 5, as DPBench computes
    it). The smallest b is taken if several cost the same.
    """

    def cost(branching: int) -> int:
        h = tree_height(cells, branching)
        if axes == 1:
            return 3 * (branching - 1) * h**3 - 2 * (branching + 1) * h**2
        return branching * h**2

    # From the square root of `cells` to `cells` - 1 the height is 2, and the cost rises with b.
    return min([*range(2, math.isqrt(cells) + 2), max(cells, 2)], key=cost)


def histogram_tree(shape: tuple[int, ...]) -> BlockTree:
    """Return the tree of H_b over a histogram; axes of one cell do not count as axes.

    Both axes of a matrix share the branching that is best for the longer one. The root is not
    measured.
    """
    cells = max(shape)
    axes = sum(n > 1 for n in shape)
    branching = best_branching(cells, max(axes, 1))
    return BlockTree(shape=shape, branching=branching, height=tree_height(cells, branching))


class Hb(AdditiveMechanism):
    """Laplace noise of scale h l1_sensitivity / epsilon on each of h levels, then least squares.

    Each level spends epsilon / h; the root is not measured. H_b is pure epsilon-DP under the
    adjacency of the query's l1 sensitivity. It is made for range and prefix queries on histograms,
    whose answers are sums of the released cells. On a histogram the cells cost exactly epsilon
    under either adjacency (see `TreeLaplace.profile`), so the exact calibration changes nothing at
    delta = 0. For delta > 0 the profile is that of the noisy tree, an upper bound for the cells,
    and the exact calibration is unsupported unless the tree has a single level.
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
