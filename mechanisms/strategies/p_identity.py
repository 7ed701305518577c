"""Strategies for Laplace noise: the cells and a few sums of cells, weighted for a workload.

A strategy A is measured with i.i.d. Laplace noise in proportion to its largest column sum ||A||_1.
The workload W is then answered with total variance proportional to ||A||_1^2 tr(V (A^T A)^-1),
where V = W^T W. No convex program gives the best A. McKenna et al. 2018 (OPT_0) search the
p-identity strategies A = [I; Theta] D, where Theta >= 0 has shape (p, n) and the diagonal matrix D
makes the columns of A add up to 1. Such a strategy can estimate any workload, and with S = D^-1

    tr(V (A^T A)^-1) = tr(S V S (I + Theta^T Theta)^-1)

costs one product of Theta with V and algebra of size p.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy

from mechanisms.query.query import Unsupported
from mechanisms.strategies.cell_groups import (
    GroupedGram,
    bisected,
    distinct_cells,
    grouped,
    sums_of_groups,
)
from mechanisms.strategies.optimal_strategy import duration, rounding

LARGEST_SIZE = 1024
# Cells for each row of Theta, our choice. For prefix sums and all ranges over 64 and 256 cells,
# half as many take two to four times as long and gain nothing; twice as many add 2% to 4% of error.
CELLS_PER_ROW = 16
# Effort of `search`. Local optima lie about 1% apart, so small searches have many starts. Over 1024
# cells a search takes up to about ten seconds on one core. Compared with four random starts of 1000
# iterations over all cells, prefix sums take 1/8 of the time and have 0.5% less error, all ranges
# 1/18 and 0.4%, and random rectangles on a 32 x 32 map 1/4 and 0.04%.
_MOST_STARTS = 16
_GROUPS_PER_ROW, _WEIGHT = 4, 0.3
_ITERATIONS, _TRIAL, _PROGRESS = 500, 50, 1e-6
# A descent gains less than this share of the error after its trial. Over 1024 cells, single cells
# gain about 1% on groups for prefix sums and all ranges, and 5% for the random rectangles.
_HIDDEN = 0.02
# If a few sums determine all answers, single cells are worthless and Theta grows without bound. The
# computed error loses digits by the square of Theta until none are left. Any strategy that is mixed
# with a thousandth of the identity keeps this bound, at a cost of at most 0.2%.
_LARGEST_WEIGHT = 1e3
# Number of cells that `attained_share` tries.
_TRIED_CELLS = 8


@dataclass(frozen=True, kw_only=True, eq=False)
class PIdentity:
    """The strategy A = [I; Theta] D, whose columns have l1 norm 1.

    Args:
        theta: (p, n), entries from 0 to 1000; p = 0 is the identity.
        error: tr(V (A^T A)^-1) for the workload of the search.
        lower_bound: No strategy of l1 norm 1 has a smaller error.
    """

    theta: np.ndarray
    error: float
    lower_bound: float

    @property
    def cells(self) -> int:
        """n."""
        return self.theta.shape[1]

    @property
    def measurements(self) -> int:
        """Rows of A, n + p."""
        return sum(self.theta.shape)

    @property
    def is_identity(self) -> bool:
        """Whether the cells alone are measured."""
        return len(self.theta) == 0

    @cached_property
    def _scale(self) -> np.ndarray:
        """The diagonal of S = D^-1, (n,)."""
        return 1 + self.theta.sum(axis=0)

    @cached_property
    def _gain(self) -> np.ndarray:
        """(I + Theta Theta^T)^-1 Theta, (p, n)."""
        return _gain(self.theta)

    @cached_property
    def attained_share(self) -> float:
        """A known share of the largest loss of A x + noise that the estimate by A^+ keeps, <= 1.

        If cell i changes by D = e_i, the measurements change by 1 in l1 norm. Under Laplace noise
        of scale b the densities of the estimate change by a factor of up to e^(g / b), where g is
        the least ||m||_1 of all m with A^+ m = D. The dual of this minimum is a linear programme:
        g is the largest (A z)^T A D over all cells z with |A z| <= 1. In terms of u = S^-1 z these
        limits are |u| <= 1 for the cells and |Theta u| <= 1 for the sums. The result is the largest
        g of up to eight cells, and no g exceeds 1.
        """
        if self.is_identity:
            return 1.0
        largest = 0.0
        for cell in np.linspace(0, self.cells - 1, min(_TRIED_CELLS, self.cells)).astype(int):
            gains = self.theta[:, cell] @ self.theta
            gains[cell] += 1
            found = scipy.optimize.linprog(
                -gains,
                A_ub=np.concatenate([self.theta, -self.theta]),
                b_ub=np.ones(2 * len(self.theta)),
                bounds=(-1, 1),
            )
            # A feasible point bounds g from below, whatever rounding does to the solution.
            point = found.x / max(1.0, np.abs(found.x).max(), np.abs(self.theta @ found.x).max())
            largest = max(largest, float(gains @ point / self._scale[cell]))
            if largest > 1 - 1e-12:
                break
        return min(largest, 1.0)

    def matrix(self) -> np.ndarray:
        """Return A, (n + p, n)."""
        return np.concatenate([np.eye(self.cells), self.theta]) / self._scale

    def inverse_gram(self) -> np.ndarray:
        """Return (A^T A)^-1, (n, n)."""
        inner = np.eye(self.cells) - self.theta.T @ self._gain
        return inner * np.outer(self._scale, self._scale)

    def estimate(self, measured: np.ndarray) -> np.ndarray:
        """Return A^+ times measurements (..., n + p): the least-squares cells (..., n)."""
        dtype = measured.dtype
        own, sums = measured[..., : self.cells], measured[..., self.cells :]
        news = sums - own @ self.theta.T.astype(dtype)
        return (own + news @ self._gain.astype(dtype)) * self._scale.astype(dtype)


def search(gram: np.ndarray) -> PIdentity:
    """Search p-identity strategies for V = `gram` by L-BFGS-B from fixed starting points.

    p = n / 16, rounded up. The problem is not convex, so the result need not be the best strategy,
    but its error is exact. The identity is returned if nothing better is found. If V is diagonal,
    the identity is the best: tr(V X^-1) >= sum V_ii / X_ii, and X_ii <= 1 for X = A^T A.

    Cells that no query distinguishes share a column of Theta, which leaves k columns. The starting
    points are

    - a hierarchy: the sums of all cells, of halves, of quarters and so on. First, 4 p or more
      groups of similar cells have a column each (see `cell_groups`), then every cell has its own;
    - 1024 / k points, at most 16, uniform in [0, 1] with fixed seeds.

    After a trial of 50 iterations the hierarchy is pursued if its error is at most 2% above the
    least error from the other points. If k > 512, only one of the two is pursued: the hierarchy if
    its error is below half of the identity's and single cells gained at most 2% on groups in the
    trial, else the random point.

    Args:
        gram: (n, n), symmetric positive semidefinite, not zero, n <= 1024, see `require_size`.
    """
    cells = len(gram)
    trace = float(np.trace(gram))
    identity = PIdentity(theta=np.zeros((0, cells)), error=trace, lower_bound=trace)
    if not np.any(gram - np.diag(np.diag(gram))):
        return identity
    unit = float(np.diag(gram).max())
    gram = gram / unit
    theta, error = _best(gram, -(-cells // CELLS_PER_ROW))
    bound = _svd_bound(gram) * unit
    if error >= trace / unit * (1 - _PROGRESS):
        return replace(identity, lower_bound=bound)
    return PIdentity(theta=theta, error=error * unit, lower_bound=bound)


def _best(gram: np.ndarray, rows: int) -> tuple[np.ndarray, float]:
    """Return the best Theta (rows, n) from all starting points, and its error."""
    kept, labels = distinct_cells(gram)
    workload, cells = grouped(gram, labels), len(kept)
    starts = [
        np.random.default_rng(seed).random((rows, cells))
        for seed in range(min(LARGEST_SIZE // cells, _MOST_STARTS))
    ]
    levels = bisected(gram[np.ix_(kept, kept)], _GROUPS_PER_ROW * rows)
    if levels:
        groups = levels[-1]
        start = _WEIGHT * sums_of_groups(levels, rows)[:, np.unique(groups, return_index=True)[1]]
        theta, coarse = _descend(start, grouped(gram, groups[labels]))
        theta, error = _descend(theta[:, groups], workload, _TRIAL)
        promising = (1 - _HIDDEN) * coarse < error < workload.own.sum() / 2
        if promising and len(starts) == 1:
            starts = []
    found = [_descend(start, workload) for start in starts]
    if levels:
        rivals = [reached for _, reached in found]
        found.append((theta, error))
        if len(rivals) != 1 and error <= (1 + _HIDDEN) * min(rivals, default=error):
            found.append(_descend(theta, workload))
    theta, error = min(found, key=lambda each: each[1])
    return theta[:, labels], error


def _descend(
    start: np.ndarray, workload: GroupedGram, iterations: int = _ITERATIONS
) -> tuple[np.ndarray, float]:
    """Return the Theta that L-BFGS-B finds from `start`, and its error."""

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        error, gradient = error_and_gradient(flat.reshape(start.shape), workload)
        return error, gradient.ravel()

    found = scipy.optimize.minimize(
        objective,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=scipy.optimize.Bounds(0, _LARGEST_WEIGHT),
        options={"maxiter": iterations, "maxfun": 2 * iterations, "ftol": _PROGRESS},
    )
    return found.x.reshape(start.shape), float(found.fun)


def error_and_gradient(theta: np.ndarray, workload: GroupedGram) -> tuple[float, np.ndarray]:
    """Return tr(S V S (I + Theta^T Theta)^-1) and its derivatives by Theta, (p, k).

    All cells of a group share a column of Theta. With M = diag(sizes) the inverse is I - Theta^T T,
    where T = (I + Theta M Theta^T)^-1 Theta. Theta acts through the inverse, with the derivative
    -2 T S V S (I - Theta^T T M), and through S, with the derivative 2 (V S (I - Theta^T T))_jj for
    every Theta_ij.
    """
    gram, own, sizes = workload
    scale = 1 + theta.sum(axis=0)
    gain = _gain(theta, sizes)
    half = (gain * scale) @ gram
    # The products are ordered so that only the one with V costs p k^2.
    through_scale = own * scale - np.sum(half * theta, axis=0)
    whole = half * scale
    error = own @ scale**2 - np.vdot(whole, theta)
    through_inverse = whole - (whole @ theta.T) @ gain * sizes
    return float(error), 2 * (through_scale - through_inverse)


def require_size(size: int) -> None:
    """Raise Unsupported, with the expected time, for more cells than a search can take."""
    if size > LARGEST_SIZE:
        raise Unsupported(
            f"searches over at most {LARGEST_SIZE} cells per factor of the workload, got {size}: "
            f"it would take about {duration(10 * (size / 1024) ** 3)}; use the identity workload, "
            "or one factor per axis"
        )


def _gain(theta: np.ndarray, sizes: np.ndarray | float = 1.0) -> np.ndarray:
    """Solve for (I + Theta M Theta^T)^-1 Theta; an explicit inverse would cost five digits."""
    factor = scipy.linalg.cho_factor(np.eye(len(theta)) + (theta * sizes) @ theta.T)
    return scipy.linalg.cho_solve(factor, theta)


def _svd_bound(gram: np.ndarray) -> float:
    """Return (sum of the singular values of W)^2 / n, a lower bound (Li and Miklau 2013).

    It bounds the error of all strategies whose columns have l2 norm at most 1, hence of those with
    l1 norm 1.
    """
    values = scipy.linalg.eigvalsh(gram)
    # The roots of eigenvalues that are zero up to rounding would add up.
    values[values < rounding(values)] = 0.0
    return float(np.sqrt(values).sum() ** 2 / len(gram))
