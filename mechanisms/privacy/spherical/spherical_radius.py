"""The law of the radius of spherical noise, and the integrands of its privacy profile over it.

v = (r / b)^p is Gamma(k), k = a / p, and for v = k e^y the density of y is exp(-k (e^y - 1 - y)) up
to a constant, near sqrt(k / 2 pi) for large k. This form loses no digits at k = 5e6. The radius of
the ball in which the noise is uniform (see `spherical_balls`) has this density times
(M - a + p v) / M.
"""

import numpy as np
import scipy

from mechanisms.privacy.numerics import LOG_SQRT_2PI, stirling_remainder
from mechanisms.privacy.spherical.spherical_balls import SphericalLaw

# Half-width of the window of radii in standard deviations: outside is less mass than e^-700.
_WINDOW = 38.0


def log_tail_bound(noise: SphericalLaw, y: np.ndarray, height: np.ndarray) -> np.ndarray:
    """A cheap upper bound of `log_tail`, about log M above it at most."""
    top = np.minimum(np.maximum(height, 0.0), 1.0)
    return _log_density(noise, y) + 0.5 * (noise.dimension - 1) * np.log1p(-(top**2))


def log_ball_density(noise: SphericalLaw, y: np.ndarray) -> np.ndarray:
    """log of the density of y, of the radius of the ball in which the noise is uniform."""
    weight = noise.gap + noise.radial_shape * np.exp(np.maximum(y, -700.0))
    return _log_density(noise, y) + np.log(weight / noise.dimension)


def log_tail(noise: SphericalLaw, y: np.ndarray, height: np.ndarray) -> np.ndarray:
    """log of the integrand of P(L > epsilon): the share of the sphere of radius r above height.

    For a uniform direction, sqrt(M - 1) times the cotangent of its angle to an axis has Student's
    law with M - 1 degrees of freedom.
    """
    z = np.minimum(np.maximum(height, -1.0), 1.0)
    freedom = noise.dimension - 1
    beyond = scipy.special.stdtr(freedom, -z * np.sqrt(freedom / (1 - z**2)))
    return np.log(beyond) + _log_density(noise, y)


def _log_density(noise: SphericalLaw, y: np.ndarray) -> np.ndarray:
    k = noise.order
    peak = float(0.5 * np.log(k) - LOG_SQRT_2PI - stirling_remainder(k))
    # Within the window y is so small that e^y - 1 - y, times k, loses no digits that matter.
    return peak - k * (np.expm1(y) - y)


def window(k: float, points: int) -> np.ndarray:
    """Points y at nearly equal steps of w = +-sqrt(2 k (e^y - 1 - y)), in which the law of y is
    nearly the standard normal for large k; at both ends |w| is _WINDOW or more."""
    w = np.linspace(-_WINDOW, _WINDOW, points)
    outside = 0.5 * w**2 / k + np.abs(w) / np.sqrt(k)
    return np.where(w > 0, np.log1p(outside), -outside)
