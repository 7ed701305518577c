"""Spherically symmetric noise whose radius follows a generalised gamma distribution."""

from dataclasses import dataclass

import mpmath
import numpy as np
import scipy

from mechanisms.noise.radial_noise import RadialNoise
from mechanisms.privacy.spherical.spherical_profile import SphericalProfile


@dataclass(frozen=True, kw_only=True)
class Spherical(RadialNoise):
    """Noise R v with v uniform on the unit sphere of R^M and (R / scale)^power ~ Gamma(a/power).

    `mechanisms.privacy.spherical.spherical_profile` has the density. The Gaussian is
    (a, power) = (M, 2), the l2 mechanism (M, 1), R1SMG (1, 2).

    Args:
        shape: Axes of the answer; M is their product.
        radial_shape: a, in (0, M].
        power: Positive.
        scale: Positive, in units of the answer.
    """

    radial_shape: float
    power: float

    def log_density(self, radius):
        return (self.radial_shape - self.size) * np.log(radius) - radius**self.power

    def steepness(self, radius):
        return self.size - self.radial_shape + self.power * radius**self.power

    def sample_radius(self, rng, trials):
        return rng.standard_gamma(self.radial_shape / self.power, trials) ** (1 / self.power)

    def log_moments(self):
        a, p = mpmath.mpf(self.radial_shape), mpmath.mpf(self.power)
        return tuple(
            mpmath.loggamma((a + 2 * k) / p) - mpmath.loggamma(a / p) for k in (1, 2, 3, 4)
        )

    def parameters(self):
        return {"b": self.scale, "a": self.radial_shape, "power": self.power}

    def squared_norm_survival(self, threshold):
        radius = np.sqrt(np.asarray(threshold)) / self.scale
        return scipy.special.gammaincc(self.radial_shape / self.power, radius**self.power)

    def _profile(self, sensitivity):
        return SphericalProfile(
            dimension=self.size,
            radial_shape=self.radial_shape,
            power=self.power,
            scale=self.scale,
            sensitivity=sensitivity,
        )
