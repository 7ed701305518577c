"""The integral over the radius behind the profile of spherical noise, by the cheapest rule.

The trapezoidal rule converges faster than any power of its step where the integrand is analytic
and falls to both sides (Trefethen and Weideman 2014). It is not analytic in small dimensions, and
nearly not where the noise is far smaller than the shift: what two steps do not agree on is left to
`spherical_panels`. The coordinate is

    w (see `spherical_radius`) where k is large: the law of the radius is nearly the normal one;
    t with y = c + d t - e^(-t) / 2k where k is small: the integrand is e^(k y) below some c, and
    varies above it over lengths near d, which is one or less where it falls steeply.

The edges alone show where the integrand lies and how steeply it falls, without a quadrature. In
case they mislead, what is left at the rim of the points counts as error.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mechanisms.profiles import spherical_panels
from mechanisms.profiles.spherical_angle import Spherical, log_angle_integrals, look, rule_of
from mechanisms.profiles.spherical_radius import (
    LOG_LEFT_OUT,
    SCAN_POINTS,
    WINDOW,
    Estimate,
    law_of_radius,
    log_norm,
)

# Nodes of the two rules that are compared over each half of the angle.
_INNER = (20, 28)
# Halvings of the widest step, tried in turn, and the share of delta within which a result must
# agree with that of twice the step.
_NORMAL, _TAILED = (2, 3, 4), (3, 4)
_AGREED = 1e-9
# A halving squares the error at best: above this share, none is tried.
_HOPELESS = 1e-3
# What is below e^-_CUT of the largest integrand is not integrated.
_CUT = 32.0
# k is small below _SMALL: the integrand over y has a long tail to the left. The widest step of t
# there, the room between c and where the integrand falls by _FALLEN behind the tail, and points by
# which this place and the end are looked for: that many at most _ZOOMS times between two.
_SMALL = 2.0
_WIDEST, _ROOM, _FALLEN, _ZOOMS, _POINTS = 1.6, 3.0, 0.05, 6, 33
_EVEN, _GEOMETRIC = np.linspace(0, 1, _POINTS), np.geomspace(1e-6, 1, _POINTS)
# Over a step of t the edge rises by at most _STEEP _WIDEST / 2^halvings standard deviations of phi;
# its falls matter within _FAR of them. More such widths than _LONGEST are left to the panels.
_STEEP, _FAR, _LONGEST = 2.0, 6.0, 60.0


class _Grid(NamedTuple):
    """Points y, (n, points) or one row for all, and which of them count.

    log_density: log of the step in y times the density of y.
    """

    y: np.ndarray
    log_density: np.ndarray
    inside: np.ndarray


def log_delta(noise: Spherical, epsilon: np.ndarray) -> Estimate:
    """log delta, its relative quadrature error and log P(L > epsilon), for a flat array.

    The error adds the differences to a rule with fewer nodes in the outer and to one with fewer
    nodes in the inner integral, and what is left at the rim of the outer one. -inf where delta is
    below e^LOG_LEFT_OUT.
    """
    with np.errstate(divide="ignore", over="ignore", under="ignore", invalid="ignore"):
        if noise.dimension <= spherical_panels.KINKY or not epsilon.size:
            return spherical_panels.log_delta(noise, epsilon)
        result = Estimate(*np.full((3, epsilon.size), np.nan))
        law = law_of_radius(noise.order)
        looks = look(noise, law.y, epsilon[:, None]).log_gain - law.fall
        small = noise.order < _SMALL
        grid, tries = (_tailed_grid, _TAILED) if small else (_normal_grid, _NORMAL)
        left, rest = np.arange(epsilon.size), []
        for halvings in tries:
            points = grid(noise, epsilon[left], looks[left], halvings)
            found, differs = _by_trapezoids(noise, epsilon[left], points, halvings)
            agreed, hopeless = differs <= _AGREED, ~(differs <= _HOPELESS)
            _fill(result, left[agreed], [each[agreed] for each in found])
            rest.append(left[hopeless])
            left = left[~(agreed | hopeless)]
            if not left.size:
                break
        rest = np.concatenate([*rest, left])
        if rest.size:
            _fill(result, rest, spherical_panels.log_delta(noise, epsilon[rest]))
        return result


def _fill(result: Estimate, where: np.ndarray, found) -> None:
    for whole, part in zip(result, found, strict=True):
        whole[where] = part


def _normal_grid(noise: Spherical, epsilon: np.ndarray, looks: np.ndarray, halvings: int) -> _Grid:
    """Evenly spaced in w, where the scan is near its largest value."""
    steps = 2**halvings
    law = law_of_radius(noise.order, steps)
    looks = looks + law.log_slope[::steps]
    near = np.maximum(looks[:, :-1], looks[:, 1:]) > looks.max(axis=1, keepdims=True) - _CUT
    cells = np.repeat(near, steps, axis=1)
    inside = np.pad(cells, ((0, 0), (0, 1))) | np.pad(cells, ((0, 0), (1, 0)))
    width = 2 * WINDOW / (SCAN_POINTS - 1) / steps
    log_density = log_norm(noise.order) - law.fall + law.log_slope + np.log(width)
    return _Grid(law.y, log_density, inside)


def _tailed_grid(noise: Spherical, epsilon: np.ndarray, looks: np.ndarray, halvings: int) -> _Grid:
    """Evenly spaced in t, from where the tail is negligible to where the integrand becomes so."""
    k, row, law = noise.order, np.arange(epsilon.size), law_of_radius(noise.order)
    start, last = _start(noise, epsilon, looks), _last_seen(looks)
    low = np.maximum(start, law.y[last])
    high = law.y[np.minimum(last + 1, SCAN_POINTS - 1)]
    y = low[:, None] + (high - low)[:, None] * _GEOMETRIC
    log_gain, edge, steepness = look(noise, y, epsilon[:, None])
    looks = np.hstack([looks.max(axis=1, keepdims=True), log_gain - k * (np.expm1(y) - y)])
    end = y[row, np.minimum(_last_seen(looks), _POINTS - 1)]

    # The width of the steepest fall, of which the edge at y or that of the next y is within reach.
    falls = edge > -_FAR
    falls[:, 1:] &= edge[:, :-1] < _FAR
    width = _STEEP / np.max(steepness, axis=1, where=falls, initial=_STEEP)
    width = np.maximum(width, (end - start) / _LONGEST)[:, None]
    turn = -np.log(2 * k * width)
    lowest = -np.log(2 * _CUT)
    highest = np.max((end - start)[:, None] / width + turn) + _ROOM
    step = _WIDEST / 2**halvings
    t = lowest + step * np.arange(2**halvings * int(np.ceil((highest - lowest) / _WIDEST) + 1) + 1)
    tail = np.exp(-t) / (2 * k)
    points = start[:, None] + width * (t - turn - _ROOM) - tail
    # k is so small that e^y - 1 - y need not keep its digits.
    log_density = log_norm(k) - k * (np.expm1(points) - points) + np.log(step * (width + tail))
    return _Grid(points, log_density, points <= end[:, None])


def _start(noise: Spherical, epsilon: np.ndarray, looks: np.ndarray) -> np.ndarray:
    """The y from which on the integrand, e^(k y) until then up to a constant, falls behind it."""
    k, row, law = noise.order, np.arange(epsilon.size), law_of_radius(noise.order)
    y, behind = np.tile(law.y, (row.size, 1)), looks + law.fall - k * np.exp(law.y)
    goal = behind[:, :1] - _FALLEN
    for _ in range(_ZOOMS):
        place = _first_below(behind, goal)
        low, high = y[row, place - 1], y[row, place]
        y = low[:, None] + (high - low)[:, None] * _EVEN
        behind = look(noise, y, epsilon[:, None]).log_gain - k * np.exp(y)
        if (behind[:, :-1] - behind[:, 1:] < 1.0).all():
            break
    return y[row, _first_below(behind, goal) - 1]


def _first_below(values: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """For each row the first place but the very first with a value below the goal, or the last."""
    below = values < goal
    below[:, -1] = True
    return np.maximum(np.argmax(below, axis=1), 1)


def _last_seen(looks: np.ndarray) -> np.ndarray:
    """For each row the last place that is not negligible."""
    near = looks > looks.max(axis=1, keepdims=True) - _CUT
    return looks.shape[1] - 1 - np.argmax(near[:, ::-1], axis=1)


def _by_trapezoids(
    noise: Spherical, epsilon: np.ndarray, grid: _Grid, halvings: int
) -> tuple[Estimate, np.ndarray]:
    """The estimates, and the share of delta by which those of twice the step differ."""
    sparse, dense = _INNER
    inside = grid.inside
    y, log_density = np.broadcast_arrays(grid.y, grid.log_density, inside)[:2]
    few = np.zeros_like(inside)
    few[:, :: 2**halvings] = inside[:, :: 2**halvings]
    rate = np.broadcast_to(epsilon[:, None], y.shape)
    rule = rule_of(noise, y[inside], rate[inside])

    logs = np.full((2, *y.shape), -np.inf)
    logs[:, inside] = log_angle_integrals(noise, rule, dense) + log_density[inside]
    reference = logs[0].max(axis=1)
    # Below the smallest delta that is resolved the sum is zero.
    reference = np.where(reference > LOG_LEFT_OUT - _CUT, reference, np.inf)[:, None]
    gain, tail = np.exp(logs - reference)
    check = np.zeros_like(gain)
    coarse = log_angle_integrals(noise, rule.rows(few[inside]), sparse)[0] + log_density[few]
    check[few] = np.exp(coarse - np.broadcast_to(reference, y.shape)[few])
    total = gain.sum(axis=1)
    # What lies outside is about as much as is left at the rim.
    rim = inside.copy()
    rim[:, 1:-1] &= ~(inside[:, :-2] & inside[:, 2:])
    outer_error = np.abs(total - 2 * gain[:, ::2].sum(axis=1))
    outer_error += 2**halvings * gain.sum(axis=1, where=rim)
    inner_error = 2**halvings * np.abs(gain - check).sum(axis=1, where=few)
    scale = np.where(total > 0, total, 1.0)
    relative = (outer_error + inner_error) / scale
    reference = np.where(np.isfinite(reference), reference, 0.0)[:, 0]
    found = Estimate(reference + np.log(total), relative, reference + np.log(tail.sum(axis=1)))
    return found, outer_error / scale
