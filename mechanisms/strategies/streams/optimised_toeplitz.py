"""Toeplitz factorisations of least mean error: banded (BandMF) and buffered (BLT).

The objective is log sens(C)^2 + log mean ||B_t||^2, where the sensitivity is that of the earliest
steps of one person: exact for the C that are found, or else bounded by `toeplitz_sensitivity`.
"""

import warnings

import numpy as np
import scipy

from mechanisms.query.query import Unsupported
from mechanisms.strategies.streams.closed_forms import square_root
from mechanisms.strategies.streams.factorisation import (
    BufferedFactorisation,
    ToeplitzFactorisation,
    reciprocal,
)
from mechanisms.strategies.streams.participation import Participation, sum_of_columns
from mechanisms.strategies.streams.stream_workload import StreamWorkload

# Relative change of the objective at which L-BFGS stops, and its most iterations.
_TOLERANCE, _ITERATIONS = 1e-13, 2000
_FIRST_STEP = 1e-2
# A logarithm that no error has.
_OVERFLOWN = 1e3


def banded(
    workload: StreamWorkload, bands: int, participation: Participation
) -> ToeplitzFactorisation:
    """BandMF among Toeplitz C: c_0 = 1, and c_1 to c_{bands - 1} >= 0 minimise the objective.

    Choquette-Choo et al. 2023 (arXiv:2306.08153) optimise over all banded C, as `optimal_banded`
    does. With at most `separation` bands the columns of one person do not overlap.
    """
    bands = min(bands, workload.steps)
    start = square_root(workload).column[1:bands]
    answer = workload.coefficients()

    def objective(free):
        column = np.zeros(workload.steps)
        column[0], column[1:bands] = 1.0, free
        value, gradient = log_error(column, answer, participation, bands)
        return value, gradient[1:]

    column = np.zeros(workload.steps)
    column[0] = 1.0
    if bands > 1:
        column[1:bands] = _minimum(objective, start, [(0.0, np.inf)] * (bands - 1))
    return ToeplitzFactorisation.of_column(column)


def buffered(
    workload: StreamWorkload, buffers: int, participation: Participation
) -> BufferedFactorisation:
    """BLT: c_0 = 1 and c_i = sum_j weight_j rate_j^(i - 1), weights > 0, rates in (0, 1).

    Noise for such C needs `buffers` vectors of memory, whatever n (Dvijotham et al. 2024,
    arXiv:2404.16706; McMahan et al. 2024, arXiv:2408.08868). The optimiser starts from rates that
    are evenly spread in the logarithm and from weights that fit the square root.
    """
    steps, answer = workload.steps, workload.coefficients()
    if steps < 2 * buffers + 1:
        raise Unsupported(f"needs at least {2 * buffers + 1} steps for {buffers} buffers")
    powers = np.arange(steps - 1)
    slowest, fastest = np.log(2.0 / steps), np.log(2.0)
    log_rates = np.linspace(slowest, fastest, buffers + 2)[1:-1]
    weights = _fitted(np.exp(-np.outer(powers, np.exp(log_rates))), square_root(workload).column)

    def column_of(free):
        log_rates, log_weights = np.split(free, 2)
        parts = np.exp(log_weights - np.outer(powers, np.exp(log_rates)))
        return np.concatenate([[1.0], parts.sum(axis=1)]), parts

    def objective(free):
        column, parts = column_of(free)
        value, gradient = log_error(column, answer, participation, steps)
        by_rate = -(gradient[1:] * powers) @ parts * np.exp(free[:buffers])
        return value, np.concatenate([by_rate, gradient[1:] @ parts])

    limits = [(np.log(1e-3 / steps), np.log(20.0))] * buffers + [(-40.0, 5.0)] * buffers
    found = _minimum(objective, np.concatenate([log_rates, np.log(weights)]), limits)
    log_rates, log_weights = np.split(found, 2)
    column = column_of(found)[0]
    return BufferedFactorisation(
        column=column,
        inverse=reciprocal(column),
        rates=np.exp(-np.exp(log_rates)),
        weights=np.exp(log_weights),
    )


def log_error(
    column: np.ndarray, answer: np.ndarray, participation: Participation, bands: int
) -> tuple[float, np.ndarray]:
    """log of sens^2 times the mean error, and its gradient in the first `bands` coefficients.

    With b = a / c as series, mean error = sum_j (1 - j/n) b_j^2 and db = -(b / c) dc.

    Args:
        column: c, (n,).
        answer: a, (n,).
    """
    steps = len(column)
    places = participation.earliest(steps)
    moved = sum_of_columns(column, places)
    divisor = np.trim_zeros(column, "b")
    left = scipy.signal.lfilter([1.0], divisor, answer)
    twice = scipy.signal.lfilter([1.0], divisor, left)
    weighted = left * (1 - np.arange(steps) / steps)
    square, error = moved @ moved, weighted @ left
    by_square = np.zeros(bands)
    for place in places:
        length = min(bands, steps - place)
        by_square[:length] += moved[place : place + length]
    lags = scipy.signal.correlate(weighted, twice, method="fft")[steps - 1 :][:bands]
    value = float(np.log(square) + np.log(error))
    return value, 2 * by_square / square - 2 * lags / error


def _fitted(parts: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Positive weights with which the parts come near the root's coefficients after the first."""
    scale = 1 / root[1:]
    weights = scipy.optimize.nnls(parts * scale[:, None], root[1:] * scale)[0]
    return np.maximum(weights, 1e-3 * weights.max())


def _minimum(objective, start: np.ndarray, limits: list) -> np.ndarray:
    # In units of _FIRST_STEP, so that the first step along the gradient stays near the start.
    def scaled(free):
        # Where C has no stable inverse the error overflows: such a step is not taken.
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            value, gradient = objective(free * _FIRST_STEP)
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            return _OVERFLOWN, np.zeros_like(free)
        return value, gradient * _FIRST_STEP

    found = scipy.optimize.minimize(
        scaled,
        start / _FIRST_STEP,
        jac=True,
        method="L-BFGS-B",
        bounds=np.array(limits, float) / _FIRST_STEP,
        options={"ftol": _TOLERANCE, "gtol": 1e-9, "maxiter": _ITERATIONS, "maxcor": 20},
    )
    if not found.fun < _OVERFLOWN:
        raise Unsupported(f"found no factorisation: {found.message}")
    return found.x * _FIRST_STEP
