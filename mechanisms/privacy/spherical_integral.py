"""The integral behind the privacy profile of spherical noise.

Noise of radius r and cosine t to the shift (length s) has loss L(r, t) with L > epsilon exactly
for t < c(r), so

    delta(epsilon) = E_r E_t[ (1 - e^(epsilon - L(r, t))) 1{t < c(r)} ].

The integrand is positive everywhere: nothing cancels, however small delta is. Units: b = 1, so
that only s / b matters.

Variables. v = r^p is Gamma(k), k = a / p, and v = k e^y: the density of y is
exp(-k (e^y - 1 - y)) up to a constant near sqrt(k / 2 pi), which loses no digits at k = 5e6.
t = -sin(phi), with density proportional to cos(phi)^(M - 2): analytic for every M. The loss is

    L = (M - a) u + v (e^(p u) - 1),   u = log(r' / r) = log(1 + x (x + 2 sin phi)) / 2,  x = s / r,

increasing in u and in phi. The inner integral runs from the edge L = epsilon upwards on an
exponentially graded Gauss-Legendre rule that resolves the layer in which L rises by one; the
outer one on Gauss-Legendre panels that are halved until two node counts agree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mechanisms.privacy.numerics import (
    LOG_SQRT_2PI,
    expm1_excess,
    log_gamma_ratio,
    stirling_remainder,
    unit_gauss_legendre,
)

# log of what is left out of either integral, relative to its peak.
_CUT = 40.0
# Half-width of the radius window in standard deviations: outside is less than e^(-700).
_WINDOW = 38.0
LOG_LEFT_OUT = -700.0
_SCAN_POINTS = 65
# Nodes of the two rules that are compared: over the radius, and over each half of the angle.
_OUTER = (8, 12)
_INNER = (24, 34)
# Layers thinner than this share of the first half of the angle are worth a graded rule.
_GRADING = 0.03
# A panel is halved while its two outer rules differ by more than this share of delta.
_TARGET = 1e-9
_LEVELS = 30
_MOST_SPLITS = 80
_BENDS = 14
# Up to this dimension the kinks of the integrand are located.
_KINKY = 40
# Radii at a time, so that the arrays over radius and angle stay in the cache.
_CHUNK = 1024


class Spherical(NamedTuple):
    """M, a, p and s / b of spherical noise with density ~ ||x||^(a - M) exp(-(||x|| / b)^p)."""

    dimension: int
    shape: float
    power: float
    ratio: float

    @property
    def gap(self) -> float:
        """M - a: the power with which the density is singular at the origin."""
        return self.dimension - self.shape

    @property
    def order(self) -> float:
        """k = a / p: the order of the gamma law of v = (r / b)^p."""
        return self.shape / self.power


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


def loss(noise: Spherical, log_v: np.ndarray, sine: np.ndarray) -> np.ndarray:
    """Privacy loss at radius v = (r / b)^p and angle t = -sine; arrays that broadcast."""
    log_x = np.log(noise.ratio) - log_v / noise.power
    # Above e^300 the logarithm of r' / r is that of s / r.
    x = np.exp(np.minimum(log_x, 300.0))
    # r' = 0, at a pole for r = s, has loss -inf or finite: the floor keeps 0 times inf away.
    square = np.maximum(x * (x + 2 * sine), np.nextafter(-1.0, 0.0))
    u = 0.5 * np.log1p(square) + np.maximum(log_x - 300.0, 0.0)
    return noise.gap * u + _growth(log_v, noise.power * u)


def _growth(log_v: np.ndarray, pu: np.ndarray) -> np.ndarray:
    """v (e^(pu) - 1) without overflow before the product does."""
    near = np.exp(log_v) * np.expm1(np.minimum(pu, 1.0))
    if pu.max(initial=0.0) <= 1.0:
        return near
    far = np.exp(np.minimum(log_v + pu, 700.0)) - np.exp(np.minimum(log_v, 700.0))
    return np.where(pu <= 1.0, near, far)


def _edge(noise: Spherical, log_v: np.ndarray, epsilon: np.ndarray) -> np.ndarray:
    """-c: the sine at which the loss at radius v equals epsilon; beyond [-1, 1] if none does.

    u solves gap u + v (e^(p u) - 1) = epsilon: convex and increasing, so that Newton's method
    falls to the root from the smaller of the two upper bounds that each term alone gives.
    """
    p, gap = noise.power, noise.gap
    u = np.logaddexp(0.0, np.log(epsilon) - log_v) / p
    if gap > 0:
        u = np.minimum(u, epsilon / gap)
        for _ in range(6):  # down to 1e-9 of u, which moves delta by its square
            excess = gap * u + _growth(log_v, p * u) - epsilon
            u = u - excess / (gap + p * np.exp(np.minimum(log_v + p * u, 700.0)))
        u = np.maximum(u, 0.0)
    x = np.exp(np.maximum(np.log(noise.ratio) - log_v / p, -700.0))
    return (np.expm1(np.minimum(2 * u, 700.0)) / x - x) / 2


def _log_angle_integrals(
    noise: Spherical, y: np.ndarray, epsilon: np.ndarray, nodes: int
) -> np.ndarray:
    """logs of E_t[(1 - e^(epsilon - L))_+] and P_t(L > epsilon) at each radius, shape (2, size).

    Flat arrays y and epsilon.
    """
    twice = noise.dimension - 2
    cut = _CUT / twice if twice else np.inf
    log_v = y + np.log(noise.order)
    edge = _edge(noise, log_v, epsilon)
    # Start at the edge, or where the density of the angle is negligible against its peak at 0.
    start_sine = np.clip(edge, -np.sqrt(-np.expm1(-2 * cut)), 1.0)
    start = np.arcsin(start_sine)
    peak_cosine = np.cos(np.maximum(start, 0.0))
    end_cosine = peak_cosine * np.exp(-cut)
    end = np.arccos(end_cosine)
    # Two rules: up to the middle, graded where the layer in which the loss rises by one is thin
    # against the spacing of the nodes at the edge; and from the middle to the end.
    length = np.maximum(end - start, 0.0)
    middle = np.clip(0.2 * length, np.minimum(-start, length), None)
    layer = np.arcsin(np.clip(_edge(noise, log_v, epsilon + 1.0), -1.0, 1.0)) - start
    thinness = np.where(layer > 0, _GRADING * middle / np.where(layer > 0, layer, 1.0), 0.0)
    grade = np.log1p(np.maximum(thinness, 1e-6))[:, None]

    unit, weights = unit_gauss_legendre(nodes)
    near, far = middle[:, None], (length - middle)[:, None]
    graded = np.expm1(grade * unit) / np.expm1(grade)
    phi = start[:, None] + np.hstack([near * graded, near + far * unit])
    measure = np.hstack([near * grade * (graded + 1 / np.expm1(grade)), far + 0 * graded])
    gain = -np.expm1(np.minimum(epsilon[:, None] - loss(noise, log_v[:, None], np.sin(phi)), 0.0))
    log_peak = np.log1p(-2 * np.sin(0.5 * np.maximum(start, 0.0)) ** 2)
    log_cosine = np.log1p(-2 * np.sin(0.5 * phi) ** 2) - log_peak[:, None]
    density = measure * np.exp(twice * log_cosine) * np.tile(weights, 2)
    means = np.stack([np.vecdot(gain, density), density.sum(axis=1)])
    norm = log_gamma_ratio((noise.dimension - 1) / 2, 0.5) - 0.5 * np.log(np.pi)
    return np.log(means) + twice * log_peak + norm


def _log_integrands(noise: Spherical, y: np.ndarray, epsilon: np.ndarray, nodes: int) -> np.ndarray:
    """logs of the density of y times the two inner integrals, (2, size); flat arrays."""
    k = noise.order
    norm = 0.5 * np.log(k) - LOG_SQRT_2PI - stirling_remainder(k)
    inner = [
        _log_angle_integrals(noise, y[i : i + _CHUNK], epsilon[i : i + _CHUNK], nodes)
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
    reference[~(reference > LOG_LEFT_OUT - _CUT)] = 0.0
    near = np.maximum(scan[:, :-1], scan[:, 1:]) > reference[:, None] - _CUT
    owner, cell = np.nonzero(near & (np.diff(grid, axis=1) > 0))
    ends = grid[owner, cell], grid[owner, cell + 1], scan[owner, cell], scan[owner, cell + 1]
    done = []
    for _ in range(_BENDS):
        lower, upper, left, right = ends
        middle = 0.5 * (lower + upper)
        value = _scan(noise, middle, epsilon[owner])
        low, mid, high = np.maximum([left, value, right], reference[owner] - _CUT)
        bent = (np.abs(mid - 0.5 * (low + high)) > 0.5) | (np.abs(low - high) > 12.0)
        if noise.dimension <= _KINKY:  # known kinks are ends of panels already
            bent &= np.isfinite(left) & np.isfinite(right)
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
    for _ in range(50):
        middle = 0.5 * (low + high)
        same = (loss(noise, middle + shift, sine) > epsilon[:, None]) == side
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return low


def _changes(above: np.ndarray) -> np.ndarray:
    """The cells, two columns, of the first and the last change of sign in each row."""
    change = above[:, 1:] != above[:, :-1]
    last = change.shape[1] - 1 - np.argmax(change[:, ::-1], axis=1)
    return np.stack([np.argmax(change, axis=1), last], axis=1)
