"""The law of the radius of spherical noise, and the integrand of its privacy profile over it.

With the notation of `spherical_angle`, L > epsilon exactly where phi is above an edge, so

    delta(epsilon) = E_r E_phi[ (1 - e^(epsilon - L))_+ ]

has a positive integrand everywhere: nothing cancels, however small delta is. v = r^p is Gamma(k),
k = a / p, and for v = k e^y the density of y is exp(-k (e^y - 1 - y)) up to a constant near
sqrt(k / 2 pi), which loses no digits at k = 5e6.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from mechanisms.profiles.numerics import LOG_SQRT_2PI, expm1_excess, stirling_remainder
from mechanisms.profiles.spherical_angle import Spherical, log_angle_integrals, rule_of

# Half-width of the radius window in standard deviations: outside is less than e^(-700).
WINDOW = 38.0
LOG_LEFT_OUT = -700.0
SCAN_POINTS = 65


class Estimate(NamedTuple):
    """Flat arrays, one entry per epsilon."""

    log_delta: np.ndarray
    relative_error: np.ndarray
    log_survival: np.ndarray  # log P(L > epsilon)


def log_integrands(noise: Spherical, y: np.ndarray, epsilon: np.ndarray, nodes: int) -> np.ndarray:
    """logs of the density of y times the two inner integrals, (2, size); flat arrays."""
    inner = log_angle_integrals(noise, rule_of(noise, y, epsilon), nodes)
    return inner + log_norm(noise.order) - noise.order * expm1_excess(y)


@cache
def log_norm(k: float) -> float:
    """log of the density of y at its peak, 0."""
    return float(0.5 * np.log(k) - LOG_SQRT_2PI - stirling_remainder(k))


def scan(noise: Spherical, y: np.ndarray, epsilon: np.ndarray, nodes: int) -> np.ndarray:
    """The log of the integrand to a few digits; y one row for all epsilons, or a row for each."""
    y = np.broadcast_to(y, (epsilon.size, y.shape[-1]))
    rate = np.repeat(epsilon, y.shape[-1])
    return log_integrands(noise, y.ravel(), rate, nodes)[0].reshape(y.shape)


class Law(NamedTuple):
    """Points y of the radius, log(dy / dw) for w evenly spaced, and k (e^y - 1 - y); read-only."""

    y: np.ndarray
    log_slope: np.ndarray
    fall: np.ndarray


@lru_cache(maxsize=16)
def law_of_radius(k: float, steps: int = 1) -> Law:
    """Points y evenly spaced in w = +-sqrt(2 k (e^y - 1 - y)), in which the law of y is nearly the
    standard normal; `steps` of them to a step of the scan."""
    w = np.linspace(-WINDOW, WINDOW, steps * (SCAN_POINTS - 1) + 1)
    goal = 0.5 * w**2 / k
    outside = goal + np.sqrt(2 * goal)
    y = np.where(w > 0, np.log1p(outside), -outside)
    for _ in range(8):
        slope = np.where(w == 0, 1.0, np.expm1(y))
        y = np.where(w == 0, 0.0, y - (expm1_excess(y) - goal) / slope)
    # k (e^y - 1) dy = w dw; at w = 0 their ratio is that of the second order.
    slope = np.where(w == 0, 1 / np.sqrt(k), w / (k * np.where(w == 0, 1.0, np.expm1(y))))
    law = Law(y, np.log(slope), k * expm1_excess(y))
    for each in law:
        each.flags.writeable = False
    return law
