"""Nearly optimal soft tests for few elements, by a linear programme.

The programme maximises nu - delta sum_j lambda_j such that r^2 + sum_j g_j(r) >= nu at some radii,
and is solved again with those between them where that fails. Its solution only chooses the test:
`SoftTest.lower` bounds what happens at all others.
"""

import math
from dataclasses import replace

import numpy as np
import scipy

from mechanisms.limit.ball_test import gaussian_scale
from mechanisms.limit.pure import PureLimit
from mechanisms.limit.soft_caps import (
    excess,
    first_moments,
    gap_heights,
    norm_heights,
    probabilities,
)
from mechanisms.limit.soft_test import SoftTest
from mechanisms.limit.threshold_test import split

# Above this epsilon the best noise is so small that half the distance matters too.
_SHORT = 3.0
# Gaps at which the tests may change, denser where noise and shifted noise differ most; up to that
# epsilon, and above it, where the programme is larger.
_GAPS, _FEWER_GAPS = ((0.004, 12), (0.006, 10))
# Nodes up to 1.2, also above _SHORT in 2 or 3 dimensions, where noise is smaller than the change;
# and beyond, as a share of 1 / epsilon, later of the distance from there.
_NEAR, _NEARER, _FAR, _GROWTH = 0.1, 0.035, 0.25, 0.04
# Points of the programme between two bends, and of the search for more of them, which ends where
# none is below nu by more than this share of the squared error.
_POINTS, _FINER, _ROUNDS, _VIOLATION = 3, 9, 10, 2e-4
# Steps after which a programme counts as failed: nearly all need 60. Seconds would make the test
# depend on the machine.
_STEPS = 1000
# The price of a weight, so that those that hardly matter are 0, and the least share by which the
# effect of a weight may differ from the largest effect.
_TAX, _RAREST = 1e-6, 1e-4
# How far r^2 + sum g is to exceed nu, as a share of r^2 beyond a multiple of the squared error:
# noise is seldom there, and what happens between the points does not bind.
_SLACKS = ((0.001, 2.0), (0.03, 8.0))
# Stands for r = 0, and an edge so little below a node counts as one above it.
_LEAST = _NEAR_NODE = 1e-9


def soft_test(dimension: int, epsilon: float, delta: float) -> SoftTest:
    """A nearly optimal soft test at sensitivity 1, for small M >= 2."""
    scale = gaussian_scale(epsilon, delta)
    error = min(PureLimit(dimension, epsilon).lower(0.0), dimension * scale**2)
    # Noise beyond this radius is as rare as delta, under pure privacy or with Gaussian noise.
    rare = min(10 * delta, 0.1)
    reach = 1 + min(
        scipy.special.gammainccinv(dimension, rare) / epsilon,
        scale * math.sqrt(2 * scipy.special.gammainccinv(dimension / 2, rare)),
    )
    near = _NEARER if epsilon > _SHORT and dimension <= 3 else _NEAR
    step = min(_FAR / epsilon, reach / 20)
    far = _growing(step, max(reach - 1.2, step))
    radii = np.append(np.arange(0.0, 1.15, near), 1.2 + far)
    first, count = _FEWER_GAPS if epsilon > _SHORT else _GAPS
    distances = np.array([1.0, 0.5] if epsilon > _SHORT else [1.0])
    gaps = np.append(0.0, np.geomspace(first, 1.0, count))
    weights = np.zeros((len(distances), len(gaps) - 1, len(radii)))
    kinds = {"dimension": dimension, "epsilon": epsilon, "distances": distances}
    test = SoftTest(**kinds, radii=_short(radii), gaps=_short(gaps), weights=weights)
    points, finer = _grids(test)
    everywhere = _gains(test, finer)
    for _ in range(_ROUNDS):
        found = _programme(test, delta, error, points)
        if found is None:
            break
        test, level = found
        values = finer**2 + everywhere @ test.weights.ravel()
        beside = np.minimum(np.append(values[1:], np.inf), np.append(np.inf, values[:-1]))
        low = (values < level - _VIOLATION * error) & (values <= beside)
        more = finer[low]
        if not low.any():
            radius, value = test.lowest(delta)
            if value > level - 2 * _VIOLATION * error:
                break
            more = [radius]
        points = np.union1d(points, more)
    return test


def _growing(step: float, end: float) -> np.ndarray:
    """Numbers from 0 to at least `end`, by the step and later by a share of themselves."""
    turn = step / _GROWTH
    count = max(math.ceil(math.log(end / turn) / math.log1p(_GROWTH)) + 1, 1)
    # A range of floats up to `turn` may hold it, and it would be there twice.
    return np.append(step * np.arange(round(1 / _GROWTH)), turn * (1 + _GROWTH) ** np.arange(count))


def _short(numbers: np.ndarray) -> np.ndarray:
    """Rounded to few digits, which a certificate has to write."""
    return np.array([float(f"{number:.5g}") for number in numbers])


def _grids(test: SoftTest) -> tuple[np.ndarray, np.ndarray]:
    """Points of the programme between nodes and where caps appear, and those of the search."""
    ends = np.concatenate([test.gaps / 2, 1 - test.gaps / 2])
    shifted = np.add.outer(test.distances, test.radii)
    scaled = np.multiply.outer(test.distances, ends)
    bends = np.unique(np.concatenate([test.radii, shifted.ravel(), scaled.ravel()]))
    bends = bends[np.diff(bends, prepend=-1.0) > _NEAR_NODE]
    finer = np.union1d(split(test.bends(), 2), split(bends, _FINER))
    return split(bends, _POINTS), finer[np.diff(finer, prepend=-1.0) > 1e-6]


def _programme(test: SoftTest, delta: float, error: float, points: np.ndarray):
    """The best test for these radii and its nu, or None where the programme fails.

    Its units are the squared error, and for each weight what changes some value by one of them.
    """
    shape, gains = test.weights.shape, _gains(test, points)
    tests, count = shape[0], math.prod(shape)
    effects = abs(gains).max(axis=0).toarray().ravel()
    units = error / np.maximum(effects, _RAREST * effects.max())
    unit = units.max()
    slack = sum(share * np.maximum(points**2 - times * error, 0.0) for share, times in _SLACKS)
    values = -gains @ scipy.sparse.diags_array(units / error)
    values = [values, np.zeros((len(points), tests)), np.ones((len(points), 1))]
    largest = scipy.sparse.kron(scipy.sparse.eye(tests), np.ones((count // tests, 1)))
    bounded = [scipy.sparse.diags_array(units / unit), -largest, scipy.sparse.csr_array((count, 1))]
    most = np.full(count + tests + 1, np.inf)
    most[:count].reshape(shape)[:, :, -1] = 0.0
    answer = scipy.optimize.linprog(
        np.concatenate([np.full(count, _TAX), np.full(tests, delta * unit / error), [-1.0]]),
        A_ub=scipy.sparse.vstack(
            [scipy.sparse.hstack(values), scipy.sparse.hstack(bounded)]
        ).tocsr(),
        b_ub=np.concatenate([(points**2 - slack) / error, np.zeros(count)]),
        bounds=np.stack([np.zeros_like(most), most], axis=1),
        method="highs-ipm",
        options={"maxiter": _STEPS},
    )
    if answer.x is None:
        return None
    weights = np.maximum(answer.x[:count] * units, 0.0).reshape(tests, -1)
    weights = np.minimum(weights, np.maximum(answer.x[count:-1, None] * unit, 0.0)).reshape(shape)
    weights[:, :, -1] = 0.0
    return replace(test, weights=weights), answer.x[-1] * error


def _gains(test: SoftTest, r: np.ndarray):
    """The matrix that maps the weights to sum_j g_j(r)."""
    growth, blocks = math.exp(test.epsilon), []
    for s in test.distances:
        radii, far = test.radii / s, np.maximum(r, _LEAST)[:, None] / s
        own = probabilities(gap_heights(far, test.gaps[1:], False), test.dimension)
        edges = far - 1 + test.gaps[1:]
        shifted = _caps(far, edges, gap_heights(far, test.gaps[1:], True), test.dimension)
        norms = np.broadcast_to(radii, (len(r), len(radii)))
        nodes = _caps(far, norms, norm_heights(far, norms), test.dimension)
        blocks.append(_below(radii, far + 0 * own, own, 0 * own))
        moved = _below(radii, edges, *shifted) + _kinks(radii, test.gaps, far, nodes[1])
        blocks[-1] -= growth * moved
    return scipy.sparse.hstack(blocks).tocsr()


def _caps(r, norms, heights, dimension):
    """C and J of `soft_caps`."""
    probability = probabilities(heights, dimension)
    return probability, excess(r, heights, probability, first_moments(heights, dimension))


def _below(radii, norms, probability, integral):
    """The matrix from weights to sums over edges of D C - B J.

    D is what w falls by at the edge, and B what its slope in squares does. Both are differences of
    two cells, the one that ends there and the next one.
    """
    count, edges, squares = len(radii), norms.shape[1], radii**2
    row, edge = np.nonzero((probability > 0) & (norms + _NEAR_NODE < radii[-1]))
    norm, c, j = norms[row, edge], probability[row, edge], integral[row, edge]
    piece = np.searchsorted(radii, np.maximum(norm, 0.0) + _NEAR_NODE) - 1
    width = squares[piece + 1] - squares[piece]
    share = (norm**2 - squares[piece]) / width
    ends = (1 - share) * c + j / width, share * c - j / width
    place = edge * count + piece
    last = edge + 1 < edges
    entries = np.concatenate([*ends, -ends[0][last], -ends[1][last]])
    places = np.concatenate([place, place + 1, place[last] + count, place[last] + count + 1])
    rows = np.concatenate([row, row, row[last], row[last]])
    return scipy.sparse.csr_array((entries, (rows, places)), shape=(len(norms), edges * count))


def _kinks(radii, gaps, r, integral):
    """The matrix from weights to the sums over nodes of -B J, in the cell where the node is."""
    count, steps = len(radii), np.diff(radii**2)
    shape = len(r), (len(gaps) - 1) * count
    cell = np.searchsorted(gaps, 1 + radii - r - _NEAR_NODE) - 1
    inside = (integral > 0) & (cell >= 0) & (cell < len(gaps) - 1)
    inside[:, 0] = False
    row, node = np.nonzero(inside)
    j, place = integral[row, node], cell[row, node] * count + node
    # Beyond the last node the slope is 0.
    before, after = j / steps[node - 1], j / np.append(steps, np.inf)[node]
    entries = np.concatenate([before, -before - after, after])
    places = np.concatenate([place - 1, place, np.minimum(place + 1, shape[1] - 1)])
    return scipy.sparse.csr_array((entries, (np.tile(row, 3), places)), shape=shape)
