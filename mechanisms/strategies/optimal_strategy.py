"""Optimal strategies of the matrix mechanism, with a certificate of their optimality.

A strategy A with columns of l2 norm 1 is measured with i.i.d. N(0, sigma^2) noise. The workload W
is then answered with total variance sigma^2 tr(V X^-1), where V = W^T W and X = A^T A. The best X
solves

    minimise  tr(V X^-1)   subject to   diag(X) <= 1,  X positive definite          (primal)
    maximise  tr((D^1/2 V D^1/2)^1/2)^2 / sum(v)   over   D = diag(v), v > 0        (dual)

(Li et al. 2015; Yuan et al. 2016 for the convex program). With M = (D^1/2 V D^1/2)^1/2 the
Lagrangian is least at X(v) = D^-1/2 M D^-1/2. So v is optimal if diag X(v) = 1, that is, if
v = diag M. Every v bounds the optimum from below and every feasible X from above. The relative
distance of these two bounds is the certified gap.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy

from mechanisms.query.query import Unsupported

# Relative gaps at which the solvers stop. If V is singular, the optimum is only approached, and the
# cost of FLOOR is part of the gap.
TOLERANCE, SINGULAR_TOLERANCE = 1e-8, 2e-6
SDP_TOLERANCE = 1e-6
# After the last iteration a gap of this size is accepted if V is singular up to rounding, as for a
# Hilbert matrix as workload. The strategy states its gap.
_LARGEST_SINGULAR_GAP = 1e-5
# Weight of the identity in X if V is singular. The strategy then measures cells that the workload
# cannot tell apart, with noise of at most 1 / sqrt(FLOOR) = 1000 sigma, so that x has an estimate.
# Less weight would cost less, but tr(V X^-1) is known to about eps / FLOOR: at 1e-9 the rounding
# errors are as large as the gap. L-BFGS on the dual (in log v) does no better at 1e-9: after ten
# times the work its gap was above 1e-6, and that of the fixed point was 1e-7.
FLOOR = 1e-6
LARGEST_SIZE, LARGEST_SDP_SIZE = 2048, 64
_ITERATIONS, _MEMORY = 300, 10
# Every v_i is kept above this share of the largest: smaller ones drown in the rounding of M.
_LEAST_SHARE = 1e-11


@dataclass(frozen=True, kw_only=True, eq=False)
class Strategy:
    """A strategy with a bound on its distance from the optimum.

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
        """Eigenvalues of X, (n,), ascending, and eigenvectors, (n, n), one per column.

        Raises:
            ArithmeticError: An eigenvalue is not positive.
        """
        values, vectors = scipy.linalg.eigh(self.gram)
        if values[0] <= 0:
            raise ArithmeticError(f"the strategy is singular: least eigenvalue {values[0]:.3g}")
        return values, vectors


def optimal_strategy(gram: np.ndarray) -> Strategy:
    """Find the best strategy for V = `gram` by an accelerated fixed point.

    It needs memory for at most 10 n^2 floats. The iteration is v <- v diag(X(v))^2. A step of the
    plain fixed point v <- diag M = v diag(X(v)) at best halves the error of log v, because M is
    homogeneous of degree 1/2 in v. Doubling the step removes this limit, and Anderson's
    extrapolation removes the remaining error.

    Args:
        gram: (n, n), symmetric positive semidefinite, not zero, n <= 2048. Cells that no query
            asks for (zero on the diagonal) are measured by themselves. The caller checks n with
            `require_size`.

    Returns:
        A strategy with a gap of at most 1e-8, or 1e-5 (mostly 2e-6) if V is singular: the optimal X
        is then singular too, and the result mixes it with 1e-6 of the identity.

    Raises:
        ValueError: The trace of `gram` is zero or infinite.
        Unsupported: 300 iterations do not reach the gap.
    """
    return _of_asked_cells(gram, _fixed_point)


def sdp_strategy(gram: np.ndarray) -> Strategy:
    """Solve the same program with CVXPY (matrix_frac) and Clarabel.

    It is an oracle for `optimal_strategy`, with which it shares the certificate and the scaling,
    but no optimisation.

    Args:
        gram: As in `optimal_strategy`, but with n <= 64, see `require_sdp_size`.

    Returns:
        A strategy with a gap of at most 1e-6, or 2e-6 if V is singular.

    Raises:
        ValueError: The trace of `gram` is zero or infinite.
        Unsupported: The solver fails or does not reach the gap.
    """
    return _of_asked_cells(gram, _convex_program)


def _of_asked_cells(gram: np.ndarray, solve: Callable[[np.ndarray], Strategy]) -> Strategy:
    """Apply `solve` to the cells that have a query, with the largest diagonal of V scaled to 1.

    The other cells are measured by themselves. Coefficients whose squares overflow or all vanish
    raise ValueError.
    """
    if not 0 < np.trace(gram) < np.inf:
        raise ValueError(
            f"the squares of a workload's coefficients add up to {np.trace(gram):g}: scale them"
        )
    asked = np.flatnonzero(np.diag(gram))
    cells = np.ix_(asked, asked)
    unit = np.diag(gram).max()
    found = solve(gram[cells] / unit)
    whole = np.eye(len(gram))
    whole[cells] = found.gram
    return Strategy(gram=whole, error=found.error * unit, lower_bound=found.lower_bound * unit)


def _fixed_point(gram: np.ndarray) -> Strategy:
    """Implement `optimal_strategy` for V with a diagonal in (0, 1]."""
    log_v = 0.5 * np.log(np.diag(gram))
    points, moves = [], []
    best, error, bound, last = None, np.inf, 0.0, 0.0
    for _ in range(_ITERATIONS):
        v = np.exp(log_v)
        dual = _dual(gram, v)
        strategy = _primal(v, dual)
        reached = _error(gram, strategy)
        if reached < error:
            best, error = strategy, reached
        bound = max(bound, dual.bound)
        if error <= bound * (1 + (TOLERANCE if dual.regular else SINGULAR_TOLERANCE)):
            break
        if dual.bound < last:
            # The extrapolation went too far: restart from the last point, without its history.
            points, moves, last = points[-1:], moves[-1:], 0.0
        else:
            points = [*points[1 - _MEMORY :], log_v]
            # diag X up to a factor, because the bound does not depend on the scale of v.
            excess = dual.diagonal / v * (v.sum() / dual.roots.sum())
            moves = [*moves[1 - _MEMORY :], 2 * np.log(np.maximum(excess, 1e-3))]
            last = dual.bound
        log_v = _extrapolated(points, moves, np.sqrt(v))
        log_v = np.maximum(log_v - log_v.max(), np.log(_LEAST_SHARE))
    else:
        if dual.regular or error > bound * (1 + _LARGEST_SINGULAR_GAP):
            raise Unsupported(
                f"found no optimal strategy for {len(gram)} cells in {_ITERATIONS} iterations: the "
                f"gap reached is {error / bound - 1:.3g}; choose a workload with fewer or more "
                "similar cells"
            )
    return Strategy(gram=best, error=error, lower_bound=bound)


def _convex_program(gram: np.ndarray) -> Strategy:
    """Implement `sdp_strategy` for V with a diagonal in (0, 1]."""
    import cvxpy

    values, vectors = scipy.linalg.eigh(gram)
    kept = values > rounding(values)
    variable = cvxpy.Variable(gram.shape, PSD=True)
    error = cvxpy.matrix_frac(vectors[:, kept] * np.sqrt(values[kept]), variable)
    columns = cvxpy.diag(variable) <= 1
    problem = cvxpy.Problem(cvxpy.Minimize(error), [columns])
    problem.solve(solver=cvxpy.CLARABEL)
    if problem.status not in (cvxpy.OPTIMAL, cvxpy.OPTIMAL_INACCURATE):
        raise Unsupported(f"found no strategy with a convex solver: status {problem.status!r}")
    found = 0.5 * (variable.value + variable.value.T)
    best = _feasible(found, regular=bool(kept.all()))
    v = np.maximum(columns.dual_value, _LEAST_SHARE * columns.dual_value.max())
    strategy = Strategy(gram=best, error=_error(gram, best), lower_bound=_dual(gram, v).bound)
    if strategy.gap > (SDP_TOLERANCE if kept.all() else SINGULAR_TOLERANCE):
        raise Unsupported(f"found no optimal strategy with a convex solver: gap {strategy.gap:.3g}")
    return strategy


def require_size(size: int) -> None:
    """Raise Unsupported, with the expected cost, for more cells than an optimisation can take."""
    if size > LARGEST_SIZE:
        raise Unsupported(
            f"optimises over at most {LARGEST_SIZE} cells per factor of the workload, got {size}: "
            f"it would take about {duration(10 * (size / 1024) ** 3)} and "
            f"{80 * size**2 / 2**30:.3g} GiB; use the identity workload, or one factor per axis"
        )


def require_sdp_size(size: int) -> None:
    """Raise Unsupported, with the expected time, for more cells than the SDP solver can take."""
    if size > LARGEST_SDP_SIZE:
        raise Unsupported(
            f"gives the convex solver at most {LARGEST_SDP_SIZE} cells per factor of the workload, "
            f"got {size}: it would take about {duration(120 * (size / 64) ** 5)}; use "
            "matrix-mechanism, which finds the same strategy"
        )


class _Dual(NamedTuple):
    """The dual at one v.

    roots, vectors, diagonal: Eigenvalues, eigenvectors and diagonal of M. bound: The lower bound.
    regular: Whether V has full rank beyond rounding.
    """

    roots: np.ndarray
    vectors: np.ndarray
    diagonal: np.ndarray
    bound: float
    regular: bool


def _dual(gram: np.ndarray, v: np.ndarray) -> _Dual:
    root_v = np.sqrt(v)
    scaled = gram * root_v
    scaled *= root_v[:, None]
    values, vectors = scipy.linalg.eigh(scaled, driver="evd", overwrite_a=True, check_finite=False)
    # Values that are rounding errors are dropped: that can only lower the bound.
    roots = np.sqrt(np.where(values > rounding(values), values, 0.0))
    return _Dual(
        roots=roots,
        vectors=vectors,
        diagonal=np.square(vectors) @ roots,
        bound=float(roots.sum() ** 2 / v.sum()),
        regular=bool(roots.all()),
    )


def _primal(v: np.ndarray, dual: _Dual) -> np.ndarray:
    """Return X(v), made feasible."""
    found = (dual.vectors * dual.roots) @ dual.vectors.T
    root_v = np.sqrt(v)
    found /= root_v
    found /= root_v[:, None]
    return _feasible(found, regular=dual.regular)


def _feasible(found: np.ndarray, *, regular: bool) -> np.ndarray:
    """Scale X by its largest diagonal entry and raise its diagonal to 1, in place.

    Raising the diagonal only lowers tr(V X^-1). If V is not `regular`, X is first scaled down by
    1 - FLOOR, so that the diagonal rises by at least FLOOR.
    """
    found *= (1.0 if regular else 1 - FLOOR) / np.diag(found).max()
    np.fill_diagonal(found, 1.0)
    return found


def _error(gram: np.ndarray, strategy: np.ndarray) -> float:
    """Return tr(V X^-1), or inf if X is not numerically positive definite."""
    try:
        factor = scipy.linalg.cho_factor(strategy, lower=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        return np.inf
    return float(np.trace(scipy.linalg.cho_solve(factor, gram, check_finite=False)))


def _extrapolated(
    points: list[np.ndarray], moves: list[np.ndarray], weights: np.ndarray
) -> np.ndarray:
    """Return the next point by Anderson's extrapolation, in the weighted l2 norm.

    It combines the points, each plus its move, by the affine combination whose combined move is
    least (Walker and Ni 2011). If there is one point, the result is that point plus its move.
    """
    following = points[-1] + moves[-1]
    if len(points) == 1:
        return following
    bends = np.diff(moves, axis=0).T
    share = np.linalg.lstsq(bends * weights[:, None], moves[-1] * weights, rcond=1e-8)[0]
    return following - (np.diff(points, axis=0).T + bends) @ share


def rounding(values: np.ndarray) -> float:
    """Return the size below which eigenvalues of a semidefinite matrix may be rounding errors."""
    return len(values) * np.finfo(float).eps * float(values.max())


def duration(seconds: float) -> str:
    """Return an expected time in words, such as "80 seconds" or "3 hours"."""
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} seconds"
