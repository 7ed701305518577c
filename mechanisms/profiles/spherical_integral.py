"""The integral over the radius behind the profile of spherical noise, by the cheapest rule.

The trapezoidal rule converges faster than any power of its step where the integrand is analytic
and falls to both sides (Trefethen and Weideman 2014). It is not analytic in small dimensions, and
nearly not where the noise is far smaller than the shift: what two steps do not agree on is left to
`spherical_panels`. The coordinate is

    w (see `spherical_radius`) where k is large: the law of the radius is nearly the normal one;
    t with y = c + t - e^(-t) / 2k where k is small: the integrand is e^(k y) below some c, and
    varies over lengths near one, or near p if that is less, above it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mechanisms.profiles import spherical_panels
from mechanisms.profiles.numerics import expm1_excess
from mechanisms.profiles.spherical_angle import Spherical
from mechanisms.profiles.spherical_radius import (
    LOG_LEFT_OUT,
    SCAN_POINTS,
    WINDOW,
    Estimate,
    law_of_radius,
    log_integrands,
    scan,
)

# Nodes of the two rules that are compared over each half of the angle, and of one for a few digits.
_INNER = (20, 28)
_LOOK = 8
# Halvings of the widest step, tried in turn, and the share of delta within which a result must
# agree with that of twice the step.
_NORMAL, _TAILED = (2, 3, 4), (3, 4)
_AGREED = 1e-9
# A halving squares the error at best: above this share, none is tried.
_HOPELESS = 1e-3
# What is below e^-_CUT of the largest integrand is not integrated.
_CUT = 32.0
# k is small below _SMALL: the integrand over y has a long tail to the left. The widest step of t
# there, the room between c and where f falls by _FALLEN, and the points that locate this fall.
_SMALL = 2.0
_WIDEST, _ROOM, _FALLEN, _POINTS = 1.6, 3.0, 0.05, 17


class _Grid(NamedTuple):
    """Points y with log(dy / step), (n, points) or one row for all, and which of them count."""

    y: np.ndarray
    log_slope: np.ndarray
    inside: np.ndarray


def log_delta(noise: Spherical, epsilon: np.ndarray) -> Estimate:
    """log delta, its relative quadrature error and log P(L > epsilon), for a flat array.

    The error adds the differences to a rule with fewer nodes in the outer and to one with fewer
    nodes in the inner integral. -inf where delta is below e^LOG_LEFT_OUT.
    """
    with np.errstate(divide="ignore", over="ignore", under="ignore", invalid="ignore"):
        if noise.dimension <= spherical_panels.KINKY or not epsilon.size:
            return spherical_panels.log_delta(noise, epsilon)
        result = Estimate(*np.full((3, epsilon.size), np.nan))
        looks = scan(noise, law_of_radius(noise.order).y, epsilon, _LOOK)
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
    return _Grid(law.y, law.log_slope + np.log(width), inside)


def _tailed_grid(noise: Spherical, epsilon: np.ndarray, looks: np.ndarray, halvings: int) -> _Grid:
    """Evenly spaced in t, from where the tail is negligible to where the scan becomes so."""
    k, row, law = noise.order, np.arange(epsilon.size), law_of_radius(noise.order)
    # f, the integral over the angle, falls with y: where it has fallen a little.
    log_f = looks + law.fall
    falls = log_f < log_f[:, :1] - _FALLEN
    falls[:, -1] = True
    first = np.maximum(np.argmax(falls, axis=1), 1)
    low, high = law.y[first - 1], law.y[first]
    between = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, _POINTS)
    closer = scan(noise, between, epsilon, _LOOK) + k * expm1_excess(between)
    falls = closer < log_f[:, :1] - _FALLEN
    falls[:, -1] = True
    start = between[row, np.maximum(np.argmax(falls, axis=1) - 1, 0)]
    near = looks > looks.max(axis=1, keepdims=True) - _CUT
    last = SCAN_POINTS - 1 - np.argmax(near[:, ::-1], axis=1)
    end = law.y[np.minimum(last + 1, SCAN_POINTS - 1)]

    turn = -np.log(2 * k)
    step = _WIDEST * min(1.0, noise.power / 2)
    lowest = -np.log(2 * _CUT)
    count = int(np.ceil((np.max(end - start) + turn + _ROOM - lowest) / step)) + 1
    step /= 2**halvings
    t = lowest + step * np.arange(count * 2**halvings + 1)
    tail = np.exp(-t) / (2 * k)
    points = (start - turn - _ROOM)[:, None] + t - tail
    return _Grid(points, np.log(step * (1 + tail)), points <= end[:, None])


def _by_trapezoids(
    noise: Spherical, epsilon: np.ndarray, grid: _Grid, halvings: int
) -> tuple[Estimate, np.ndarray]:
    """The estimates, and the share of delta by which those of twice the step differ."""
    sparse, dense = _INNER
    y, log_slope = np.broadcast_arrays(grid.y, grid.log_slope, grid.inside)[:2]
    rate = np.broadcast_to(epsilon[:, None], y.shape)

    def log_shares(chosen: np.ndarray, nodes: int) -> np.ndarray:
        result = np.full((2, *y.shape), -np.inf)
        result[:, chosen] = log_integrands(noise, y[chosen], rate[chosen], nodes)
        return result + log_slope

    logs = log_shares(grid.inside, dense)
    reference = logs[0].max(axis=1)
    # Below the smallest delta that is resolved the sum is zero.
    reference = np.where(reference > LOG_LEFT_OUT - _CUT, reference, np.inf)[:, None]
    gain, tail = np.exp(logs - reference)
    few = np.zeros_like(grid.inside)
    few[:, :: 2**halvings] = grid.inside[:, :: 2**halvings]
    check = np.exp(log_shares(few, sparse)[0] - reference)
    total = gain.sum(axis=1)
    outer_error = np.abs(total - 2 * gain[:, ::2].sum(axis=1))
    inner_error = 2**halvings * np.abs(gain - check).sum(axis=1, where=few)
    scale = np.where(total > 0, total, 1.0)
    relative = (outer_error + inner_error) / scale
    reference = np.where(np.isfinite(reference), reference, 0.0)[:, 0]
    found = Estimate(reference + np.log(total), relative, reference + np.log(tail.sum(axis=1)))
    return found, outer_error / scale
