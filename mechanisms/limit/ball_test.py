"""Searches for the best event of one ball, <y, e> < offset - bend |y|^2, for noise y."""

import math
from dataclasses import replace

import numpy as np
import scipy

from mechanisms.limit.threshold_test import ThresholdTest

_SEARCHES = 60
# Gaps grow by at most this share of a step of the radii, so that K increases.
_STEEPEST = 1 - 1e-6
# Gaps start to fall to 0 at this multiple of the radius of the noise.
FALLING = 1.2
# The weights that are tried, as multiples of the weight that Gaussian noise suggests.
_WEIGHTS = np.geomspace(1e-3, 3.0, 41)[:, None]


def gaussian_scale(epsilon: float, delta: float) -> float:
    """Return the standard deviation of the analytic Gaussian at sensitivity 1, within 1e-8.

    It is 1 / `mu_for`, and the scale of the searches. The last digits of the committed certificates
    depend on it.
    """

    def excess(log_scale: float) -> float:
        scale = math.exp(log_scale)
        first = scipy.special.log_ndtr(0.5 / scale - epsilon * scale)
        second = epsilon + scipy.special.log_ndtr(-0.5 / scale - epsilon * scale)
        share = -math.expm1(min(second - first, -1e-300))
        return first + math.log(max(share, 1e-300)) - math.log(delta)

    return math.exp(scipy.optimize.brentq(excess, -25.0, 60.0))


def gaussian_weight(epsilon: float, delta: float, dimension: int) -> float:
    """Return -dV/d delta, the price of delta, of analytic Gaussian noise with E||n||^2 = V."""
    step = min(1e-3, (1 - delta) / 2)
    near, far = (gaussian_scale(epsilon, d) for d in (delta, delta * (1 + step)))
    return dimension * (near**2 - far**2) / (step * delta)


def bulk(dimension: int, scale: float) -> tuple[float, float]:
    """Return two radii between which Gaussian noise almost always lies; the first may be < 0."""
    middle, width = scale * math.sqrt(dimension), 7.5 * scale
    return middle - width, middle + width


def radii_around(dimension: int, scale: float, count: int) -> np.ndarray:
    """Return nodes, dense at the radii of Gaussian noise of this scale and sparse elsewhere."""
    low, high = bulk(dimension, scale)
    if low > 0:
        below = np.geomspace(min(0.02, low / 100), 0.6 * low, count // 6)
        below = np.append(below, low * np.geomspace(0.6, 1.0, 8)[1:-1])
        above = np.linspace(high, 2 * high - low / 2, count // 6)[1:]
        return np.concatenate([[0.0], below, np.linspace(low, high, count), above])
    even = np.linspace(0.0, high, count)
    near = np.linspace(0.0, min(4.0, high), count // 4)
    nodes = np.unique(np.concatenate([even, near, even[1] * np.geomspace(0.01, 1.0, 10)]))
    # Of nodes that differ only by rounding, one is kept.
    return nodes[np.diff(nodes, prepend=-1.0) > 1e-9 * nodes]


def ball_gaps(radii: np.ndarray, offset: float, bend: float) -> np.ndarray:
    """Return the gaps k = 1 + r - K of the event <y, e> < offset - bend |y|^2 at radii r.

    The threshold of `ThresholdTest` is K, with K^2 = (1 + 2 bend) r^2 + 1 - 2 offset.
    """
    squared = (1 + 2 * bend) * radii**2 + 1 - 2 * offset
    # (1 + r) - K, without cancellation.
    outer = np.sqrt(np.maximum(squared, 0.0))
    return (2 * radii + 2 * offset - 2 * bend * radii**2) / (1 + radii + outer)


def admissible(radii: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    """Lower gaps to what `ThresholdTest` allows: they are 0 at both ends, and K increases."""
    gaps = np.clip(gaps, 0.0, 2.0)
    gaps[[0, -1]] = 0.0
    steepest = np.minimum.accumulate(gaps - _STEEPEST * radii) + _STEEPEST * radii
    # A gap that is too steep by rounding alone is allowed.
    return np.where(steepest < gaps - 1e-13 * radii, steepest, gaps)


def gap_of(height: np.ndarray, r: np.ndarray) -> np.ndarray:
    """Return the gap at radius r at which P is the probability of a cap of this height."""
    return 2 * r * height / (1 + r + np.sqrt((1 + r) ** 2 - 2 * r * height))


def shaped(radii: np.ndarray, gaps: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return admissible gaps: 1 - (1 - k(low)) sqrt(r / low) below `low`, falling beyond `high`.

    At small radii P grows less than for a ball, and P - e^epsilon Q comes closer to P. At large
    radii r^2 is enough.
    """
    at = int(np.searchsorted(radii, low))
    gaps = np.where(radii < low, 1 - (1 - gaps[at]) * np.sqrt(radii / radii[max(at, 1)]), gaps)
    falling = np.clip((radii[-1] - radii) / (radii[-1] - high), 0.0, 1.0)
    return admissible(radii, gaps * falling)


def ball_test(dimension: int, epsilon: float, delta: float, nodes: int = 160) -> ThresholdTest:
    """Search over offset and bend for the best test of one ball, at sensitivity 1."""
    scale = gaussian_scale(epsilon, delta)
    radii = radii_around(dimension, scale, nodes)
    weights = gaussian_weight(epsilon, delta, dimension) * _WEIGHTS
    low, high = bulk(dimension, scale)[0], FALLING * scale * math.sqrt(dimension)

    def of(logarithms: np.ndarray) -> tuple[float, ThresholdTest]:
        gaps = shaped(radii, ball_gaps(radii, *np.exp(logarithms)), low, high)
        test = ThresholdTest(
            dimension=dimension, epsilon=epsilon, radii=radii, gaps=gaps, weight=1.0
        )
        points = test.points()
        gain = test.values(points) - points**2
        bounds = (points**2 + weights * gain).min(axis=1) - delta * weights[:, 0]
        best = int(bounds.argmax())
        return float(bounds[best]), replace(test, weight=float(weights[best, 0]))

    found = [
        scipy.optimize.minimize(
            lambda x: -of(x)[0],
            np.log([0.5, bend]),
            method="Nelder-Mead",
            options={"maxfev": _SEARCHES},
        )
        for bend in (epsilon / dimension, 0.3 * epsilon / dimension)
    ]
    return of(min(found, key=lambda result: result.fun).x)[1]
