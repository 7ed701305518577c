"""The integral over the radius behind the profile of spherical noise, whatever the integrand.

It runs on Gauss-Legendre panels that are halved until two node counts agree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mechanisms.profiles.numerics import unit_gauss_legendre
from mechanisms.profiles.spherical_angle import CUT, Spherical, loss
from mechanisms.profiles.spherical_radius import (
    LOG_LEFT_OUT,
    SCAN_POINTS,
    Estimate,
    law_of_radius,
    log_integrands,
    scan,
)

# Nodes of the two rules that are compared: over the radius, and over each half of the angle; and of
# one over the angle for a few digits.
_OUTER = (8, 12)
_INNER = (24, 34)
_LOOK = 16
# A panel is halved while its two outer rules differ by more than this share of delta.
_TARGET = 1e-9
_LEVELS = 30
_MOST_SPLITS = 80
_BENDS = 14
# A kink is found to 2^-40 of a step of the scan.
_SECTIONS, _PARTS = 8, np.linspace(0, 1, 33)
# Up to this dimension the kinks of the integrand are located.
KINKY = 12


def log_delta(noise: Spherical, epsilon: np.ndarray) -> Estimate:
    """log delta, its relative quadrature error and log P(L > epsilon), for a flat array.

    The error adds, over all panels, the differences to a rule with fewer nodes in the outer and
    to one with fewer nodes in the inner integral. -inf where delta is below e^LOG_LEFT_OUT.
    """
    few, many = _OUTER
    sparse, dense = _INNER
    size = epsilon.size
    panels = _first_panels(noise, epsilon)
    total, error, survival = np.zeros(size), np.zeros(size), np.zeros(size)
    for level in range(_LEVELS):
        owner = panels.owner
        (fine, tail), (coarse, _) = _panel_sums(noise, epsilon, panels, (many, few), dense)
        outer_error = np.abs(fine - coarse)
        ((rough, _),) = _panel_sums(noise, epsilon, panels, (few,), sparse)
        inner_error = np.abs(coarse - rough)
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
    return Estimate(panels.reference + np.log(total), relative, panels.reference + np.log(survival))


class Panels(NamedTuple):
    """Intervals [lower, upper] of y, the index of the epsilon that each belongs to, and per
    epsilon the log of the largest integrand scanned, which scales the sums."""

    lower: np.ndarray
    upper: np.ndarray
    owner: np.ndarray
    reference: np.ndarray


def _panel_sums(
    noise: Spherical, epsilon: np.ndarray, panels: Panels, outer: tuple[int, ...], inner: int
) -> list[np.ndarray]:
    """For each rule over the radius, the two integrals over each panel, times e^-reference.

    Each of shape (2, panels). The points of all rules are evaluated at once.
    """
    units, weights = zip(*(unit_gauss_legendre(count) for count in outer), strict=True)
    width = panels.upper - panels.lower
    y = panels.lower[:, None] + width[:, None] * np.concatenate(units)
    rate = np.repeat(epsilon[panels.owner], y.shape[1])
    values = log_integrands(noise, y.ravel(), rate, inner).reshape(2, *y.shape)
    values = np.exp(values - panels.reference[panels.owner][:, None])
    parts = np.split(values, np.cumsum(outer)[:-1], axis=2)
    return [width * (part @ weight) for part, weight in zip(parts, weights, strict=True)]


def _first_panels(noise: Spherical, epsilon: np.ndarray) -> Panels:
    """Panels where the integrand is not negligible, split where it is not smooth.

    A panel over which the log of the integrand is far from a straight line is halved: a step that
    falls between the last node and the end of a panel would escape both rules.
    """
    grid = np.broadcast_to(law_of_radius(noise.order).y, (epsilon.size, SCAN_POINTS))
    grid = np.sort(np.concatenate([grid, _kinks(noise, grid, epsilon)], axis=1), axis=1)
    seen = scan(noise, grid, epsilon, _LOOK)
    reference = seen.max(axis=1)
    # Far below the smallest delta that is resolved nothing is integrated: no panel, sum zero.
    reference[~(reference > LOG_LEFT_OUT - CUT)] = 0.0
    near = np.maximum(seen[:, :-1], seen[:, 1:]) > reference[:, None] - CUT
    owner, cell = np.nonzero(near & (np.diff(grid, axis=1) > 0))
    ends = grid[owner, cell], grid[owner, cell + 1], seen[owner, cell], seen[owner, cell + 1]
    done = []
    for _ in range(_BENDS):
        if not owner.size:
            break
        lower, upper, left, right = ends
        middle = 0.5 * (lower + upper)
        value = scan(noise, middle[:, None], epsilon[owner], _LOOK)[:, 0]
        floor = reference[owner] - CUT
        low, mid, high = np.maximum([left, value, right], floor)
        bent = (np.abs(mid - 0.5 * (low + high)) > 0.5) | (np.abs(low - high) > 12.0)
        if noise.dimension <= KINKY:  # a kink is the end of a panel already
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


def _halved(panels: Panels, split: np.ndarray) -> Panels:
    """Both halves of the panels to be split, and no others."""
    lower, upper, owner = panels.lower[split], panels.upper[split], panels.owner[split]
    middle = 0.5 * (lower + upper)
    return Panels(np.r_[lower, middle], np.r_[middle, upper], np.r_[owner, owner], panels.reference)


def _kinks(noise: Spherical, grid: np.ndarray, epsilon: np.ndarray) -> np.ndarray:
    """Where the edge enters or leaves the sphere (c = -1 or 1), or the grid's end if nowhere.

    The integrand has a power of order (M - 1) / 2 there: only small M need the split.
    """
    if noise.dimension > KINKY:
        return np.empty((epsilon.size, 0))
    sine = np.array([1.0, 1.0, -1.0, -1.0])
    shift = np.log(noise.order)
    above = loss(noise, grid[..., None] + shift, np.array([1.0, -1.0])) > epsilon[:, None, None]
    cell = np.concatenate([_changes(above[..., 0]), _changes(above[..., 1])], axis=1)
    low, high = np.take_along_axis(grid, cell, 1), np.take_along_axis(grid, cell + 1, 1)
    side = loss(noise, low + shift, sine) > epsilon[:, None]
    # Many points at a time cost as little as one.
    for _ in range(_SECTIONS):
        points = low[..., None] + (high - low)[..., None] * _PARTS
        above = loss(noise, points + shift, sine[:, None]) > epsilon[:, None, None]
        same = above == side[..., None]
        same[..., 0], same[..., -1] = True, False
        place = np.argmin(same, axis=-1)[..., None]
        low, high = (np.take_along_axis(points, each, -1)[..., 0] for each in (place - 1, place))
    return low


def _changes(above: np.ndarray) -> np.ndarray:
    """The cells, two columns, of the first and the last change of sign in each row."""
    change = above[:, 1:] != above[:, :-1]
    last = change.shape[1] - 1 - np.argmax(change[:, ::-1], axis=1)
    return np.stack([np.argmax(change, axis=1), last], axis=1)
