"""The integral over the radius behind the privacy profile of spherical noise.

With the notation of `spherical_angle`, L > epsilon exactly where phi is above an edge, so

    delta(epsilon) = E_r E_phi[ (1 - e^(epsilon - L))_+ ]

has a positive integrand everywhere: nothing cancels, however small delta is. v = r^p is Gamma(k),
k = a / p, and for v = k e^y the density of y is exp(-k (e^y - 1 - y)) up to a constant near
sqrt(k / 2 pi), which loses no digits at k = 5e6. The integral over y runs on Gauss-Legendre panels
that are halved until two node counts agree.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from mechanisms.profiles.numerics import (
    LOG_SQRT_2PI,
    expm1_excess,
    stirling_remainder,
    unit_gauss_legendre,
)
from mechanisms.profiles.spherical_angle import (
    CUT,
    Spherical,
    log_angle_integrals,
    loss,
)

# Half-width of the radius window in standard deviations: outside is less than e^(-700).
_WINDOW = 38.0
LOG_LEFT_OUT = -700.0
_SCAN_POINTS = 65
# Nodes of the two rules that are compared: over the radius, and over each half of the angle.
_OUTER = (8, 12)
_INNER = (24, 34)
# A panel is halved while its two outer rules differ by more than this share of delta.
_TARGET = 1e-9
_LEVELS = 30
_MOST_SPLITS = 80
_BENDS = 14
# Up to this dimension the kinks of the integrand are located.
_KINKY = 12
# Radii at a time, so that the arrays over radius and angle stay in the cache.
_CHUNK = 1024


class Estimate(NamedTuple):
    """Flat arrays, one entry per epsilon."""

    log_delta: np.ndarray
    relative_error: np.ndarray
    log_survival: np.ndarray  # log P(L > epsilon)


def log_delta(noise: Spherical, epsilon: np.ndarray) -> Estimate:
    """log delta, its relative quadrature error and log P(L > epsilon), for a flat array.

    The error adds, over all panels, the differences to a rule with fewer nodes in the outer and
    to one with fewer nodes in the inner integral. -inf where delta is below e^LOG_LEFT_OUT.
    """
    few, many = _OUTER
    sparse, dense = _INNER
    size = epsilon.size
    with np.errstate(divide="ignore", over="ignore", under="ignore", invalid="ignore"):
        panels = _first_panels(noise, epsilon)
        total, error, survival = np.zeros(size), np.zeros(size), np.zeros(size)
        for level in range(_LEVELS):
            owner = panels.owner
            fine, tail = _panel_sums(noise, epsilon, panels, many, dense)
            coarse = _panel_sums(noise, epsilon, panels, few, dense)[0]
            outer_error = np.abs(fine - coarse)
            inner_error = np.abs(coarse - _panel_sums(noise, epsilon, panels, few, sparse)[0])
            scale = total + np.bincount(owner, fine, size)
            split = (outer_error > _TARGET * scale[owner]) & (level < _LEVELS - 1)
            # A kink asks for few panels on each level; asking for many means rounding errors.
            split &= np.bincount(owner[split], minlength=size)[owner] <= _MOST_SPLITS
            for sums, part in (
                (total, fine),
                (survival, tail),
                (error, outer_error + inner_error),
            ):
                sums += np.bincount(owner[~split], part[~split], size)
            if not split.any():
                break
            panels = _halved(panels, split)
        relative = error / np.where(total > 0, total, 1.0)
        return Estimate(
            panels.reference + np.log(total), relative, panels.reference + np.log(survival)
        )


def _log_integrands(noise: Spherical, y: np.ndarray, epsilon: np.ndarray, nodes: int) -> np.ndarray:
    """logs of the density of y times the two inner integrals, (2, size); flat arrays."""
    k = noise.order
    norm = 0.5 * np.log(k) - LOG_SQRT_2PI - stirling_remainder(k)
    inner = [
        log_angle_integrals(noise, y[i : i + _CHUNK], epsilon[i : i + _CHUNK], nodes)
        for i in range(0, y.size, _CHUNK)
    ]
    return norm - k * expm1_excess(y) + np.concatenate([*inner, np.empty((2, 0))], axis=1)


class Panels(NamedTuple):
    """Intervals [lower, upper] of y, the index of the epsilon that each belongs to, and per
    epsilon the log of the largest integrand scanned, which scales the sums."""

    lower: np.ndarray
    upper: np.ndarray
    owner: np.ndarray
    reference: np.ndarray


def _panel_sums(
    noise: Spherical, epsilon: np.ndarray, panels: Panels, outer: int, inner: int
) -> np.ndarray:
    """The two integrals over each panel, times e^-reference; shape (2, panels)."""
    unit, weights = unit_gauss_legendre(outer)
    width = panels.upper - panels.lower
    y = panels.lower[:, None] + width[:, None] * unit
    rate = np.repeat(epsilon[panels.owner], outer)
    values = _log_integrands(noise, y.ravel(), rate, inner).reshape(2, *y.shape)
    return width * (np.exp(values - panels.reference[panels.owner][:, None]) @ weights)


def _first_panels(noise: Spherical, epsilon: np.ndarray) -> Panels:
    """Panels where the integrand is not negligible, split where it is not smooth.

    A panel over which the log of the integrand is far from a straight line is halved: a step that
    falls between the last node and the end of a panel would escape both rules.
    """
    grid = np.broadcast_to(_radius_window(noise.order), (epsilon.size, _SCAN_POINTS))
    grid = np.sort(np.concatenate([grid, _kinks(noise, grid, epsilon)], axis=1), axis=1)
    scan = _scan(noise, grid.ravel(), np.repeat(epsilon, grid.shape[1])).reshape(grid.shape)
    reference = scan.max(axis=1)
    # Far below the smallest delta that is resolved nothing is integrated: no panel, sum zero.
    reference[~(reference > LOG_LEFT_OUT - CUT)] = 0.0
    near = np.maximum(scan[:, :-1], scan[:, 1:]) > reference[:, None] - CUT
    owner, cell = np.nonzero(near & (np.diff(grid, axis=1) > 0))
    ends = grid[owner, cell], grid[owner, cell + 1], scan[owner, cell], scan[owner, cell + 1]
    done = []
    for _ in range(_BENDS):
        if not owner.size:
            break
        lower, upper, left, right = ends
        middle = 0.5 * (lower + upper)
        value = _scan(noise, middle, epsilon[owner])
        floor = reference[owner] - CUT
        low, mid, high = np.maximum([left, value, right], floor)
        bent = (np.abs(mid - 0.5 * (low + high)) > 0.5) | (np.abs(low - high) > 12.0)
        if noise.dimension <= _KINKY:  # a kink is the end of a panel already
            bent &= np.minimum(low, high) > floor
        done.append(Panels(lower[~bent], upper[~bent], owner[~bent], reference))
        halves = (lower, middle, left, value), (middle, upper, value, right)
        ends = tuple(np.r_[one[bent], other[bent]] for one, other in zip(*halves, strict=True))
        owner = np.tile(owner[bent], 2)
    done.append(Panels(*ends[:2], owner, reference))
    lower, upper, owner = (np.concatenate([each[i] for each in done]) for i in range(3))
    return _graded(Panels(lower, upper, owner, reference))


def _graded(panels: Panels) -> Panels:
    """Halve panels until none is more than eight times as wide as one that it touches."""
    while True:
        order = np.lexsort((panels.lower, panels.owner))
        panels = Panels(*(each[order] for each in panels[:3]), panels.reference)
        width = panels.upper - panels.lower
        touch = panels.upper[:-1] == panels.lower[1:]
        right = np.append(np.where(touch, width[1:], np.inf), np.inf)[: width.size]
        left = np.append(np.inf, np.where(touch, width[:-1], np.inf))[: width.size]
        wide = width > 8 * np.minimum(left, right)
        if not wide.any():
            return panels
        halved = _halved(panels, wide)
        panels = Panels(
            *(np.r_[old[~wide], new] for old, new in zip(panels[:3], halved[:3], strict=True)),
            panels.reference,
        )


def _scan(noise: Spherical, y: np.ndarray, epsilon: np.ndarray) -> np.ndarray:
    """The log of the integrand to a few digits."""
    return _log_integrands(noise, y, epsilon, 16)[0]


def _halved(panels: Panels, split: np.ndarray) -> Panels:
    """Both halves of the panels to be split, and no others."""
    lower, upper, owner = panels.lower[split], panels.upper[split], panels.owner[split]
    middle = 0.5 * (lower + upper)
    return Panels(np.r_[lower, middle], np.r_[middle, upper], np.r_[owner, owner], panels.reference)


@lru_cache(maxsize=16)
def _radius_window(k: float) -> np.ndarray:
    """Scan points y, evenly spaced in w = +-sqrt(2 k (e^y - 1 - y)), in which the law of y is
    nearly the standard normal."""
    w = np.linspace(-_WINDOW, _WINDOW, _SCAN_POINTS)
    goal = 0.5 * w**2 / k
    outside = goal + np.sqrt(2 * goal)
    y = np.where(w > 0, np.log1p(outside), -outside)
    for _ in range(8):
        slope = np.where(w == 0, 1.0, np.expm1(y))
        y = np.where(w == 0, 0.0, y - (expm1_excess(y) - goal) / slope)
    y.flags.writeable = False
    return y


def _kinks(noise: Spherical, grid: np.ndarray, epsilon: np.ndarray) -> np.ndarray:
    """Where the edge enters or leaves the sphere (c = -1 or 1), or the grid's end if nowhere.

    The integrand has a power of order (M - 1) / 2 there: only small M need the split.
    """
    if noise.dimension > _KINKY:
        return np.empty((epsilon.size, 0))
    sine = np.array([1.0, 1.0, -1.0, -1.0])
    shift = np.log(noise.order)
    above = loss(noise, grid[..., None] + shift, np.array([1.0, -1.0])) > epsilon[:, None, None]
    cell = np.concatenate([_changes(above[..., 0]), _changes(above[..., 1])], axis=1)
    low, high = np.take_along_axis(grid, cell, 1), np.take_along_axis(grid, cell + 1, 1)
    side = loss(noise, low + shift, sine) > epsilon[:, None]
    for _ in range(40):
        middle = 0.5 * (low + high)
        same = (loss(noise, middle + shift, sine) > epsilon[:, None]) == side
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return low


def _changes(above: np.ndarray) -> np.ndarray:
    """The cells, two columns, of the first and the last change of sign in each row."""
    change = above[:, 1:] != above[:, :-1]
    last = change.shape[1] - 1 - np.argmax(change[:, ::-1], axis=1)
    return np.stack([np.argmax(change, axis=1), last], axis=1)
