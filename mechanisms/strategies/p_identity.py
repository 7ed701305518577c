"""Strategies for Laplace noise: the cells and a few sums of cells, weighted for a workload.

A strategy A is measured with i.i.d. Laplace noise in proportion to its largest column sum ||A||_1,
so that the workload W is answered with total variance proportional to ||A||_1^2 tr(V (A^T A)^-1),
V = W^T W. The best A is the solution of no convex program. McKenna et al. 2018 (OPT_0) search the
p-identity strategies A = [I; Theta] D, Theta >= 0 of size (p, n) and D diagonal
with columns that add up to 1: they can estimate any workload, and with S = D^-1

    tr(V (A^T A)^-1) = tr(S V S (I + Theta^T Theta)^-1)

costs one product of Theta with V and algebra of size p.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from mechanisms.contract.query import Unsupported

LARGEST_SIZE = 1024
# Cells for each row of Theta, and starting points of the search: our choices. Twice as many rows
# cost twice the time; they gained 4% for all ranges over 64 cells, and nothing over 256.
CELLS_PER_ROW, RESTARTS = 16, 4
_ITERATIONS, _PROGRESS = 1000, 1e-6
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
        z with |A z| <= 1. In terms of u = D^-1 z the cells' own bounds are |u| <= 1 and the sums'
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

    p = n / 16, rounded up; four starting points, uniform in [0, 1] with fixed seeds. The problem is
    not convex: what is found need not be the best, but its error is exact, and the identity is
    returned where nothing better is found. Where V is diagonal the identity is the best of all:
    tr(V X^-1) >= sum V_ii / X_ii, and X_ii <= 1 for X = A^T A.

    Args:
        gram: (n, n), symmetric positive semidefinite, not zero, n <= 1024.

    Raises:
        Unsupported: n is too large.
    """
    require_size(len(gram))
    cells = len(gram)
    identity, trace = np.zeros((0, cells)), float(np.trace(gram))
    if not np.any(gram - np.diag(np.diag(gram))):
        return PIdentity(theta=identity, error=trace, lower_bound=trace)
    unit = float(np.diag(gram).max())
    gram = gram / unit
    rows = -(-cells // CELLS_PER_ROW)

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        error, gradient = error_and_gradient(flat.reshape(rows, cells), gram)
        return error, gradient.ravel()

    best, error = identity, trace / unit
    for seed in range(RESTARTS):
        found = scipy.optimize.minimize(
            objective,
            np.random.default_rng(seed).random(rows * cells),
            jac=True,
            method="L-BFGS-B",
            bounds=scipy.optimize.Bounds(0, _LARGEST_WEIGHT),
            options={"maxiter": _ITERATIONS, "maxfun": 2 * _ITERATIONS, "ftol": _PROGRESS},
        )
        if found.fun < error * (1 - _PROGRESS):
            best, error = found.x.reshape(rows, cells), float(found.fun)
    return PIdentity(theta=best, error=error * unit, lower_bound=_svd_bound(gram) * unit)


def error_and_gradient(theta: np.ndarray, gram: np.ndarray) -> tuple[float, np.ndarray]:
    """tr(S V S (I + Theta^T Theta)^-1) and its derivatives by Theta, (p, n).

    With T = (I + Theta Theta^T)^-1 Theta the inverse is I - Theta^T T. Theta acts through it, with
    the derivative -2 T S V S (I - Theta^T T), and through S, with 2 (V S (I - Theta^T T))_jj for
    every Theta_kj.
    """
    scale, own = 1 + theta.sum(axis=0), np.diag(gram)
    gain = _gain(theta)
    half = (gain * scale) @ gram
    whole = half * scale
    error = own @ scale**2 - np.sum(whole * theta)
    through_inverse = whole - (whole @ theta.T) @ gain
    # Grouped so that only the product with V costs p n^2.
    spread = half + (theta @ theta.T) @ half
    through_scale = own * scale - np.sum(spread * gain, axis=0)
    return float(error), 2 * (through_scale - through_inverse)


def require_size(size: int) -> None:
    """Raise Unsupported, with the expected time, for more cells than a search can take."""
    if size > LARGEST_SIZE:
        raise Unsupported(
            f"searches over at most {LARGEST_SIZE} cells per factor of the workload, got {size}: "
            f"it would take about {(size / 1024) ** 3:.0f} minutes; use the identity workload, or "
            "one factor per axis"
        )


def _gain(theta: np.ndarray) -> np.ndarray:
    inner = np.eye(len(theta)) + theta @ theta.T
    return np.linalg.solve(inner, theta)


def _svd_bound(gram: np.ndarray) -> float:
    """(sum of the singular values of W)^2 / n (Li and Miklau 2013).

    It bounds the strategies whose columns have l2 norm at most 1; l1 norm 1 is one of those.
    """
    values = scipy.linalg.eigvalsh(gram)
    # What is zero but for rounding would add up under the root.
    values[values < len(gram) * np.finfo(float).eps * values.max()] = 0.0
    return float(np.sqrt(values).sum() ** 2 / len(gram))
