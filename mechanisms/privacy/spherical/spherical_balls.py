"""The privacy profile of noise of falling density: the mean share of one ball outside another.

Let f be the density of the noise and f_d the density shifted by d, ||d|| = s. Then

    delta(epsilon) = integral of (f - e^epsilon f_d)_+ .

The set where f exceeds a level is a ball of some radius B around 0, and the set where e^epsilon f_d
exceeds the same level is a ball of radius B' >= B around d. By layers, delta is the volume of the
first ball outside the second, integrated over the levels. In other words, noise of falling density
is uniform in a ball of random radius B, and delta is the mean share of that ball outside the other.
Nothing cancels, however small delta is. The share rises with the distance of the centres, and so
does delta, for every epsilon at once: the worst pair of an l2 ball is any pair at distance s.

In units of B let the other radius be 1 + x and the distance of the centres x + d, d now a number:
the first ball begins to leave the second at d = 0. As the first moves out, its volume outside grows
at the rate of the area of the disc whose rim both spheres share. Let z be the height of this disc
above the first centre, away from the second, at the distance x + h. Then

    share = C int_0^d (1 - z^2)^((M - 1) / 2) dh,    1 - z = h / 2 (1 + (x + 2) / (x + h)),

where C is the volume of the unit ball in R^(M - 1) over that in R^M. The spheres touch at h = 0,
z = 1, and at h = 2, z = -1. On a sphere of radius B, L > epsilon exactly at heights above z(d).
"""

from functools import cache
from typing import NamedTuple

import numpy as np
import scipy

from mechanisms.privacy.numerics import log_gamma_ratio, unit_gauss_legendre

# Up to this dimension quadrature must resolve the power (M - 1) / 2 of h where the spheres touch.
KINKY = 12
# An integral over h leaves out the part whose integrand is below e^-_CUT of its peak.
_CUT = 27.0
# If z is below -_MOSTLY_OUT / sqrt(M), the share inside is integrated instead, over h from d to 2.
_MOSTLY_OUT = 0.5
# The integrand starts in a layer as thin as x. The rule is graded down to _FINEST of the length,
# and not at all where the layer is below _LOST of it.
_FINEST, _LOST = 1e-9, 1e-13
# Bounds of log(1 + x) and of log(x + d), against overflow: beyond, the share is 0 or 1.
FAR, _NEAREST, _FURTHEST = 200.0, -708.0, 400.0
# The layer of a range of no length, against 0 / 0.
_TINY = 1e-307
# Radii at a time, so that the arrays over radius and h stay in the cache.
_CHUNK = 512


class SphericalLaw(NamedTuple):
    """M, a, p and s / b of the noise of `spherical_profile`."""

    dimension: int
    radial_shape: float
    power: float
    ratio: float

    @property
    def gap(self) -> float:
        """M - a: at the origin the density grows like r^-(M - a)."""
        return self.dimension - self.radial_shape

    @property
    def order(self) -> float:
        """k = a / p: the order of the gamma law of v = (r / b)^p."""
        return self.radial_shape / self.power


class Meeting(NamedTuple):
    """How two balls meet, in arrays of one shape.

    u: log(B' / B). excess: x. reach: d. height: z(d), above 1 or below -1 if the spheres do not
    meet.
    """

    u: np.ndarray
    excess: np.ndarray
    reach: np.ndarray
    height: np.ndarray


def meeting(noise: SphericalLaw, y: np.ndarray, epsilon: np.ndarray) -> Meeting:
    """Return how the balls of level f(B) meet, at v = (B / b)^p = k e^y; the arrays broadcast."""
    log_v = y + np.log(noise.order)
    u = _log_radius_ratio(noise, log_v, epsilon)
    far = np.maximum(u - FAR, 0.0)
    excess = np.expm1(u - far)
    log_distance = np.log(noise.ratio) - log_v / noise.power - far
    distance = np.exp(np.clip(log_distance, _NEAREST, _FURTHEST))
    reach = distance - excess
    if noise.gap == 0 and noise.power <= 1:
        reach = np.where(distance > 1, _bounded_reach(noise, log_v, epsilon, excess), reach)
    return Meeting(u, excess, reach, 1 - 0.5 * reach * (1 + (excess + 2) / distance))


def _bounded_reach(
    noise: SphericalLaw, log_v: np.ndarray, epsilon: np.ndarray, excess: np.ndarray
) -> np.ndarray:
    """Return d for a = M and p <= 1, with no more than the rounding of (s / b)^p - epsilon.

    This number is the distance of epsilon from the largest loss. If it is small, x + d and x nearly
    cancel in the balls that matter, and the rounding of log v would count many times over.
    """
    v = np.exp(log_v)
    largest = noise.ratio**noise.power
    # In units of B' = 1 + x the distance is ((s / b)^p / (v + epsilon))^(1 / p).
    log_distance = np.log1p((largest - epsilon - v) / (v + epsilon)) / noise.power
    return 1 + (1 + excess) * np.expm1(log_distance)


def _log_radius_ratio(noise: SphericalLaw, log_v: np.ndarray, epsilon: np.ndarray) -> np.ndarray:
    """Return u, the root of gap u + v (e^(p u) - 1) = epsilon, to full relative accuracy.

    The Wright omega function gives a closed form, which loses digits if u is small. The equation is
    then nearly linear, and one step of Newton's method restores the digits.
    """
    p, gap = noise.power, noise.gap
    most = np.logaddexp(0.0, np.log(epsilon) - log_v) / p
    if gap == 0:
        return most
    most = np.minimum(most, epsilon / gap)
    shift = np.log(p / gap) + log_v
    omega = scipy.special.wrightomega(p / gap * (epsilon + np.exp(log_v)) + shift)
    u = np.clip((np.log(omega) - shift) / p, 0.0, most)
    grown = np.exp(log_v + p * u)
    excess = gap * u - grown * np.expm1(-p * u) - epsilon
    return np.maximum(u - excess / (gap + p * grown), 0.0)


class Range(NamedTuple):
    """The range of h to integrate over, from `start` over `length`, in arrays of one shape.

    layer: the rule is finer where h - start is below it. excess: x. log_peak: log of the largest
    (1 - z^2)^((M - 1) / 2). rest: whether the integral is the share of the first ball inside the
    second, over h from d to 2.
    """

    excess: np.ndarray
    start: np.ndarray
    length: np.ndarray
    layer: np.ndarray
    log_peak: np.ndarray
    rest: np.ndarray


def range_of(dimension: int, balls: Meeting) -> Range:
    """Return the range of h from d, down or (rest) up to where the integrand is negligible.

    The share of the integral that is left out next to h = 0 or h = 2 is 2e-12 at most. The integral
    is that of a power of

        1 - z^2 = h (2 - h) (2 x + h) (2 x + 2 + h) / (2 (x + h))^2,

    whose logarithm is concave in log h and in log k, k = 2 - h. In log h its second derivative is
    h times 2 x / (2 x + h)^2 - 2 x / (x + h)^2 + (2 x + 2) / (2 x + 2 + h)^2 - 2 / (2 - h)^2, where
    the second term outweighs the first, the third is at most 1/2 and the last at least that. In
    log k it is k times 2 g(x + 2) - g(2) - g(2 x + 2) - g(2 x + 4), g(c) = c / (c - k)^2, and g is
    convex.

    So if what is left out is stretched to the whole range, with its end at h = 0 or 2 fixed, the
    integrand grows at every point by at least as much as at the rim, which moves to the other end:
    by e^(_CUT - 1/8) or more. (The range may end beyond the equator, where the peak is: hence 1/8.)
    """
    half = (dimension - 1) / 2
    _, excess, reach, height = balls
    rest = height < -_MOSTLY_OUT / dimension**0.5
    # The integrand falls from its peak at z = +-peak to nothing at z = +-rim.
    peak = np.maximum(np.where(rest, -height, height), 0.0)
    square = np.minimum(peak, np.nextafter(1.0, 0.0)) ** 2
    rim = np.sqrt(square - (1 - square) * np.expm1(-_CUT / half))
    rim = reach_at(excess, np.where(rest, -rim, rim))
    # The length is zero where the spheres do not meet.
    start = np.where(rest, np.minimum(reach, rim), rim)
    length = np.maximum(np.where(rest, rim, reach) - start, 0.0)
    layer = start + excess
    thin = layer < _LOST * length
    layer = np.where(thin, np.inf, np.maximum(layer, _FINEST * length))
    layer = np.minimum(layer, 8 * length) + _TINY
    log_peak = np.where(length > 0, half * np.log1p(-square), 0.0)
    return Range(excess, start, length, layer, log_peak, rest)


def log_share(dimension: int, where: Range, nodes: int) -> np.ndarray:
    """Return the log share of the first ball outside the second, an array of the range's shape.

    The integral is a Gauss-Legendre rule in log(layer + h - start).
    """
    half = (dimension - 1) / 2
    units, weights = _rule(nodes, dimension <= KINKY)
    grade = np.log1p(where.length / where.layer)
    columns = [each.reshape(-1, 1) for each in (*where[:2], where.layer, grade, where.log_peak)]
    share = np.empty(grade.size)
    for i in range(0, grade.size, _CHUNK):
        rows = slice(i, i + _CHUNK)
        share[rows] = _graded(half, *(each[rows] for each in columns), units) @ weights
    share = np.log(share.reshape(grade.shape)) + np.log(where.layer * grade)
    # log C, C the volume of the unit ball in R^(M - 1) over that in R^M.
    log_norm = log_gamma_ratio((dimension + 1) / 2, 0.5) - 0.5 * np.log(np.pi)
    share += where.log_peak + log_norm
    return np.where(where.rest, np.log1p(-np.exp(np.minimum(share, 0.0))), share)


def _graded(half, excess, start, layer, grade, log_peak, units) -> np.ndarray:
    """Return the integrand over its peak, times (dh / dt) / (layer grade), at the nodes t.

    The nodes have h = start + layer (e^(grade t) - 1).
    """
    growth = np.exp(grade * units)
    half_h = 0.5 * layer * growth + 0.5 * (start - layer)
    # 1 - z
    fall = half_h * (1 + (0.5 * excess + 1) / (half_h + 0.5 * excess))
    log_integrand = half * np.log1p(np.maximum(-((fall - 1) ** 2), -1.0)) - log_peak
    return np.exp(log_integrand) * growth


def distance_at(excess: np.ndarray, height: np.ndarray) -> np.ndarray:
    """Return the distance x + h at which z is this height."""
    square = excess * (excess + 2)
    far = np.sqrt(height**2 + square) + np.abs(height)
    return np.where(height > 0, square / far, far)


def reach_at(excess: np.ndarray, height: np.ndarray) -> np.ndarray:
    """Return the h at which z is this height, without the cancellation of x + h - x."""
    distance = distance_at(excess, height)
    return (1 - height) * (excess + distance) / (1 + excess + distance + height)


@cache
def _rule(nodes: int, kinky: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights on [0, 1]."""
    units, weights = unit_gauss_legendre(nodes)
    if kinky:  # quadratic at both ends, where half-integer powers of h become integer ones
        units, weights = units**2 * (3 - 2 * units), weights * 6 * units * (1 - units)
    return units, weights
