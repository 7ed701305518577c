"""Spherical noise at one radius: the privacy loss, its level sets and its average over the angle.

Noise of radius r and cosine t to the shift (length s) has loss L(r, t); units are such that b = 1,
so that only s / b matters. With v = r^p, x = s / r and t = -sin(phi), the loss is

    L = (M - a) u + v (e^(p u) - 1),   u = log(r' / r) = log(1 + x (x + 2 sin phi)) / 2,

increasing in u and in phi, and phi has density proportional to cos(phi)^(M - 2): analytic for
every M. The integrals run from the edge L = epsilon upwards.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import scipy

from mechanisms.profiles.numerics import log_gamma_ratio, unit_gauss_legendre

# log of what is left out of the integrals, relative to their peak.
CUT = 40.0
# An edge is found where the loss there is this close to epsilon, relatively.
_FOUND = 1e-12
# Layers thinner than this share of the first half of the angle are worth a graded rule.
_GRADING = 0.03
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
            if (np.abs(excess) <= _FOUND * epsilon).all():
                break
            u = u - excess / (gap + p * np.exp(np.minimum(log_v + p * u, 700.0)))
        u = np.maximum(u, 0.0)
    x = np.exp(np.maximum(np.log(noise.ratio) - log_v / p, -700.0))
    return (np.expm1(np.minimum(2 * u, 700.0)) / x - x) / 2


class Look(NamedTuple):
    """What edges alone say of the integral over the angle, arrays of one shape.

    log_gain: log E_t[(1 - e^(epsilon - L))_+], to about a unit.
    deviations: the edge, as that of a normal law with the same tails.
    steepness: by how much the edge in standard deviations rises over a unit of y.
    """

    log_gain: np.ndarray
    deviations: np.ndarray
    steepness: np.ndarray


def look(noise: Spherical, y: np.ndarray, epsilon: np.ndarray) -> Look:
    """The integral over the angle without a quadrature; y (n, points) or (points,), epsilon (n, 1).

    The probability beyond the edge, times the gain at the middle of what lies there.
    """
    log_v = y + np.log(noise.order)
    # Both may overflow: they are then equal.
    edges = np.clip(_edge(noise, log_v, np.stack([epsilon, epsilon + 1])), -1e300, 1e300)
    sine = np.clip(edges[0], -1.0, 1.0)
    deviations = np.copysign(np.sqrt((1 - noise.dimension) * np.log1p(-(sine**2))), sine)
    distance = np.maximum(-edges[0], noise.dimension**-0.5)
    gain = -np.expm1(-distance / (edges[1] - edges[0]))
    # At fixed u the edge rises by (x + edge) / p.
    x = np.exp(np.log(noise.ratio) - log_v / noise.power)
    steepness = noise.dimension**0.5 / noise.power * (x + sine)
    return Look(scipy.special.log_ndtr(-deviations) + np.log(gain), deviations, steepness)


class Rule(NamedTuple):
    """Over which phi to integrate at some radii: columns (n, 1), of which rows may be taken.

    Two rules: from `start` over the length `near`, graded by `grade`, and on over the length `far`.
    """

    log_v: np.ndarray
    epsilon: np.ndarray
    start: np.ndarray
    near: np.ndarray
    far: np.ndarray
    grade: np.ndarray
    log_peak: np.ndarray  # log of the largest cosine in the rule

    def rows(self, chosen: slice | np.ndarray) -> Rule:
        return Rule(*(each[chosen] for each in self))


def rule_of(noise: Spherical, y: np.ndarray, epsilon: np.ndarray) -> Rule:
    """Where the integrals over the angle run; flat arrays y and epsilon."""
    twice = noise.dimension - 2
    cut = CUT / twice if twice else np.inf
    log_v, epsilon = y[:, None] + np.log(noise.order), epsilon[:, None]
    edge, next_edge = np.minimum(_edge(noise, log_v, np.stack([epsilon, epsilon + 1])), 1.0)
    # Start at the edge, or where the density of the angle is negligible against its peak at 0.
    start = np.arcsin(np.maximum(edge, -np.sqrt(-np.expm1(-2 * cut))))
    peak = np.maximum(start, 0.0)
    end = np.arccos(np.cos(peak) * np.exp(-cut))
    # Two rules: up to the middle, graded where the layer in which the loss rises by one is thin
    # against the spacing of the nodes at the edge; and from the middle to the end.
    length = np.maximum(end - start, 0.0)
    near = np.maximum(0.2 * length, np.minimum(-start, length))
    layer = np.arcsin(np.maximum(next_edge, -1.0)) - start
    thinness = _GRADING * near / np.where(layer > 0, layer, np.inf)
    grade = np.log1p(np.maximum(thinness, 1e-6))
    log_peak = np.log1p(-2 * np.sin(0.5 * peak) ** 2)
    return Rule(log_v, epsilon, start, near, length - near, grade, log_peak)


def log_angle_integrals(noise: Spherical, rule: Rule, nodes: int) -> np.ndarray:
    """logs of E_t[(1 - e^(epsilon - L))_+] and P_t(L > epsilon) at each radius, shape (2, n).

    nodes: of each of the two rules over the angle.
    """
    starts = range(0, len(rule.start), _CHUNK)
    parts = [_means(noise, rule.rows(slice(i, i + _CHUNK)), nodes) for i in starts]
    log_means = np.log(np.concatenate([*parts, np.empty((2, 0))], axis=1))
    return log_means + (noise.dimension - 2) * rule.log_peak[:, 0] + _log_norm(noise.dimension)


def _means(noise: Spherical, rule: Rule, nodes: int) -> np.ndarray:
    """The two integrals, with the density one at the largest cosine; shape (2, n)."""
    unit, weights = unit_gauss_legendre(nodes)
    widest = np.expm1(rule.grade)
    graded = np.expm1(rule.grade * unit) / widest
    half, measure = np.empty((2, len(graded), 2 * nodes))
    half[:, :nodes] = 0.5 * rule.start + 0.5 * rule.near * graded
    half[:, nodes:] = 0.5 * (rule.start + rule.near) + 0.5 * rule.far * unit
    measure[:, :nodes] = rule.near * rule.grade * weights * (graded + 1 / widest)
    measure[:, nodes:] = rule.far * weights
    # The sine of half the angle gives the sine, and the logarithm of the cosine at full accuracy.
    half = np.sin(half)
    square = half**2
    sine = 2 * half * np.sqrt(1 - square)
    gain = -np.expm1(np.minimum(rule.epsilon - loss(noise, rule.log_v, sine), 0.0))
    log_cosine = np.log1p(-2 * square) - rule.log_peak
    density = measure * np.exp((noise.dimension - 2) * log_cosine)
    return np.stack([np.vecdot(gain, density), density.sum(axis=1)])


@cache
def _log_norm(dimension: int) -> float:
    """log of the density of phi where the cosine is one."""
    return log_gamma_ratio((dimension - 1) / 2, 0.5) - 0.5 * np.log(np.pi)
