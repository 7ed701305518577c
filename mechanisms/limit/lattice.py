"""Bounds the error for one element, by a linear programme for tests of noise on a lattice.

Round the noise of an (epsilon, delta)-DP mechanism at random, without bias, to a neighbour on the
lattice h Z. The noise stays private for shifts by multiples of h, and its second moment V grows by
at most h^2 / 4. So V >= V_h - h^2 / 4, where V_h is the least second moment of private noise on
h Z. Let w_j be tests of shifts by j h, with values in [0, lambda_j] at the points k h. Any such
tests bound V_h from below:

    V_h >= inf_k [ (k h)^2 + sum_j (w_j(k) - e^epsilon w_j(k - j)) ] - delta sum_j lambda_j.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np
import scipy

# The size of the programme: tests end about _CELLS lattice steps from 0, or _COARSE steps if the
# lattice is to be coarse. The sensitivity has at least 1 step and at most _FINEST.
_CELLS, _COARSE, _FINEST = 400, 100, 100
# Above the epsilon _LARGE, noise is small beside the sensitivity, and _MORE_CELLS replaces _CELLS.
_LARGE, _MORE_CELLS = 2.5, 800
# Above the epsilon _NARROW, noise is far narrower than the sensitivity: nearly all of it lies in a
# core whose width falls like e^(-epsilon / 3). The sensitivity then has up to _NARROW_STEPS steps.
# Up to _MOST_DISTANCES shifts are tested. They range from the share _FROM of the sensitivity to all
# of it, and differ by about the width of the core.
_NARROW, _NARROW_STEPS, _FROM, _MOST_DISTANCES = 7.0, 200, 0.3, 36
# Beyond the tests, noise costs only its square. If epsilon is below _SMALL and the density falls by
# a factor below e^_FALL, tests reach _WIDER times as far as otherwise.
_SMALL, _FALL, _WIDER = 0.4, 12.0, 1.4


@dataclass(frozen=True, kw_only=True, eq=False)
class LatticeTest:
    """Tests of noise on Z / steps against noise shifted by `shifts` steps, at sensitivity 1.

    Args:
        epsilon: > 0, at most 700.
        steps: The number of lattice steps in the sensitivity.
        shifts: (J,) whole numbers from 1 to `steps`.
        weights: (J, 2 N + 1) values of the tests w_j at the points -N..N, finite and at least 0;
            w_j is 0 elsewhere.
    """

    epsilon: float
    steps: int
    shifts: np.ndarray
    weights: np.ndarray

    def lower(self, delta: float) -> float:
        """Return a lower bound on sup_x E(A(x) - x)^2 of every mechanism A.

        A margin for every sum covers its rounding error. Noise may be averaged with its mirror
        image, so the values at k and -k are averaged.
        """
        reach = self.weights.shape[1] // 2
        places = np.arange(-reach - self.steps, reach + self.steps + 1)
        total = magnitude = (places / self.steps) ** 2
        growth = math.exp(self.epsilon)
        for shift, weights in zip(self.shifts, self.weights, strict=True):
            own = np.pad(weights, self.steps)
            # No weight leaves the array, because no shift exceeds the steps.
            moved = np.roll(own, shift)
            total = total + own - growth * moved
            magnitude = magnitude + own + growth * moved
        paid = delta * self.weights.max(axis=1)
        error = 1e-15 * (8 + len(self.shifts))
        values = total - error * magnitude
        least = float(((values + values[::-1]) / 2).min())
        return least - float(paid.sum()) * (1 + error) - 0.25 / self.steps**2 * (1 + error)


@functools.lru_cache(maxsize=64)
def lattice_test(epsilon: float, delta: float, integer: bool, coarse: bool = False) -> LatticeTest:
    """Return nearly optimal tests at sensitivity 1.

    The tests solve the dual of the programme for noise of least second moment on the lattice. They
    vanish outside -N..N, and noise may lie up to N + steps, so the bound holds for all noise.

    Args:
        integer: Whether the answer changes only by exactly 1, so that no smaller shift is tested.
        coarse: Whether to use a coarse lattice, for a quick bound.
    """
    fall = math.log1p(math.expm1(min(epsilon, 50.0)) / max(2 * delta, 1e-9))
    reach = (1.5 + fall / epsilon) * (_WIDER if epsilon < _SMALL and fall < _FALL else 1.0)
    reach = min(reach, 24 / epsilon + 3, 2 / max(delta, 1e-12))
    cells = _COARSE if coarse else _MORE_CELLS if epsilon > _LARGE else _CELLS
    steps = int(np.clip(cells / reach, 1, _NARROW_STEPS if epsilon > _NARROW else _FINEST))
    end = math.ceil(reach * steps)
    shifts = np.array([steps]) if integer else _spread(steps, epsilon)
    inner, columns = np.arange(-end, end + 1), end + steps + 1
    growth, count = math.exp(epsilon), len(inner)
    share = np.where(np.arange(columns) == 0, 1.0, 0.5)
    own = _symmetric(inner, share)
    blocks = [own - growth * _symmetric(inner + j, share) for j in shifts]
    # p(k) - e^epsilon p(k + j) <= t_j(k), sum_k t_j(k) <= delta.
    tests = len(shifts)
    rows = tests * count
    excess = scipy.sparse.hstack([scipy.sparse.vstack(blocks), -scipy.sparse.eye(rows)])
    sums = scipy.sparse.kron(scipy.sparse.eye(tests), np.ones((1, count)))
    sums = scipy.sparse.hstack([scipy.sparse.csr_array((tests, columns)), sums])
    squares = (np.arange(columns) / steps) ** 2
    answer = scipy.optimize.linprog(
        np.concatenate([squares, np.zeros(rows)]),
        A_ub=scipy.sparse.vstack([excess, sums]).tocsr(),
        b_ub=np.concatenate([np.zeros(rows), np.full(tests, delta)]),
        A_eq=np.concatenate([np.ones(columns), np.zeros(rows)])[None, :],
        b_eq=[1.0],
        method="highs",
    )
    weights = np.zeros((tests, count))
    if answer.x is not None:
        found = -answer.ineqlin.marginals
        weights = np.maximum(found[:rows].reshape(tests, count), 0.0)
        if delta > 0:
            weights = np.minimum(weights, np.maximum(found[rows:], 0.0)[:, None])
    return LatticeTest(epsilon=epsilon, steps=steps, shifts=shifts, weights=weights)


def _spread(steps: int, epsilon: float) -> np.ndarray:
    """Return the shifts to test: all on a coarse lattice, some on a fine one.

    Any choice gives a bound.
    """
    if epsilon <= _NARROW:
        return np.unique(np.linspace(1, steps, min(steps, 14)).astype(int))
    count = min(math.ceil(1.1 * math.exp(epsilon / 3)), _MOST_DISTANCES)
    return np.unique(np.linspace(max(_FROM * steps, 1), steps, count).astype(int))


def _symmetric(places: np.ndarray, share: np.ndarray):
    """Return the matrix that maps masses of {0}, {-1, 1}, ... to probabilities of the places."""
    inside = np.abs(places) < len(share)
    rows, columns = np.flatnonzero(inside), np.abs(places[inside])
    return scipy.sparse.csr_array(
        (share[columns], (rows, columns)), shape=(len(places), len(share))
    )
