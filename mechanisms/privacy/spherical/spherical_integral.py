"""The integral over the radius behind the profile of spherical noise.

It runs on Gauss-Legendre panels that are halved until two node counts agree.
"""

from typing import NamedTuple

import numpy as np

from mechanisms.privacy.numerics import unit_gauss_legendre
from mechanisms.privacy.spherical.spherical_balls import (
    Range,
    SphericalLaw,
    log_share,
    meeting,
    range_of,
)
from mechanisms.privacy.spherical.spherical_panels import LOG_LEFT_OUT, Panels, first_panels
from mechanisms.privacy.spherical.spherical_radius import log_ball_density, log_tail

# Nodes of the two rules that are compared: over the radius, and over the share of a ball.
_OUTER, _INNER = (16, 22), (20, 26)
# A panel is halved while its two outer rules differ by more than this share of delta.
_TARGET = 1e-9
_LEVELS = 30
_MOST_SPLITS = 80
# Epsilons at a time, so that the arrays over epsilon and radius stay in the cache.
_CHUNK = 64


class Estimate(NamedTuple):
    """Flat arrays, one entry per epsilon."""

    log_delta: np.ndarray
    relative_error: np.ndarray
    log_survival: np.ndarray  # log P(L > epsilon)


def log_delta(noise: SphericalLaw, epsilon: np.ndarray) -> Estimate:
    """log delta, its relative quadrature error and log P(L > epsilon), for a flat array.

    The error adds, over all panels, the differences to a rule with fewer nodes in the outer and
    to one with fewer nodes in the inner integral. log delta is -inf where below LOG_LEFT_OUT.
    """
    starts = range(0, max(epsilon.size, 1), _CHUNK)
    with np.errstate(divide="ignore", over="ignore", under="ignore", invalid="ignore"):
        parts = [_log_delta(noise, epsilon[i : i + _CHUNK]) for i in starts]
    return Estimate(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def _log_delta(noise: SphericalLaw, epsilon: np.ndarray) -> Estimate:
    panels, reference = first_panels(noise, epsilon)
    total, error, survival = np.zeros((3, epsilon.size))
    for level in range(_LEVELS):
        owner = panels.owner
        fine, outer_error, inner_error, tail = _panel_sums(noise, epsilon, panels, reference)
        scale = total + np.bincount(owner, fine, epsilon.size)
        split = (outer_error > _TARGET * scale[owner]) & (level < _LEVELS - 1)
        # A place that is not smooth asks for few halves on each level. Where many are asked for the
        # rules differ by rounding, which halves do not cure.
        split &= np.bincount(owner[split], minlength=epsilon.size)[owner] <= _MOST_SPLITS
        for sums, part in ((total, fine), (survival, tail), (error, outer_error + inner_error)):
            sums += np.bincount(owner[~split], part[~split], epsilon.size)
        if not split.any():
            break
        halves = np.repeat(np.nonzero(split)[0], 2)
        panels = panels.parts(halves, np.arange(halves.size) % 2, 2)
    log_total = reference + np.log(total)
    return Estimate(
        np.where(log_total < LOG_LEFT_OUT, -np.inf, log_total),
        error / np.where(total > 0, total, 1.0),
        reference + np.log(survival),
    )


def _panel_sums(
    noise: SphericalLaw, epsilon: np.ndarray, panels: Panels, reference: np.ndarray
) -> tuple[np.ndarray, ...]:
    """The integral of delta's integrand over each panel, how much it differs with fewer nodes in
    the outer and in the inner integral, and that of P(L > epsilon); all times e^-reference."""
    (few, few_weights), (many, weights) = (unit_gauss_legendre(count) for count in _OUTER)
    first, last = slice(few.size), slice(few.size, None)
    sparse, dense = _INNER
    y, slope = panels.points(np.concatenate([few, many]))
    balls = meeting(noise, y, epsilon[panels.owner, None])
    where = range_of(noise.dimension, balls)
    scale = reference[panels.owner, None]
    log_density = log_ball_density(noise, y) - scale

    gain = np.exp(log_share(noise.dimension, where, dense) + log_density) * slope
    fine, coarse = gain[:, last] @ weights, gain[:, first] @ few_weights
    where = Range(*(each[:, first] for each in where))
    rough = (
        np.exp(log_share(noise.dimension, where, sparse) + log_density[:, first]) * slope[:, first]
    )
    tail = np.exp(log_tail(noise, y[:, last], balls.height[:, last]) - scale) * slope[:, last]
    inner_error = np.abs(coarse - rough @ few_weights)
    return fine, np.abs(fine - coarse), inner_error, tail @ weights
