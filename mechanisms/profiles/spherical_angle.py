"""Spherical noise at one radius: the privacy loss, its level sets and its average over the angle.

Noise of radius r and cosine t to the shift (length s) has loss L(r, t); units are such that b = 1,
so that only s / b matters. With v = r^p, x = s / r and t = -sin(phi), the loss is

    L = (M - a) u + v (e^(p u) - 1),   u = log(r' / r) = log(1 + x (x + 2 sin phi)) / 2,

increasing in u and in phi, and phi has density proportional to cos(phi)^(M - 2): analytic for
every M. The integrals run from the edge L = epsilon upwards.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mechanisms.profiles.numerics import log_gamma_ratio, unit_gauss_legendre

# log of what is left out of the integrals, relative to their peak.
CUT = 40.0
# An edge is found where the loss there is this close to epsilon, relatively.
_FOUND = 1e-12
# Layers thinner than this share of the first half of the angle are worth a graded rule.
_GRADING = 0.03


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


def log_angle_integrals(
    noise: Spherical, y: np.ndarray, epsilon: np.ndarray, nodes: int
) -> np.ndarray:
    """logs of E_t[(1 - e^(epsilon - L))_+] and P_t(L > epsilon) at each radius, shape (2, size).

    Flat arrays y and epsilon.
    """
    twice = noise.dimension - 2
    cut = CUT / twice if twice else np.inf
    log_v = y + np.log(noise.order)
    edge, next_edge = _edge(noise, log_v, epsilon + np.array([[0.0], [1.0]]))
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
    layer = np.arcsin(np.clip(next_edge, -1.0, 1.0)) - start
    thinness = np.where(layer > 0, _GRADING * middle / np.where(layer > 0, layer, 1.0), 0.0)
    grade = np.log1p(np.maximum(thinness, 1e-6))[:, None]

    unit, weights = unit_gauss_legendre(nodes)
    near, far = middle[:, None], (length - middle)[:, None]
    graded = np.expm1(grade * unit) / np.expm1(grade)
    phi = start[:, None] + np.hstack([near * graded, near + far * unit])
    measure = np.hstack([near * grade * (graded + 1 / np.expm1(grade)), far + 0 * graded])
    # The sine of half the angle gives the sine, and the logarithm of the cosine at full accuracy.
    half = np.sin(0.5 * phi)
    square = half**2
    sine = 2 * half * np.sqrt(1 - square)
    gain = -np.expm1(np.minimum(epsilon[:, None] - loss(noise, log_v[:, None], sine), 0.0))
    log_peak = np.log1p(-2 * np.sin(0.5 * np.maximum(start, 0.0)) ** 2)
    log_cosine = np.log1p(-2 * square) - log_peak[:, None]
    density = measure * np.exp(twice * log_cosine) * np.tile(weights, 2)
    means = np.stack([np.vecdot(gain, density), density.sum(axis=1)])
    norm = log_gamma_ratio((noise.dimension - 1) / 2, 0.5) - 0.5 * np.log(np.pi)
    return np.log(means) + twice * log_peak + norm
