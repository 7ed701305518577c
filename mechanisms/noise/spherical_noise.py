"""Spherically symmetric noise whose radius follows a generalised gamma distribution."""

from dataclasses import dataclass, replace

import mpmath
import numpy as np
import scipy

from mechanisms.noise.distribution import (
    GRAM_SLACK,
    Noise,
    attained_reach,
    checked_dtype,
    uncorrelated_variance,
)
from mechanisms.noise.loss_moments import LossMoments
from mechanisms.privacy.bounded_profile import enclosed
from mechanisms.privacy.spherical.spherical_profile import SphericalProfile


@dataclass(frozen=True, kw_only=True)
class Spherical(Noise):
    """Noise R v with v uniform on the unit sphere of R^M and (R / scale)^power ~ Gamma(a/power).

    `mechanisms.privacy.spherical.spherical_profile` has the density. The Gaussian is
    (a, power) = (M, 2), the l2 mechanism (M, 1), R1SMG (1, 2).

    Args:
        shape: Axes of the answer; M is their product.
        radial_shape: a, in (0, M].
        power: Positive.
        scale: Positive, in units of the answer.
    """

    shape: tuple[int, ...]
    radial_shape: float
    power: float
    scale: float

    def sample(self, rng, trials, dtype=np.float64):
        dtype = checked_dtype(dtype)
        draws = rng.standard_normal((trials, self.size), dtype)
        radius = rng.standard_gamma(self.radial_shape / self.power, trials) ** (1 / self.power)
        draws *= (self.scale * radius / np.sqrt(np.vecdot(draws, draws)))[:, None].astype(dtype)
        return draws.reshape(trials, *self.shape)

    def loss(self):
        with mpmath.workdps(60):
            a, p, b = (mpmath.mpf(v) for v in (self.radial_shape, self.power, self.scale))
            log_raw = tuple(
                2 * k * mpmath.log(b) + mpmath.loggamma((a + 2 * k) / p) - mpmath.loggamma(a / p)
                for k in (1, 2, 3, 4)
            )
        return LossMoments.of_radius(log_raw)

    def _scaled(self, factor):
        return replace(self, scale=self.scale * factor)

    def parameters(self):
        return {"b": self.scale, "a": self.radial_shape, "power": self.power}

    def profile(self, query):
        above = SphericalProfile(
            dimension=query.size,
            radial_shape=self.radial_shape,
            power=self.power,
            scale=self.scale,
            sensitivity=query.reach,
        )
        return enclosed(above, replace(above, sensitivity=attained_reach(query)), GRAM_SLACK)

    def squared_norm_survival(self, threshold):
        radius = np.sqrt(np.asarray(threshold)) / self.scale
        return scipy.special.gammaincc(self.radial_shape / self.power, radius**self.power)

    def workload_variance(self, factors):
        # All directions are alike: the covariance is E R^2 / M times the identity.
        return uncorrelated_variance(self, factors)
