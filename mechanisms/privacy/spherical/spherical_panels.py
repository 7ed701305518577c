"""The radius of spherical noise: its law, the integrands of the profile, and panels for them.

v = (r / b)^p is Gamma(k) with k = a / p. For v = k e^y the density of y is exp(-k (e^y - 1 - y)) up
to a constant, which is near sqrt(k / 2 pi) for large k. This form loses no digits at k = 5e6. The
radius of the ball in which the noise is uniform (see `spherical_balls`) has this density times
(M - a + p v) / M.

A rule of some twenty nodes integrates over each panel. Panels begin and end where the spheres begin
or cease to meet. Over a panel the logarithm of the integrand is nearly a straight line, or a
parabola like that of the normal law within a few standard deviations. Where the spheres touch, the
integrand has a kink in small dimensions: a power of order (M + 1) / 2 of the distance from there in
y. A panel runs over t in [0, 1] with dy/dt = 0 at a kink, so that the integrand is analytic in t.
"""

from typing import NamedTuple, Self

import numpy as np
import scipy

from mechanisms.privacy.numerics import LOG_SQRT_2PI, stirling_remainder
from mechanisms.privacy.spherical.spherical_balls import (
    FAR,
    KINKY,
    Meeting,
    SphericalLaw,
    distance_at,
    log_share,
    meeting,
    range_of,
)

# Below e^LOG_LEFT_OUT delta is not resolved.
LOG_LEFT_OUT = -700.0
# Half-width of the window of radii in standard deviations: outside is less mass than e^-700.
_WINDOW = 38.0
# Integrands below e^-_CUT of the largest are left out: less than this share of the peak times the
# length of the window, 1e-9 of delta in random cases. Integrating them changed delta by 2e-11 at
# most there. `_ALLOWANCE` of the profile covers it.
_CUT = 30.0
# Steps of the scan in the law of the radius, points in log r, and nodes over h for a few digits.
_STEPS, _SCAN, _LOOK = 38, 81, 8
# A panel is at most as wide as _DEVIATIONS of the normal law with the same curvature, and as a fall
# of the integrand by e^_FALL. It may be twice as wide where the integrand is e^-_DEEP of its peak.
_DEVIATIONS, _FALL, _DEEP = 3.5, 16.0, 10.0
# The most panels that a step of the scan is divided into.
_MOST_PARTS = 64
# Terms that vary like e^y or e^(2 y / p) die out within _DIED_OUT, or p / 2 times that. A panel of
# _LONG times that length is cut there, because a rule over all of it would miss its ends.
_DIED_OUT, _LONG = 30.0, 3.0
# Heights of crossings in large dimensions, in standard deviations of the height of a random point.
_HEIGHTS = np.array([-6.0, -1.5, 6.0])
# A crossing is bracketed to _BRACKET min(u, 1), in at most _ROUNDS rounds that cut the bracket at
# _PARTS. A secant finds it from there.
_PARTS, _BRACKET, _ROUNDS = np.linspace(0, 1, 257), 1e-7, 5
# Coefficients of y, a polynomial in t: without a kink, with one at t = 0, at t = 1, and at both.
_POWERS = np.array([[1.0, 0.0, 2.0, 0.0], [0.0, 1.0, -1.0, 3.0], [0.0, 0.0, 0.0, -2.0]])


class Panels(NamedTuple):
    """Parts [first, last] of intervals from y = lower to lower + width.

    kinks: 0 for none, 1 for one at t = 0, 2 for one at t = 1, 3 for both. owner: the index of the
    epsilon that the panel belongs to.
    """

    lower: np.ndarray
    width: np.ndarray
    kinks: np.ndarray
    owner: np.ndarray
    first: np.ndarray
    last: np.ndarray

    def parts(self, chosen: np.ndarray, part: np.ndarray, count: np.ndarray | int) -> Self:
        """Return the given one of `count` equal parts of each chosen panel."""
        lower, width, kinks, owner, first, last = (each[chosen] for each in self)
        span = (last - first) / count
        return Panels(lower, width, kinks, owner, first + part * span, first + (part + 1) * span)

    def points(self, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return y at these shares of the length, and dy / d share: arrays (panels, shares)."""
        one, two, three = _POWERS[:, self.kinks, None]
        span = (self.last - self.first)[:, None]
        t = self.first[:, None] + span * shares
        width = self.width[:, None]
        y = self.lower[:, None] + width * t * (one + t * (two + three * t))
        return y, width * span * (one + t * (2 * two + 3 * three * t))


def first_panels(noise: SphericalLaw, epsilon: np.ndarray) -> tuple[Panels, np.ndarray]:
    """Return panels where the integrands are not negligible, and the log peak of delta's integrand.

    The peak is per epsilon. If it is far below the smallest delta that is resolved, the epsilon has
    no panel, and a log peak of 0.
    """
    y = _scan(noise, epsilon)
    balls = meeting(noise, y, epsilon[:, None])
    gain = log_share(noise.dimension, range_of(noise.dimension, balls), _LOOK) + log_ball_density(
        noise, y
    )
    tail = _log_tail_bound(noise, y, balls.height)
    peak = gain.max(axis=1)
    # Between two points the integrand may be far above them, but not that far.
    resolved = peak > LOG_LEFT_OUT - 3 * _CUT
    peak[~resolved] = 0.0
    seen = np.stack([gain - peak[:, None], tail - tail.max(axis=1, keepdims=True)])
    near = seen.max(axis=0) > -_CUT
    near = near[:, 1:] | near[:, :-1]
    owner, step, at = _crossings(noise, epsilon, y, balls)
    # The integrand may have its peak at a crossing, where it ends.
    near[owner, step] |= log_ball_density(noise, at) - peak[owner] > -_CUT
    near &= resolved[:, None]
    panels = _panels(noise, y, near, _divided(y, seen, near), (owner, step, at))
    return _without_long_ones(panels, _DIED_OUT * max(1.0, noise.power / 2)), peak


def _panels(
    noise: SphericalLaw,
    y: np.ndarray,
    near: np.ndarray,
    divided: tuple[np.ndarray, np.ndarray],
    crossing: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> Panels:
    """Return the panels from edge to edge that are near a peak.

    Edges are places of the scan where a new panel begins, crossings, and the end of the window.
    """
    (count, begins), (owner, step, at) = divided, crossing
    row, start = np.nonzero(begins)
    ends = np.arange(len(y))
    edge = np.concatenate([y[row, start], at, y[:, -1]])
    kept = np.concatenate([near[row, start], near[owner, step], np.zeros(ends.size, dtype=bool)])
    count = np.concatenate([count[row, start], count[owner, step], np.ones(ends.size, dtype=int)])
    kink = np.repeat([0, int(noise.dimension <= KINKY), 0], [row.size, owner.size, ends.size])
    owner = np.concatenate([row, owner, ends])
    order = np.lexsort((edge, owner))
    edge, kept, count, kink, owner = (each[order] for each in (edge, kept, count, kink, owner))
    width = edge[1:] - edge[:-1]
    left = np.nonzero(kept[:-1] & (width > 0))[0]
    kinks = kink[left] + 2 * kink[left + 1]
    whole = np.zeros(left.size), np.ones(left.size)
    panels = Panels(edge[left], width[left], kinks, owner[left], *whole)
    count = count[left]
    chosen = np.repeat(np.arange(left.size), count)
    part = np.arange(chosen.size) - np.repeat(np.cumsum(count) - count, count)
    return panels.parts(chosen, part, count[chosen])


def _scan(noise: SphericalLaw, epsilon: np.ndarray) -> np.ndarray:
    """Return points over the window, (n, points), in steps of the law of the radius and of log r.

    The place where the spheres meet varies with both. The points in log r begin at or below the
    radius at which the spheres part: there the shift is as long as both radii, whose ratio is at
    most e^(epsilon / gap). For a = M nothing bounds the ratio. The points then begin where the
    shift is twice the radius, and the steps in the law of the radius cover a crossing below.
    """
    y = _window(noise.order, _STEPS + 1)
    largest = epsilon / noise.gap if noise.gap > 0 else np.zeros_like(epsilon)
    low = noise.power * (np.log(noise.ratio) - np.logaddexp(0.0, largest)) - np.log(noise.order)
    low = np.clip(low, y[0], y[-2])[:, None]
    inner = low + (y[-1] - low) * (np.arange(_SCAN) + 0.5) / _SCAN
    return np.sort(np.hstack([np.broadcast_to(y, (epsilon.size, y.size)), inner]))


def _divided(y: np.ndarray, seen: np.ndarray, near: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of panels for each step of the scan, and where a new panel begins.

    seen: logs of the integrands over their peaks, (2, n, points).
    """
    # A fall to zero does not count: it begins at a crossing.
    zero = np.isneginf(seen)
    seen = np.maximum(seen, -_CUT)
    step = y[:, 1:] - y[:, :-1]
    fall = np.where(zero[..., 1:] | zero[..., :-1], 0.0, seen[..., 1:] - seen[..., :-1])
    slope = fall / step
    curvature = np.abs(slope[..., 1:] - slope[..., :-1]) * (2 / (step[:, 1:] + step[:, :-1]))
    deviations = np.sqrt(curvature) / _DEVIATIONS
    share = np.abs(fall) / _FALL
    share[..., 1:] = np.maximum(share[..., 1:], deviations * step[:, 1:])
    share[..., :-1] = np.maximum(share[..., :-1], deviations * step[:, :-1])
    share /= 1 - np.maximum(seen[..., 1:], seen[..., :-1]) / _DEEP
    share = share.max(axis=0)
    many = share > 1
    total = np.floor(np.cumsum(share, axis=1))
    begins = np.ones(near.shape, dtype=bool)
    begins[:, 1:] = (total[:, 1:] > total[:, :-1]) | (near[:, 1:] != near[:, :-1]) | many[:, :-1]
    return np.where(many, np.ceil(np.minimum(share, _MOST_PARTS)), 1).astype(int), begins


def _without_long_ones(panels: Panels, away: float) -> Panels:
    """Cut long panels at the distance `away` from both ends."""
    long = panels.width > _LONG * away
    lower, width, kinks, owner, first, last = (each[long] for each in panels)
    end = np.full(lower.size, away)
    parts = (
        Panels(*(each[~long] for each in panels)),
        Panels(lower, end, kinks & 1, owner, first, last),
        Panels(lower + away, width - 2 * away, 0 * kinks, owner, first, last),
        Panels(lower + width - away, end, kinks & 2, owner, first, last),
    )
    return Panels(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def _crossings(
    noise: SphericalLaw, epsilon: np.ndarray, y: np.ndarray, balls: Meeting
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each crossing's own y, after the index of its epsilon and that of the y below it.

    At a crossing, the spheres begin or cease to meet as the radius changes. In small dimensions
    this is where they touch, at a pole. In larger ones they practically never meet near a pole, and
    all that happens is within a few standard deviations of the equator.
    `balls` are those at y, (n, points) and increasing, for epsilon (n,).
    """
    levels = np.array([-1.0, 1.0])
    if noise.dimension > KINKY:
        levels = np.sign(_HEIGHTS) * np.sqrt(-np.expm1(-(_HEIGHTS**2) / (noise.dimension - 1)))
    above = balls.height > levels[:, None, None]
    side, owner, step = np.nonzero(above[..., 1:] != above[..., :-1])
    height, low, high = levels[side], balls.u[owner, step + 1], balls.u[owner, step]
    u = _meeting_at(noise, epsilon[owner], height, low, high)
    log_v = noise.power * (np.log(noise.ratio) - u - _log_distance(u, height))
    at = log_v - np.log(noise.order)
    return owner, step, np.clip(at, y[owner, step], y[owner, step + 1])


def _meeting_at(
    noise: SphericalLaw, epsilon: np.ndarray, height: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Return the u between low and high at which the spheres meet at this height.

    At a height, u alone gives the distance of the centres and hence v, so that
    gap u + v (e^(p u) - 1) = epsilon is an equation in u.
    """
    row = np.arange(height.size)
    for _ in range(_ROUNDS):
        # Many points at a time cost as little as one.
        u = low[:, None] + (high - low)[:, None] * _PARTS
        log_grown = noise.power * (np.log(noise.ratio) - _log_distance(u, height[:, None]))
        excess = noise.gap * u - np.exp(log_grown) * np.expm1(-noise.power * u) - epsilon[:, None]
        changed = (excess > 0) != (excess[:, :1] > 0)
        changed[:, -1] = True
        place = np.argmax(changed, axis=1)
        low, high = u[row, place - 1], u[row, place]
        if (high - low <= _BRACKET * np.minimum(high, 1.0)).all():
            break
    below, above = excess[row, place - 1], excess[row, place]
    return low + (high - low) * np.fmin(np.maximum(below / (below - above), 0.0), 1.0)


def _log_distance(u: np.ndarray, height: np.ndarray) -> np.ndarray:
    """Return the log distance of the centres in units of B', to full accuracy if that is nearly 1.

    The share may then jump from 1 to 0 at the crossing, and its error is that of delta.
    """
    excess = np.expm1(np.minimum(u, FAR))
    return np.log(distance_at(excess, height) / (1 + excess))


def log_ball_density(noise: SphericalLaw, y: np.ndarray) -> np.ndarray:
    """Return the log density of y, of the radius of the ball in which the noise is uniform."""
    weight = noise.gap + noise.radial_shape * np.exp(np.maximum(y, -700.0))
    return _log_density(noise, y) + np.log(weight / noise.dimension)


def log_tail(noise: SphericalLaw, y: np.ndarray, height: np.ndarray) -> np.ndarray:
    """Return the log integrand of P(L > epsilon): the density of y times the share above `height`.

    For a uniform direction, sqrt(M - 1) times the cotangent of its angle to an axis has Student's
    law with M - 1 degrees of freedom.
    """
    z = np.clip(height, -1.0, 1.0)
    freedom = noise.dimension - 1
    beyond = scipy.special.stdtr(freedom, -z * np.sqrt(freedom / (1 - z**2)))
    return np.log(beyond) + _log_density(noise, y)


def _log_density(noise: SphericalLaw, y: np.ndarray) -> np.ndarray:
    k = noise.order
    peak = float(0.5 * np.log(k) - LOG_SQRT_2PI - stirling_remainder(k))
    # Within the window y is so small that e^y - 1 - y, times k, loses no digits that matter.
    return peak - k * (np.expm1(y) - y)


def _log_tail_bound(noise: SphericalLaw, y: np.ndarray, height: np.ndarray) -> np.ndarray:
    """Return a cheap upper bound on `log_tail`, about log M above it at most."""
    top = np.clip(height, 0.0, 1.0)
    return _log_density(noise, y) + 0.5 * (noise.dimension - 1) * np.log1p(-(top**2))


def _window(k: float, points: int) -> np.ndarray:
    """Return points y at nearly equal steps of w = +-sqrt(2 k (e^y - 1 - y)).

    The law of w is nearly the standard normal for large k. At both ends |w| is _WINDOW or more.
    """
    w = np.linspace(-_WINDOW, _WINDOW, points)
    outside = 0.5 * w**2 / k + np.abs(w) / np.sqrt(k)
    return np.where(w > 0, np.log1p(outside), -outside)
