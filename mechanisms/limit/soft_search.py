"""Nearly optimal soft tests for few elements, by a linear programme.

The programme maximises nu - delta sum_j lambda_j such that r^2 + sum_j g_j(r) >= nu at many radii.
Its solution only chooses the test: `SoftTest.lower` bounds what happens between them.
"""

import math
from dataclasses import replace

import numpy as np
import scipy
from scipy import sparse
from scipy.special import betaln, gammainccinv

from mechanisms.limit.ball_test import gaussian_scale
from mechanisms.limit.pure import PureLimit
from mechanisms.limit.soft_test import SoftTest, cap_heights, cap_probabilities, split_gaps
from mechanisms.limit.threshold_test import split

# Above this epsilon the best noise is so small that half the distance matters too.
_SHORT = 3.0
# Gaps at which the tests may change, denser where noise and shifted noise differ most; up to that
# epsilon, and above it, where the programme is larger.
_GAPS, _FEWER_GAPS = ((0.004, 12), (0.006, 10))
# Nodes up to 1.2, also above _SHORT in 2 or 3 dimensions, where noise is smaller than the change;
# and beyond, as a share of 1 / epsilon.
_NEAR, _NEARER, _FAR = 0.1, 0.035, 0.25
# Points of the programme between two bends, and of the search for more of them.
_POINTS, _ROUNDS, _FINER, _VIOLATION = 4, 3, 12, 2e-3
# Steps after which the programme counts as failed; it needs about 100.
_MOST_STEPS = 2000
# The price of a weight, so that those that hardly matter are 0.
_TAX = 1e-5
# How far r^2 + sum g is to exceed nu, as a share of r^2 beyond a multiple of the squared error:
# noise is seldom there, and what happens between the points does not bind.
_SLACKS = ((0.01, 2.0), (0.2, 8.0))


def soft_test(dimension: int, epsilon: float, delta: float) -> SoftTest:
    """A nearly optimal soft test at sensitivity 1, for small M >= 2."""
    scale = gaussian_scale(epsilon, delta)
    error = min(PureLimit(dimension, epsilon).lower(0.0), dimension * scale**2)
    # Noise beyond this radius is as rare as delta, under pure privacy or with Gaussian noise.
    rare = min(10 * delta, 0.1)
    reach = 1 + min(
        gammainccinv(dimension, rare) / epsilon,
        scale * math.sqrt(2 * gammainccinv(dimension / 2, rare)),
    )
    far = np.arange(1.2, reach + _FAR / epsilon, min(_FAR / epsilon, reach / 20))
    near = _NEARER if epsilon > _SHORT and dimension <= 3 else _NEAR
    radii = np.append(np.arange(0.0, 1.15, near), far)
    first, count = _FEWER_GAPS if epsilon > _SHORT else _GAPS
    distances = np.array([1.0, 0.5] if epsilon > _SHORT else [1.0])
    gaps = np.append(0.0, np.geomspace(first, 1.0, count))
    weights = np.zeros((len(distances), len(gaps) - 1, len(radii)))
    kinds = {"dimension": dimension, "epsilon": epsilon, "distances": distances}
    test = SoftTest(**kinds, radii=radii, gaps=gaps, weights=weights, level=0.0)
    bends = test.bends()
    bends = bends[np.diff(bends, prepend=-1.0) > 1e-9]
    points, finer = split(bends, _POINTS), split(bends, _FINER)
    everywhere = _gains(test, finer)
    for _ in range(_ROUNDS):
        better = _programme(test, delta, error, points)
        if better is None:
            break
        test = better
        values = finer**2 + everywhere @ test.weights.ravel()
        low = values < test.level - _VIOLATION * error
        if not low.any():
            break
        points = np.union1d(points, finer[low])
    return test


def _programme(test: SoftTest, delta: float, error: float, points: np.ndarray) -> SoftTest | None:
    """The best test for these radii, in units in which its weights and the error are near 1."""
    shape, reach = test.weights.shape, test.radii[-1]
    tests, count = shape[0], math.prod(shape)
    unit = reach**2 * (5 * reach) ** ((test.dimension - 1) / 2)
    gains = _gains(test, points) * (unit / error)
    slack = sum(share * np.maximum(points**2 - times * error, 0.0) for share, times in _SLACKS)
    free = np.zeros((len(points), tests))
    reached = sparse.hstack([-gains, free, np.ones((len(points), 1))])
    largest = sparse.kron(sparse.eye(tests), np.ones((count // tests, 1)))
    bounded = sparse.hstack([sparse.eye(count), -largest, sparse.csr_array((count, 1))])
    most = np.full(count + tests + 1, np.inf)
    most[:count].reshape(shape)[:, :, -1] = 0.0
    answer = scipy.optimize.linprog(
        np.concatenate([np.full(count, _TAX), np.full(tests, delta * unit / error), [-1.0]]),
        A_ub=sparse.vstack([reached, bounded]).tocsr(),
        b_ub=np.concatenate([(points**2 - slack) / error, np.zeros(count)]),
        bounds=np.stack([np.zeros_like(most), most], axis=1),
        method="highs-ipm",
        options={"maxiter": _MOST_STEPS, "ipm_optimality_tolerance": 1e-6},
    )
    if answer.x is None:
        return None
    found = np.maximum(answer.x[:count].reshape(tests, -1), 0.0)
    weights = unit * np.minimum(found, np.maximum(answer.x[count:-1, None], 0.0)).reshape(shape)
    weights[:, :, -1] = 0.0
    return replace(test, weights=weights, level=answer.x[-1] * error)


def _gains(test: SoftTest, r: np.ndarray):
    """The matrix that maps the weights to sum_j g_j(r), nearly."""
    width = 0.02 if test.epsilon < _SHORT else 0.01
    gaps, cells = split_gaps(test.gaps, width, 3)
    growth, blocks = math.exp(test.epsilon), []
    for s in test.distances:
        own = _differences(r / s, test.gaps, test.dimension, False)
        shifted = _differences(r / s, gaps, test.dimension, True)
        norms = s * _norms(r / s, gaps, shifted, test.dimension)
        block = _weighed(test.radii, np.arange(own.shape[1]), r[:, None] + 0 * own, own)
        blocks.append(block - growth * _weighed(test.radii, cells, norms, shifted))
    return sparse.hstack(blocks).tocsr()


def _weighed(radii, cells, norms, probabilities):
    """The matrix from weights (K, N) to the sums of probability times the weight at that norm."""
    count = len(radii)
    used = (probabilities > 0) & (norms < radii[-1])
    row, column = np.nonzero(used)
    norm, probability = norms[used], probabilities[used]
    piece = np.searchsorted(radii, norm, "right") - 1
    share = (norm - radii[piece]) / (radii[piece + 1] - radii[piece])
    place = cells[column] * count + piece
    entries = np.concatenate([(1 - share) * probability, share * probability])
    places = np.tile(row, 2), np.concatenate([place, place + 1])
    return sparse.csr_array((entries, places), shape=(len(norms), (cells[-1] + 1) * count))


def _differences(r, gaps, dimension, shifted):
    """The probabilities that the gap is in a cell, (len(r), cells)."""
    heights = cap_heights(r, gaps[1:], shifted)
    return np.diff(cap_probabilities(*heights, dimension), axis=1, prepend=0.0)


def _norms(r, gaps, probabilities, dimension):
    """The root mean square of |r u + e| in each cell, r^2 + 1 + 2 r u_1 on average."""
    lower, upper = cap_heights(r, gaps[1:], True)
    # The integral of u_1 over a cap.
    spread = np.maximum(lower * upper, 1e-300)
    moments = -np.exp((dimension - 1) / 2 * np.log(spread) - betaln((dimension - 1) / 2, 0.5))
    moments = np.diff(np.where(lower > 0, moments, 0.0) / (dimension - 1), axis=1, prepend=0.0)
    r = r[:, None]
    low = np.maximum(r - 1 + gaps[:-1], np.abs(r - 1))
    high = np.maximum(r - 1 + gaps[1:], low)
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = r**2 + 1 + 2 * r * moments / probabilities
    squares = np.where(probabilities > 0, squares, low * high)
    return np.sqrt(np.clip(squares, low**2, high**2))
