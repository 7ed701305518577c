"""Searches for a nearly optimal threshold test: linear programmes improve a starting test.

The best spherical noise known gives the price of delta, lambda = -dV/d delta, and the best weight
lies near lambda. The likelihood-ratio tests of that noise are starts. If M is small, a forward
recursion gives another: at the optimum r^2 + lambda (P - e^epsilon Q) is the same number nu at all
radii of the best noise. P(r) depends only on the gap at r, and Q(r) on gaps at smaller radii, so nu
determines the test node by node, from r = 0. If nu is too large, P reaches 1/2; if too small, P
falls to 0.
"""

import functools
import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import scipy

from mechanisms.limit.ball_test import (
    FALLING,
    admissible,
    ball_gaps,
    ball_test,
    bulk,
    gap_of,
    gaussian_scale,
    radii_around,
    shaped,
)
from mechanisms.limit.caps import cap, cap_density, cap_height
from mechanisms.limit.threshold_test import ThresholdTest, shifted_height, split
from mechanisms.privacy.spherical.spherical_optimum import least_noise
from mechanisms.privacy.spherical.spherical_profile import SphericalProfile

# Starts by M: the recursion up to _RECURSIVE (up to _FEW no other), the ball from _NEAR_BALL on.
_RECURSIVE, _FEW, _NEAR_BALL = 60, 4, 2000
_WEIGHTS = np.geomspace(0.1, 30.0, 12)
_TRIALS, _ROUNDS = 16, 4
# Shares of epsilon by which the log-likelihood ratio of the best noise must exceed epsilon.
_EXCESSES = (0.02, 0.05, 0.0)
# The recursion keeps probabilities at this share of delta or above.
_NOTHING = 1e-6
_NODES = 120
# At radii at which noise is unlikely, values are kept above nu by this share of r^2 - 2 nu, so that
# points between those of the grid do not decide the bound.
_START_SLACKS, _SLACK = (0.03, 0.1, 0.3), 1e-3
# Shares of the squared error of the best noise. At _GOOD a test is good enough. At _NEAR it is
# worth twice the nodes, and for M up to _RECURSIVE no other start is tried. At _PROMISING a start
# is worth refining: the first share is for M up to _RECURSIVE, the second for larger M.
_GOOD, _NEAR, _PROMISING = 0.9988, 0.9965, (0.975, 0.95)
# Nodes are added _REFINEMENTS times, each time with up to _PROGRAMMES linear programmes. These end
# when the promised gain is below the share _GAIN of the bound.
_REFINEMENTS, _PROGRAMMES, _GAIN = 3, 20, 2e-5
# The first programme may change a logarithm by _FIRST_STEP. A grid divides the range between two
# neighbouring bends of P and Q into _POINTS parts.
_FIRST_STEP, _POINTS = 0.1, 3
# With twice the nodes there are up to _FINAL searches. Each adds points of a finer grid, of _FINER
# parts between two bends, if their values are below the least on the grid by the share _LOW of it.
_FINAL, _FINER, _LOW = 4, 24, 1e-4
_NONE = np.empty(0)


@functools.lru_cache(maxsize=64)
def refined_test(dimension: int, epsilon: float, delta: float) -> ThresholdTest:
    """Return a nearly optimal threshold test at sensitivity 1, for M = dimension >= 2."""
    noise = least_noise(epsilon, delta, dimension=dimension, sensitivity=1.0)
    error = noise.expected_square
    found, near, promising = [], [], _PROMISING[dimension > _RECURSIVE] * error
    for start in _starts(noise, epsilon, delta):
        test = _improved(_with_more_nodes(start, delta), delta, free=False)
        if dimension <= _FEW:
            return _finest(_refined(test, delta, 1), delta)
        found += [start, test]
        if _bound_on_grid(test, delta) > promising:
            found.append(_refined(test, delta, _REFINEMENTS))
            if _reaches(found[-1], delta, _GOOD * error):
                return found[-1]
            if _bound_on_grid(found[-1], delta) > _NEAR * error:
                near.append(found[-1])
                if dimension <= _RECURSIVE:
                    break
    best = max(near or found, key=lambda test: _bound_on_grid(test, delta))
    if near:
        return max((_finest(best, delta), best), key=lambda test: test.lower(delta))
    refined = _refined(best, delta, _REFINEMENTS)
    return best if _reaches(best, delta, refined.lower(delta)) else refined


def _reaches(test: ThresholdTest, delta: float, bound: float) -> bool:
    """Return whether the certified bound is at least `bound`; the one on a grid is no smaller."""
    return _bound_on_grid(test, delta) >= bound and test.lower(delta) >= bound


def _refined(test: ThresholdTest, delta: float, rounds: int) -> ThresholdTest:
    for _ in range(rounds):
        test = _improved(_with_more_nodes(test, delta), delta, free=True)
    return test


def _finest(test: ThresholdTest, delta: float) -> ThresholdTest:
    """Add a node in every piece, on a smooth curve through the others, and improve the test."""
    radii = split(test.radii, 2)
    gaps = scipy.interpolate.PchipInterpolator(test.radii, test.gaps)(radii)
    test = replace(test, radii=radii, gaps=admissible(radii, gaps))
    extra = _NONE
    for _ in range(_FINAL):
        test = _improved(test, delta, free=True, extra=extra)
        low = _below_grid(test, delta, _FINER, extra)
        if not len(low):
            break
        extra = np.union1d(extra, low)
    return test


def _price(noise: SphericalProfile, epsilon: float, delta: float) -> float:
    """Return -dV/d delta along noise of varying scale, where V is its expected square."""
    step = 1e-3
    growth = math.exp(noise.scaled(1 - step).log_delta(epsilon).value) / delta - 1
    return 2 * step * noise.expected_square / (delta * max(growth, step))


def _starts(noise: SphericalProfile, epsilon: float, delta: float) -> Iterator[ThresholdTest]:
    dimension, weight = noise.dimension, _price(noise, epsilon, delta)
    if dimension <= _RECURSIVE:
        tests = [
            test
            for slack in _START_SLACKS
            for test in _recursive_tests(dimension, epsilon, delta, weight, slack)
        ]
        yield max(tests, key=lambda test: _bound_on_grid(test, delta))
    if dimension <= _FEW:
        return
    if dimension >= _NEAR_BALL:
        yield ball_test(dimension, epsilon, delta, nodes=_NODES)
    for excess in _EXCESSES:
        yield _ratio_test(noise, epsilon, delta, weight, excess)


def _ratio_test(noise, epsilon, delta, weight, excess) -> ThresholdTest:
    """Return the test of a density ratio above e^((1 + excess) epsilon), see `shaped`."""
    scale = gaussian_scale(epsilon, delta)
    radii, low = radii_around(noise.dimension, scale, _NODES), bulk(noise.dimension, scale)[0]
    size = math.sqrt(noise.expected_square)

    def log_density(r):
        r = np.maximum(r, 1e-6 * size)
        return (noise.radial_shape - noise.dimension) * np.log(r) - (r / noise.scale) ** noise.power

    places = np.geomspace(1e-6, 100.0, 20_000) * size
    thresholds = log_density(radii) - (1 + excess) * epsilon
    outer = np.interp(-thresholds, -log_density(places), places)
    return ThresholdTest(
        dimension=noise.dimension,
        epsilon=epsilon,
        radii=radii,
        gaps=shaped(radii, np.clip(1 + radii - outer, 0.0, 2.0), low, FALLING * size),
        weight=weight,
    )


def _recursive_tests(dimension, epsilon, delta, weight, slack) -> list[ThresholdTest]:
    """Return the tests that the recursion finds for several multiples of `weight`."""
    scale = gaussian_scale(epsilon, delta)
    radii = radii_around(dimension, scale, _NODES if dimension > 3 else 3 * _NODES // 2)
    weights = weight * _WEIGHTS
    found = _largest_dying(dimension, epsilon, delta, radii, weights, slack).T
    return [
        ThresholdTest(
            dimension=dimension,
            epsilon=epsilon,
            radii=radii,
            gaps=admissible(radii, gaps),
            weight=float(each),
        )
        for gaps, each in zip(found, weights, strict=True)
    ]


def _largest_dying(dimension, epsilon, delta, radii, weights, slack) -> np.ndarray:
    """Return gaps (nodes, weights) for the largest nu on a grid for which P falls to 0."""
    low = np.zeros(len(weights))
    high = np.full(len(weights), 1.5 * dimension * gaussian_scale(epsilon, delta) ** 2)
    gaps, shares = np.zeros((len(radii), len(weights))), np.geomspace(1e-4, 1, _TRIALS)
    for _ in range(_ROUNDS):
        levels = low[:, None] + (high - low)[:, None] * shares
        pairs = np.repeat(weights, _TRIALS), levels.ravel()
        found, dies = _recursion(dimension, epsilon, delta, radii, *pairs, slack)
        dies = dies.reshape(levels.shape)
        for k in np.flatnonzero(dies.any(axis=1)):
            last = np.flatnonzero(dies[k])[-1]
            gaps[:, k], low[k] = found[:, k * _TRIALS + last], levels[k, last]
            high[k] = levels[k, min(last + 1, _TRIALS - 1)]
        high = np.where(dies.any(axis=1), high, levels[:, 0])
        shares = np.linspace(0, 1, _TRIALS + 2)[1:-1]
    return gaps


def _recursion(
    dimension, epsilon, delta, radii, weights, levels, slack
) -> tuple[np.ndarray, np.ndarray]:
    """Return gaps (nodes, pairs) for pairs of weight and nu, and for which pairs P falls to 0."""
    gaps = np.zeros((len(radii), len(levels)))
    outer = np.ones_like(gaps)
    columns = np.arange(len(levels))
    grown = np.zeros(len(levels), bool)
    # At small radii, at which noise of many dimensions hardly ever lies, gaps of a ball suffice.
    known = int(np.searchsorted(radii, bulk(dimension, gaussian_scale(epsilon, delta))[0], "left"))
    known = max(known, 1)
    near = admissible(radii, ball_gaps(radii, 0.5, epsilon / dimension))
    gaps[:known] = near[:known, None]
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
            shifted = cap(shifted_height(gap, r), dimension)
        wanted = levels - r * r + slack * np.maximum(r * r - 2 * levels, 0.0)
        own = wanted / weights + math.exp(epsilon) * shifted
        dead = own <= 0
        grown |= own >= 0.5
        own = np.clip(own, _NOTHING * delta, 0.5)
        height = cap_height(own, dimension)
        gap = gap_of(height, r)
        steepest = gaps[i - 1] + 0.98 * (r - radii[i - 1])
        grown |= gap > steepest
        gaps[i] = np.minimum(gap, steepest)
        outer[i] = 1 + r - gaps[i]
    return gaps, dead & ~grown


def _improved(
    test: ThresholdTest,
    delta: float,
    *,
    free: bool,
    extra: np.ndarray = _NONE,
) -> ThresholdTest:
    """Improve a test by linear programmes.

    The variables are the logarithms of weight P at the nodes and, if `free`, of the weight. Each
    programme maximises the bound of the linearised test, with changes of at most `step`. The step
    shrinks when it does not improve the bound.
    """
    bound, step = _bound_on_grid(test, delta, extra), _FIRST_STEP
    for _ in range(_PROGRAMMES):
        reached, changed, promised = _programme(test, delta, step, free, extra)
        hoped, gained = promised - bound, reached - bound
        if gained > 0:
            test, bound = changed, reached
            step = min(1.5 * step, 1.0) if gained > 0.5 * hoped else step
        else:
            step *= 0.35
        if step < 1e-4 or hoped < _GAIN * bound:
            break
    return test


def _bound_on_grid(test: ThresholdTest, delta: float, extra: np.ndarray = _NONE) -> float:
    return float(test.values(_grid(test, extra)).min()) - delta * test.weight


def _grid(test: ThresholdTest, extra: np.ndarray) -> np.ndarray:
    """Return the bends of P and Q, points between them, and the extra points."""
    return np.union1d(test.points(_POINTS), extra)


def _below_grid(
    test: ThresholdTest, delta: float, pieces: int, extra: np.ndarray = _NONE
) -> np.ndarray:
    """Return points of a finer grid, of `pieces` between two bends, below the least on the grid."""
    r = test.points(pieces)
    level = _bound_on_grid(test, delta, extra) + delta * test.weight
    return r[test.values(r) < level - _LOW * abs(level)]


def _programme(test: ThresholdTest, delta: float, step: float, free: bool, extra: np.ndarray):
    """Return the bound of a proposed test on the grid, the test, and the bound of the linear model.

    The constraint r^2 + weight P >= nu + weight e^epsilon Q is linearised in its logarithm. There a
    change of P and Q by the same factor has nearly no effect of second order.
    """
    count, weight = len(test.radii), test.weight
    r = _grid(test, extra)
    own, shifted = (weight * part for part in test.parts(r))
    values = r * r + own - shifted
    least = max(float(values.min()), 0.05 * delta * weight)
    # At radii with a large value the constraint does not bind, whatever the step.
    near = values < 20 * least + 20 * r[1] ** 2
    r, own, shifted = r[near], own[near], shifted[near]
    left, right = np.maximum(r * r + own, 1e-3 * least), least + shifted
    shares = _log_steps(test)
    unit = shares * test.gaps
    own_slopes, shifted_slopes = (slopes * unit for slopes in _slopes(test, r))
    slopes = own_slopes / left[:, None] - shifted_slopes / right[:, None]
    by_weight = own / left - shifted / right - slopes.sum(axis=1)
    above = np.column_stack([-slopes, -by_weight, least / right])
    grown = np.diff(np.eye(count), axis=0) * unit
    increasing = np.column_stack([grown, -grown.sum(axis=1), np.zeros(count - 1)])
    slack = _SLACK * np.maximum(r * r - 2 * least, 0.0) / left
    size = max(least, delta * weight)
    answer = scipy.optimize.linprog(
        np.concatenate([np.zeros(count), [delta * weight / size, -least / size]]),
        A_ub=scipy.sparse.csr_array(np.concatenate([above, increasing])),
        b_ub=np.concatenate([np.log(left / right) - slack, 0.9 * np.diff(test.outer)]),
        bounds=[(-step, step)] * count + [(-step * free, step * free), (None, None)],
        method="highs",
    )
    if answer.x is None:
        return -math.inf, test, -math.inf
    grown, heavier, higher = answer.x[:count], answer.x[count], answer.x[count + 1]
    gaps = admissible(test.radii, test.gaps * np.exp(shares * (grown - heavier)))
    changed = replace(test, gaps=gaps, weight=weight * math.exp(heavier))
    promised = least * (1 + higher) - delta * weight * (1 + heavier)
    return _bound_on_grid(changed, delta, extra), changed, promised


def _log_steps(test: ThresholdTest) -> np.ndarray:
    """Return the relative change, at most 1, of each gap that to first order multiplies P by e."""
    own, _ = test.heights(test.radii)
    probability = cap(own, test.dimension) * test.radii
    slope = cap_density(own, test.dimension) * test.outer * test.gaps
    steep = slope > probability
    return np.divide(probability, slope, out=np.ones_like(slope), where=steep)


def _slopes(test: ThresholdTest, r: np.ndarray):
    """Return derivatives of weight P and weight e^epsilon Q by the gaps, (len(r), nodes) each."""
    own, shifted = test.heights(r)
    inner = np.interp(r, test.outer, test.radii)
    first = np.where(r > 0, r, test.radii[1])
    own_slope = (1 + r - np.interp(r, test.radii, test.gaps)) / first
    # The derivative of the height by the gap at X is (r - 1 + k) / r = X / r. X itself moves
    # too. Up to r = 1, X is 0.
    at = _piece(test.radii, inner)
    moving = 1 - (np.diff(test.gaps) / np.diff(test.radii))[at]
    shifted_slope = inner / np.maximum(r, 1.0) / moving
    own_part = cap_density(own, test.dimension) * own_slope
    shifted_part = cap_density(shifted, test.dimension) * shifted_slope
    return (
        test.weight * _interpolation(test.radii, first, own_part),
        test.weight * math.exp(test.epsilon) * _interpolation(test.radii, inner, shifted_part),
    )


def _piece(nodes: np.ndarray, r: np.ndarray) -> np.ndarray:
    return np.clip(np.searchsorted(nodes, r, "right") - 1, 0, len(nodes) - 2)


def _interpolation(nodes: np.ndarray, r: np.ndarray, factor: np.ndarray):
    """Return the matrix that maps values at the nodes to `factor` times interpolated ones at r."""
    piece = _piece(nodes, r)
    share = np.clip((r - nodes[piece]) / (nodes[piece + 1] - nodes[piece]), 0.0, 1.0)
    rows, found = np.arange(len(r)), np.zeros((len(r), len(nodes)))
    found[rows, piece], found[rows, piece + 1] = factor * (1 - share), factor * share
    return found


def _with_more_nodes(test: ThresholdTest, delta: float) -> ThresholdTest:
    """Add a node in the middle of each piece on which values lie below the least on the grid."""
    low = _below_grid(test, delta, 8)
    inner = np.interp(low, test.outer, test.radii)
    pieces = np.union1d(_piece(test.radii, low), _piece(test.radii, inner[low > 1]))
    radii = np.union1d(test.radii, (test.radii[pieces] + test.radii[pieces + 1]) / 2)
    gaps = np.interp(radii, test.radii, test.gaps)
    return replace(test, radii=radii, gaps=admissible(radii, gaps))
