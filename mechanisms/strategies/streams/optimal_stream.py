"""The factorisation of least mean error for one participation, with a certificate.

It is the optimal strategy of `mechanisms.strategies.optimal_strategy` for W = A, whose dual needs
the eigenvalues and vectors of D^1/2 A^T A D^1/2. Without momentum the inverse of that matrix,
D^-1/2 A^-1 A^-T D^-1/2, is tridiagonal: an iteration takes O(n^2) in place of O(n^3). With it, the
gap allowed is wider above 2048 steps, where an iteration takes half a minute.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from mechanisms.query.query import Unsupported
from mechanisms.strategies.extrapolation import extrapolated
from mechanisms.strategies.optimal_strategy import optimal_strategy
from mechanisms.strategies.streams.factorisation import DenseFactorisation
from mechanisms.strategies.streams.participation import Participation
from mechanisms.strategies.streams.stream_workload import StreamWorkload

LARGEST = 4096
# Gaps at which the search stops: up to 2048 steps, and above, where an iteration takes seconds, or
# with momentum half a minute.
SMALL = 2048
TOLERANCE, LARGE_TOLERANCE, MOMENTUM_TOLERANCE = 1e-6, 1e-4, 1e-3
_ITERATIONS, _MEMORY = 60, 10
# The gap is about so many times the weighted mean of log(diag X)^2, over all n that were tried.
_GAP_OVER_SPREAD = 30


@dataclass(frozen=True, kw_only=True, eq=False)
class OptimalFactorisation(DenseFactorisation):
    """A factorisation and what no other can go below.

    Args:
        least_error: sens(C)^2 mean ||B_t||^2 of this one, under a participation that is
            `certified`.
        lower_bound: of that, over all factorisations.
    """

    least_error: float
    lower_bound: float

    def certified(self, participation: Participation) -> bool:
        """Whether the errors are those of this participation: here, of one."""
        return participation.most(self.steps) == 1

    @property
    def gap(self) -> float:
        """least_error / lower_bound - 1: the certified relative distance from the optimum."""
        return max(self.least_error / self.lower_bound - 1, 0.0)


def optimal_factorisation(workload: StreamWorkload) -> OptimalFactorisation:
    """The best factorisation for one participation.

    Returns:
        With a gap of at most 1e-6. Above 2048 steps it is 1e-4, or 1e-3 with momentum.

    Raises:
        Unsupported: More than 4096 steps, or the iteration does not converge.
    """
    steps = workload.steps
    if steps > LARGEST:
        raise Unsupported(f"optimises over at most {LARGEST} steps, got {steps}")
    if not workload.momentum:
        tolerance = TOLERANCE if steps <= SMALL else LARGE_TOLERANCE
        return _searched(workload, _by_inverse(workload), tolerance)
    if steps > SMALL:
        return _searched(workload, _by_gram(workload), MOMENTUM_TOLERANCE)
    strategy = optimal_strategy(workload.gram())
    return OptimalFactorisation(
        gram=strategy.gram,
        least_error=strategy.error / steps,
        lower_bound=strategy.lower_bound / steps,
    )


class _Spectrum(NamedTuple):
    """Of M = D^1/2 A^T A D^1/2.

    Args:
        roots: Square roots of its eigenvalues, (n,), positive.
        vectors: Its eigenvectors, (n, n), one per column.
        total: The sum of the roots, or less where some are lost in rounding errors.
    """

    roots: np.ndarray
    vectors: np.ndarray
    total: float


def _by_inverse(workload: StreamWorkload) -> Callable[[np.ndarray], _Spectrum]:
    """From D to the spectrum, by the inverse of M: without momentum it is tridiagonal."""
    diagonal = np.full(workload.steps, 1 + workload.decay**2)
    diagonal[0] = 1.0
    beside = np.full(workload.steps - 1, -workload.decay)

    def spectrum(v: np.ndarray) -> _Spectrum:
        scale = 1 / np.sqrt(v)
        squares, vectors = scipy.linalg.eigh_tridiagonal(
            diagonal * scale**2, beside * scale[1:] * scale[:-1]
        )
        roots = 1 / np.sqrt(squares)
        return _Spectrum(roots, vectors, roots.sum())

    return spectrum


def _by_gram(workload: StreamWorkload) -> Callable[[np.ndarray], _Spectrum]:
    """From D to the spectrum, by M itself; its large eigenvalues, which matter, are accurate."""
    gram = workload.gram()

    def spectrum(v: np.ndarray) -> _Spectrum:
        scale = np.sqrt(v)
        scaled = gram * scale
        scaled *= scale[:, None]
        squares, vectors = scipy.linalg.eigh(
            scaled, driver="evd", overwrite_a=True, check_finite=False
        )
        rounding = len(v) * np.finfo(float).eps * squares[-1]
        roots = np.sqrt(np.maximum(squares, rounding))
        return _Spectrum(roots, vectors, roots[squares > rounding].sum())

    return spectrum


def _searched(
    workload: StreamWorkload, spectrum: Callable[[np.ndarray], _Spectrum], tolerance: float
) -> OptimalFactorisation:
    """v <- v diag(X(v))^2 with Anderson's extrapolation, as for any workload."""
    steps = workload.steps
    # Near the solution for prefix sums: up to 2048 steps diag X(v) lies between 0.8 and 1.4.
    index = np.arange(steps)
    log_v = np.log((steps - index) / (index + 1)) / 3
    points: list[np.ndarray] = []
    moves: list[np.ndarray] = []
    gap = np.inf
    for _ in range(_ITERATIONS):
        v = np.exp(log_v - log_v.max())
        v /= v.sum()
        roots, vectors, total = spectrum(v)
        # diag X(v), in units in which it is 1 at the optimum.
        excess = np.square(vectors) @ roots / (v * roots.sum())
        if _GAP_OVER_SPREAD * (v @ np.log(excess) ** 2) <= tolerance:
            gram = _with_unit_columns(vectors, roots, 1 / np.sqrt(v))
            best = OptimalFactorisation(
                gram=gram,
                least_error=DenseFactorisation(gram=gram).error(workload, Participation()).mean,
                lower_bound=float(total**2 / steps),
            )
            gap = best.gap
            if gap <= tolerance:
                return best
        points = [*points[1 - _MEMORY :], np.log(v)]
        moves = [*moves[1 - _MEMORY :], 2 * np.log(excess)]
        log_v = extrapolated(points, moves, np.sqrt(v))
    raise Unsupported(
        f"found no optimal factorisation of {steps} steps in {_ITERATIONS} iterations: the gap "
        f"reached is {gap:.3g}"
    )


def _with_unit_columns(vectors, roots, scale) -> np.ndarray:
    """X(v) = D^-1/2 M D^-1/2, rescaled to a unit diagonal."""
    gram = (vectors * roots) @ vectors.T
    gram *= scale
    gram *= scale[:, None]
    norms = 1 / np.sqrt(np.diag(gram))
    gram *= norms
    gram *= norms[:, None]
    return gram
