"""Optimal strategies of the matrix mechanism, with a certificate of their optimality.

A strategy A with unit l2 column norms is measured with i.i.d. Gaussian noise; the workload W is
then answered with total variance sigma^2 tr(V X^-1), V = W^T W, X = A^T A. The best X solves

    minimise  tr(V X^-1)   subject to   diag(X) <= 1,  X positive definite          (primal)
    maximise  tr((D^1/2 V D^1/2)^1/2)^2 / sum(v)   over   D = diag(v), v > 0        (dual)

(Li et al. 2015; Yuan et al. 2016 for the convex program). With M = (D^1/2 V D^1/2)^1/2 the
Lagrangian is least at X(v) = D^-1/2 M D^-1/2, so that v is optimal where diag X(v) = 1, that is
where v = diag M. Every v bounds the optimum from below and every feasible X from above: the
distance of the two is the certified gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

from mechanisms.contract import Unsupported

# Relative gaps at which the solvers stop; where V is singular the optimum is only approached,
# and what FLOOR costs is part of the gap.
TOLERANCE, SINGULAR_TOLERANCE = 1e-8, 2e-6
SDP_TOLERANCE = 1e-6
# Weight of the identity in X where V is singular: cells that the workload cannot tell apart are
# measured too, with a noise of at most 1 / sqrt(FLOOR) = 1000 sigma, so that x has an estimate.
FLOOR = 1e-6
LARGEST_SIZE, LARGEST_SDP_SIZE = 2048, 64
_ITERATIONS, _MEMORY = 300, 10
# v_i below this share of the largest is kept there: smaller ones drown in the rounding of M.
_LEAST_SHARE = 1e-11


@dataclass(frozen=True, kw_only=True, eq=False)
class Strategy:
    """What is measured, and how far from the best it can be at most.

    Args:
        gram: X = A^T A, (n, n), positive definite with unit diagonal.
        error: tr(V X^-1): total variance of the workload's answers at sigma = 1.
        lower_bound: No strategy with unit columns has a smaller error.
    """

    gram: np.ndarray
    error: float
    lower_bound: float

    @property
    def gap(self) -> float:
        """error / lower_bound - 1: the certified relative distance from the optimum."""
        return max(self.error / self.lower_bound - 1, 0.0)

    @cached_property
    def spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues (ascending, n) and eigenvectors (n, n, one per column) of X."""
        values, vectors = linalg.eigh(self.gram)
        if values[0] <= 0:
            raise ArithmeticError(f"the strategy is singular: least eigenvalue {values[0]:.3g}")
        return values, vectors


def optimal_strategy(gram: np.ndarray) -> Strategy:
    """The best strategy for V = `gram` by an accelerated fixed point; at most 10 n^2 floats.

    The iteration is v <- v diag(X(v))^2. The plain fixed point v <- diag M = v diag(X(v)) halves
    the error of log v at best (M is homogeneous of degree 1/2 in v); doubling its step removes
    that, and Anderson's extrapolation the rest.

    Args:
        gram: (n, n), symmetric positive semidefinite, not zero, n <= 2048. Cells that no query
            asks for (zero on the diagonal) are measured by themselves.

    Returns:
        A strategy with a gap of at most 1e-8, or 2e-6 where V is singular: there the optimal X
        is singular as well, and X is mixed with 1e-6 of the identity.

    Raises:
        ValueError: `gram` is no such matrix.
        Unsupported: n is too large, or the gap is not reached in 300 iterations.
    """
    gram = _checked(gram)
    require_size(len(gram))
    asked = np.diag(gram) > 0
    if not asked.all():
        return _with_unasked(optimal_strategy(gram[np.ix_(asked, asked)]), asked)
    unit = np.diag(gram).max()
    gram = gram / unit
    log_v = 0.5 * np.log(np.diag(gram))
    weights = np.exp(0.5 * (log_v - log_v.max()))
    points, moves = [], []
    strategy, error, bound, last = None, np.inf, 0.0, 0.0
    for _ in range(_ITERATIONS):
        candidate, diagonal, regular = _at(gram, np.exp(log_v))
        if candidate.error < error:
            strategy, error = candidate.gram, candidate.error
        bound = max(bound, candidate.lower_bound)
        if error <= bound * (1 + (TOLERANCE if regular else SINGULAR_TOLERANCE)):
            strategy.flags.writeable = False
            return Strategy(gram=strategy, error=error * unit, lower_bound=bound * unit)
        if candidate.lower_bound < last:
            # Extrapolated too far: again from the last point, without its history.
            points, moves, last = points[-1:], moves[-1:], 0.0
        else:
            points = [*points[1 - _MEMORY :], log_v]
            moves = [*moves[1 - _MEMORY :], 2 * np.log(np.maximum(diagonal, _LEAST_SHARE))]
            last = candidate.lower_bound
        log_v = _extrapolated(points, moves, weights)
        log_v = np.maximum(log_v - log_v.max(), np.log(_LEAST_SHARE))
    raise Unsupported(
        f"found no optimal strategy for {len(gram)} cells in {_ITERATIONS} iterations: the gap "
        f"reached is {error / bound - 1:.3g}; state a workload with fewer or more similar cells"
    )


def sdp_strategy(gram: np.ndarray) -> Strategy:
    """The same program handed to CVXPY as it stands (matrix_frac, solved by Clarabel).

    An oracle for `optimal_strategy`: it shares only the certificate with it.

    Args, raises: As `optimal_strategy`, with n <= 64.

    Returns:
        A strategy with a gap of at most 1e-6, or 2e-6 where V is singular.
    """
    gram = _checked(gram)
    require_sdp_size(len(gram))
    import cvxpy

    asked = np.diag(gram) > 0
    if not asked.all():
        return _with_unasked(sdp_strategy(gram[np.ix_(asked, asked)]), asked)
    unit = np.diag(gram).max()
    values, vectors = linalg.eigh(gram / unit)
    kept = values > _rounding(values)
    variable = cvxpy.Variable(gram.shape, PSD=True)
    error = cvxpy.matrix_frac(vectors[:, kept] * np.sqrt(values[kept]), variable)
    problem = cvxpy.Problem(cvxpy.Minimize(error), [cvxpy.diag(variable) <= 1])
    problem.solve(solver=cvxpy.CLARABEL)
    if problem.status not in (cvxpy.OPTIMAL, cvxpy.OPTIMAL_INACCURATE):
        raise Unsupported(f"got no strategy from the convex solver: status {problem.status!r}")
    found = 0.5 * (variable.value + variable.value.T)
    feasible = _feasible(found / np.diag(found).max(), FLOOR * (not kept.all()))
    factor = linalg.cho_factor(feasible, lower=True)
    # The multipliers of diag(X) <= 1 at the optimum.
    v = np.diag(linalg.cho_solve(factor, linalg.cho_solve(factor, gram / unit).T))
    bound = _at(gram / unit, v).lower_bound if False else _dual_bound(gram / unit, v)
    strategy = Strategy(
        gram=feasible,
        error=float(np.trace(linalg.cho_solve(factor, gram))),
        lower_bound=bound * unit,
    )
    if strategy.gap > (SDP_TOLERANCE if kept.all() else SINGULAR_TOLERANCE):
        raise Unsupported(f"got no optimal strategy from the convex solver: gap {strategy.gap:.3g}")
    return strategy


def require_size(size: int) -> None:
    """Raise Unsupported, with the expected cost, for more cells than an optimisation can take."""
    if size > LARGEST_SIZE:
        raise Unsupported(
            f"optimises over at most {LARGEST_SIZE} cells per factor of the workload, got {size}: "
            f"it would take about {_duration(10 * (size / 1024) ** 3)} and "
            f"{80 * size**2 / 2**30:.3g} GiB; use the identity workload, or one factor per axis"
        )


def require_sdp_size(size: int) -> None:
    """Raise Unsupported, with the expected time, for more cells than the SDP solver can take."""
    if size > LARGEST_SDP_SIZE:
        raise Unsupported(
            f"gives the convex solver at most {LARGEST_SDP_SIZE} cells per factor of the workload, "
            f"got {size}: it would take about {_duration(60 * (size / 64) ** 6)}; use "
            "matrix-mechanism, which finds the same strategy"
        )
