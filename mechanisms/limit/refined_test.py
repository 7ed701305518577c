"""The best threshold test: a forward recursion to start from, then linear programmes.

At the optimum r^2 + weight (P - e^epsilon Q) is the same number nu wherever noise may live. The
event at radius r shows in P(r) alone, and Q(r) follows from smaller radii, so nu determines the
test node by node, from r = 0. Too large a nu makes P reach 1/2, too small a one lets it die out.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import scipy
from scipy import sparse

from mechanisms.limit.ball_test import (
    admissible,
    ball_gaps,
    ball_test,
    bulk,
    gaussian_scale,
    gaussian_weight,
    radii_around,
)
from mechanisms.limit.caps import cap, cap_density, cap_height
from mechanisms.limit.threshold_test import ThresholdTest, split

# From this M on the closed form is a start too.
_NEAR_BALL = 2000
_WEIGHTS = np.geomspace(0.002, 1.5, 16)
_TRIALS, _ROUNDS = 16, 4
# Probabilities below this share of delta count as none.
_NOTHING = 1e-6
_NODES = 120
# At radii where noise hardly lives values exceed nu by this share of r^2, so that what happens
# between the points of the grid does not bind.
_START_SLACKS, _SLACK = (0.03, 0.1, 0.3), 1e-3
# Refinements of the nodes, linear programmes for each, and the gain, as a share of the bound, that
# ends them.
_FIRST_STEP, _POINTS = 0.1, 3
_REFINEMENTS, _PROGRAMMES, _CORRECTIONS, _GAIN = 5, 30, 1, 2e-5


def refined_test(dimension: int, epsilon: float, delta: float) -> ThresholdTest:
    """A nearly optimal threshold test at sensitivity 1, for M >= 2."""
    starts = [_recursive_test(dimension, epsilon, delta)]
    if dimension >= _NEAR_BALL:
        starts.append(ball_test(dimension, epsilon, delta, nodes=_NODES))
    found = [_refined(start, delta) for start in starts]
    return max(found, key=lambda test: _bound_on_grid(test, delta))


def _refined(test: ThresholdTest, delta: float) -> ThresholdTest:
    for _ in range(_REFINEMENTS):
        test = _improved(_with_more_nodes(test, delta), delta)
    return test


def _recursive_test(dimension: int, epsilon: float, delta: float) -> ThresholdTest:
    """The best test on the grid among those of the recursion for several weights and slacks."""
    scale = gaussian_scale(epsilon, delta)
    radii = radii_around(dimension, scale, _NODES if dimension > 3 else 2 * _NODES)
    weights = gaussian_weight(epsilon, delta, dimension) * _WEIGHTS
    given = {"dimension": dimension, "epsilon": epsilon, "radii": radii}
    tests = [
        ThresholdTest(**given, gaps=admissible(radii, gaps), weight=float(weight))
        for slack in _START_SLACKS
        for gaps, weight in zip(
            _largest_dying(dimension, epsilon, delta, radii, weights, slack).T, weights, strict=True
        )
    ]
    return max(tests, key=lambda test: _bound_on_grid(test, delta))


def _largest_dying(dimension, epsilon, delta, radii, weights, slack) -> np.ndarray:
    """Gaps (nodes, weights) of the largest nu on a grid whose recursion dies out."""
    low, high = np.zeros(len(weights)), 1.5 * dimension * gaussian_scale(epsilon, delta) ** 2
    high = np.full(len(weights), high)
    gaps, shares = np.zeros((len(radii), len(weights))), np.geomspace(1e-4, 1, _TRIALS)
    for _ in range(_ROUNDS):
        levels = low[:, None] + (high - low)[:, None] * shares
        pairs = np.broadcast_to(weights[:, None], levels.shape).ravel(), levels.ravel()
        found, dies = _recursion(dimension, epsilon, delta, radii, *pairs, slack)
        dies = dies.reshape(levels.shape)
        for k in np.flatnonzero(dies.any(axis=1)):
            last = int(np.flatnonzero(dies[k])[-1])
            gaps[:, k], low[k] = found[:, k * _TRIALS + last], levels[k, last]
            high[k] = levels[k, min(last + 1, _TRIALS - 1)]
        high = np.where(dies.any(axis=1), high, levels[:, 0])
        shares = np.linspace(0, 1, _TRIALS + 2)[1:-1]
    return gaps


def _recursion(
    dimension, epsilon, delta, radii, weights, levels, slack
) -> tuple[np.ndarray, np.ndarray]:
    """Gaps (nodes, pairs) of the recursion for pairs of weight and nu, and which die out."""
    gaps = np.zeros((len(radii), len(levels)))
    outer = np.ones_like(gaps)
    columns = np.arange(len(levels))
    dead = np.zeros(len(levels), bool)
    grown = np.zeros(len(levels), bool)
    # At small radii, where noise of a large dimension never is, the ball's gaps do.
    known = int(np.searchsorted(radii, bulk(dimension, gaussian_scale(epsilon, delta))[0], "left"))
    known = max(known, 1)
    gaps[:known] = ball_gaps(radii, 0.5, epsilon / dimension)[:known, None]
    outer[:known] = 1 + radii[:known, None] - gaps[:known]
    for i, r in enumerate(radii[known:], start=known):
        shifted = np.zeros(len(levels))
        if r > 1:
            # Beyond the last node the gap is extrapolated.
            below = np.minimum((outer[:i] <= r).sum(axis=0) - 1, i - 2)
            width = outer[below + 1, columns] - outer[below, columns]
            share = (r - outer[below, columns]) / width
            gap = gaps[below, columns] * (1 - share) + gaps[below + 1, columns] * share
            gap = np.maximum(gap, 0.0)
            shifted = cap(gap * (2 * (r - 1) + gap) / (2 * r), dimension)
        wanted = levels - r * r + slack * np.maximum(r * r - 2 * levels, 0.0)
        own = wanted / weights + math.exp(epsilon) * shifted
        dead = own <= 0
        grown |= own >= 0.5
        own = np.clip(own, _NOTHING * delta, 0.5)
        height = cap_height(own, dimension)
        gap = 2 * r * height / (1 + r + np.sqrt((1 + r) ** 2 - 2 * r * height))
        steepest = gaps[i - 1] + 0.98 * (r - radii[i - 1])
        grown |= gap > steepest
        gaps[i] = np.minimum(gap, steepest)
        outer[i] = 1 + r - gaps[i]
    return gaps, dead & ~grown


def _improved(test: ThresholdTest, delta: float) -> ThresholdTest:
    """Linear programmes in the logarithms of weight P at the nodes and of the weight.

    Each maximises the bound of the linearised test, with changes of at most `step`, which shrinks
    where a step does not improve the bound.
    """
    bound, step = _bound_on_grid(test, delta), _FIRST_STEP
    for _ in range(_PROGRAMMES):
        reached, changed, promised = _programme(test, delta, step)
        gained = reached - bound
        if gained > 0:
            test, bound = changed, bound + gained
            step = min(1.5 * step, 1.0) if gained > 0.5 * (promised - bound + gained) else step
        else:
            step *= 0.35
        if step < 1e-4 or promised - bound < _GAIN * bound:
            break
    return test


def _bound_on_grid(test: ThresholdTest, delta: float) -> float:
    return float(test.values(test.points(_POINTS)).min()) - delta * test.weight


def _programme(test: ThresholdTest, delta: float, step: float):
    """The test that the linear programme proposes, and the bound that its linear model promises."""
    count, weight = len(test.radii), test.weight
    r = test.points(_POINTS)
    values = test.values(r)
    # Radii whose value is large either way do not bind.
    level = float(values.min())
    r, values = r[near := values < 20 * abs(level) + 20 * r[1] ** 2], values[near]
    shares = _log_steps(test)
    unit = sparse.diags(shares * test.gaps)
    slopes = _slopes(test, r) @ unit
    gain = values - r * r
    size = max(abs(level), delta * weight)
    by_weight = gain - slopes.sum(axis=1)
    above = sparse.hstack([-slopes, -by_weight[:, None], np.full((len(r), 1), size)]) / size
    grown = sparse.diags([-1.0, 1.0], [0, 1], shape=(count - 1, count)) @ unit
    by_weight = -grown.sum(axis=1)
    increasing = sparse.hstack([grown, by_weight[:, None], np.zeros((count - 1, 1))])
    matrix = sparse.vstack([above, increasing]).tocsr()
    slack = _SLACK * np.maximum(r * r - 2 * abs(level), 0.0)
    limits = np.concatenate([(values - slack) / size, 0.9 * np.diff(test.outer)])
    best, promised, missed = (-math.inf, None), None, 0.0
    for _ in range(_CORRECTIONS + 1):
        answer = scipy.optimize.linprog(
            np.concatenate([np.zeros(count), [delta * weight / size, -1.0]]),
            A_ub=matrix,
            b_ub=limits,
            bounds=[(-step, step)] * (count + 1) + [(None, None)],
            method="highs",
        )
        if answer.x is None:
            break
        promised = -answer.fun * size - delta * weight if promised is None else promised
        grown = answer.x[:count] - answer.x[count]
        gaps = admissible(test.radii, test.gaps * np.exp(shares * grown))
        changed = replace(test, gaps=gaps, weight=weight * math.exp(answer.x[count]))
        best = max(best, (_bound_on_grid(changed, delta), changed), key=lambda pair: pair[0])
        # What the linear model missed at this step is added to it.
        linear = values / size - above[:, :-1] @ answer.x[:-1]
        limits[: len(r)] += changed.values(r) / size - (linear + missed)
        missed = changed.values(r) / size - linear
    return *best, math.inf if promised is None else promised


def _log_steps(test: ThresholdTest) -> np.ndarray:
    """The relative change of each gap that multiplies its P by e to first order, at most 1."""
    own, _ = test.heights(test.radii)
    probability = cap(own, test.dimension) * test.radii
    slope = cap_density(own, test.dimension) * (1 + test.radii - test.gaps) * test.gaps
    return np.where(slope > probability, probability / np.where(slope > 0, slope, 1.0), 1.0)


def _slopes(test: ThresholdTest, r: np.ndarray):
    """The derivative of `test.values(r)` by the gaps, a sparse (len(r), nodes) matrix."""
    own, shifted = test.heights(r)
    inner = np.interp(r, test.outer, test.radii)
    own_slope = np.where(
        r > 0,
        (1 + r - np.interp(r, test.radii, test.gaps)) / np.where(r > 0, r, 1.0),
        1 / test.radii[1],
    )
    # The derivative of the height by the gap at X is (r - 1 + k) / r = X / r; X itself moves.
    at = _piece(test.radii, inner)
    moving = 1 - np.diff(test.gaps)[at] / np.diff(test.radii)[at]
    shifted_slope = np.where(r > 1, inner / np.maximum(r, 1.0) / moving, 0.0)
    own_part = cap_density(own, test.dimension) * own_slope
    shifted_part = cap_density(shifted, test.dimension) * shifted_slope
    first = np.where(r > 0, r, test.radii[1])
    return test.weight * (
        _interpolation(test.radii, first, own_part)
        - math.exp(test.epsilon) * _interpolation(test.radii, inner, shifted_part)
    )


def _piece(nodes: np.ndarray, r: np.ndarray) -> np.ndarray:
    return np.clip(np.searchsorted(nodes, r, "right") - 1, 0, len(nodes) - 2)


def _interpolation(nodes: np.ndarray, r: np.ndarray, factor: np.ndarray):
    """The matrix that maps values at the nodes to factor times the interpolated value at r."""
    piece = _piece(nodes, r)
    share = np.clip((r - nodes[piece]) / (nodes[piece + 1] - nodes[piece]), 0.0, 1.0)
    rows = np.arange(len(r))
    entries = np.concatenate([factor * (1 - share), factor * share])
    places = (np.tile(rows, 2), np.concatenate([piece, piece + 1]))
    return sparse.csr_array((entries, places), shape=(len(r), len(nodes)))


def _with_more_nodes(test: ThresholdTest, delta: float) -> ThresholdTest:
    """A node more in the middle of each piece on which the bound lies below that on the grid."""
    r = split(test.points(), 8)
    values = test.values(r)
    level = _bound_on_grid(test, delta) + delta * test.weight
    low = r[values < level - 1e-4 * abs(level)]
    inner = np.interp(low, test.outer, test.radii)
    pieces = np.unique(
        np.concatenate([_piece(test.radii, low), _piece(test.radii, inner[low > 1])])
    )
    radii = np.union1d(test.radii, (test.radii[pieces] + test.radii[pieces + 1]) / 2)
    gaps = np.interp(radii, test.radii, test.gaps)
    return replace(test, radii=radii, gaps=admissible(radii, gaps))
