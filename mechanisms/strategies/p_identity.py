"""Strategies for Laplace noise: the cells and a few sums of cells, weighted for a workload.

A strategy A is measured with i.i.d. Laplace noise in proportion to its largest column sum ||A||_1,
so that the workload W is answered with total variance proportional to ||A||_1^2 tr(V (A^T A)^-1),
V = W^T W. No convex program gives the best A. McKenna et al. 2018 (OPT_0) search the p-identity
strategies A = [I; Theta] D, Theta >= 0 of size (p, n) and D diagonal with columns that add up to 1:
they can estimate any workload, and with S = D^-1

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
from mechanisms.strategies.optimal_strategy import duration

LARGEST_SIZE = 1024
# Cells for each row of Theta: our choice. Half as many cost two to four times the time and gained
# nothing for prefix sums and all ranges over 64 and 256 cells; twice as many cost 2% to 4%.
CELLS_PER_ROW = 16
# Effort of `search`, see there. Local optima lie about 1% apart, so that small searches have many
# starts. Over 1024 cells it takes up to some ten seconds on one core. Next to four random starts of
# 1000 iterations over all cells, prefix sums take an eighth of the time and have 0.5% less error,
# all ranges an eighteenth and 0.4%, random rectangles on a map of 32 by 32 a quarter and 0.04%.
_MOST_STARTS = 16
_GROUPS_PER_ROW, _WEIGHT = 4, 0.3
_ITERATIONS, _TRIAL, _PROGRESS = 500, 50, 1e-6
# More than a descent gains after a trial. Single cells gain about 1% on groups for prefix sums
# and all ranges over 1024 cells, and 5% for those rectangles.
_HIDDEN = 0.02
# Where a few sums determine the answers to a workload, single cells are worthless and Theta grows
# without bound, until the error, which loses digits by the square of Theta, has none left. Mixed
# with a thousandth of the identity any strategy keeps this bound, at a cost of at most 0.2%.
_LARGEST_WEIGHT = 1e3
# Cells at which `attained_share` looks.
_TRIED_CELLS = 8


@dataclass(frozen=True, kw_only=True, eq=False)
class PIdentity:
    """The strategy A = [I; Theta] D, each of its columns with l1 norm 1.

    Args:
        theta: (p, n), from 0 to 1000; p = 0 is the identity.
        error: tr(V (A^T A)^-1) for the workload that it was made for.
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
        """The largest loss of A x + Laplace noise that its estimate A^+ keeps, in [0, 1].

        Where cell i changes by D = e_i, measurements change by 1 in l1 norm, and the densities of
        the estimates by a factor of up to e^(g / b), g = min ||m||_1 over the m with A^+ m = D. Its
        dual is a linear programme, which gives g from below: the largest (A z)^T A D over all cells
        z with |A z| <= 1. In terms of u = S^-1 z the cells' own bounds are |u| <= 1 and the sums'
        |Theta u| <= 1. This is the largest g of a few cells; 1 is the largest possible.
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
        """A, (n + p, n)."""
        return np.concatenate([np.eye(self.cells), self.theta]) / self._scale

    def inverse_gram(self) -> np.ndarray:
        """(A^T A)^-1, (n, n)."""
        inner = np.eye(self.cells) - self.theta.T @ self._gain
        return inner * np.outer(self._scale, self._scale)

    def estimate(self, measured: np.ndarray) -> np.ndarray:
        """A^+ times measurements (..., n + p): the least-squares cells (..., n)."""
        dtype = measured.dtype
        own, sums = measured[..., : self.cells], measured[..., self.cells :]
        news = sums - own @ self.theta.T.astype(dtype)
        return (own + news @ self._gain.astype(dtype)) * self._scale.astype(dtype)


def search(gram: np.ndarray) -> PIdentity:
    """The best p-identity strategy for V = `gram` that L-BFGS-B finds from fixed starting points.

    p = n / 16, rounded up. The problem is not convex: what is found need not be the best, but its
    error is exact, and the identity is returned where nothing better is found. Where V is diagonal
    the identity is the best of all: tr(V X^-1) >= sum V_ii / X_ii, and X_ii <= 1 for X = A^T A.

    Cells that no query distinguishes share a column of Theta; k cells are left. Starting points:

    - a hierarchy, the sums of all cells, of halves, of quarters and so on. First, 4 p or more
      groups of similar cells share a column (see `cell_groups`), then every cell has its own;
    - 1024 / k points, at most 16, uniform in [0, 1] with fixed seeds.

    After a trial of 50 iterations the hierarchy is pursued if its error is at most 2% above that of
    the others. Where k > 512 either is pursued: the hierarchy if its error is below half of the
    identity's and single cells gained at most 2% on groups in the trial, else the random point.

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
    """The best Theta, (rows, n), of all starting points, and its error."""
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
        found.append((theta, error))
        rivals = [reached for _, reached in found[:-1]]
        if len(rivals) != 1 and error <= (1 + _HIDDEN) * min(rivals, default=error):
            found.append(_descend(theta, workload))
    theta, error = min(found, key=lambda each: each[1])
    return theta[:, labels], error


def _descend(
    start: np.ndarray, workload: GroupedGram, iterations: int = _ITERATIONS
) -> tuple[np.ndarray, float]:
    """The Theta that L-BFGS-B finds from `start`, and its error."""

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
    """tr(S V S (I + Theta^T Theta)^-1) and its derivatives by Theta, (p, k).

    Columns of Theta are those of all cells of a group: with M = diag(sizes) the inverse is
    I - Theta^T T, T = (I + Theta M Theta^T)^-1 Theta. Theta acts through it, with the derivative
    -2 T S V S (I - Theta^T T M), and through S, with 2 (V S (I - Theta^T T))_jj for every Theta_kj.
    """
    gram, own, sizes = workload
    scale = 1 + theta.sum(axis=0)
    gain = _gain(theta, sizes)
    half = (gain * scale) @ gram
    # Grouped so that only the product with V costs p k^2.
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
    """(I + Theta M Theta^T)^-1 Theta; with a computed inverse, errors would lose five digits."""
    factor = scipy.linalg.cho_factor(np.eye(len(theta)) + (theta * sizes) @ theta.T)
    return scipy.linalg.cho_solve(factor, theta)


def _svd_bound(gram: np.ndarray) -> float:
    """(sum of the singular values of W)^2 / n (Li and Miklau 2013).

    It bounds the strategies whose columns have l2 norm at most 1; l1 norm 1 is one of those.
    """
    values = scipy.linalg.eigvalsh(gram)
    # Values that are zero but for rounding would add up under the root.
    values[values < len(gram) * np.finfo(float).eps * values.max()] = 0.0
    return float(np.sqrt(values).sum() ** 2 / len(gram))
