"""Spherically symmetric noise with its privacy profile: any falling density, and gamma laws."""

import math
from abc import abstractmethod
from dataclasses import dataclass

import mpmath
import numpy as np
import scipy

from mechanisms.noise.distribution import (
    GRAM_SLACK,
    Noise,
    attained_reach,
    uncorrelated_variance,
)
from mechanisms.noise.loss_moments import LossMoments
from mechanisms.privacy.bounded_profile import enclosed
from mechanisms.privacy.profile import PrivacyProfile
from mechanisms.privacy.spherical.radial_profile import RadialDensity, RadialProfile
from mechanisms.privacy.spherical.spherical_profile import SphericalProfile

# Difference of the logarithms of a stated and a computed expected squared norm that rounding
# explains, up to a million elements.
_MEAN_TOLERANCE = 1e-5


@dataclass(frozen=True, kw_only=True)
class RadialNoise(Noise, RadialDensity):
    """Noise of density f(||x|| / scale), up to a constant factor.

    A subclass is a frozen dataclass that defines f, its derivative, a sampler of the radius (see
    `RadialDensity`) and the moments of the radius, all at scale 1. f must never rise with the
    radius, which the profile checks.

    shape: Axes of the answer; M >= 2 is their product. scale: Positive, in units of the answer.
    """

    shape: tuple[int, ...]
    scale: float

    @abstractmethod
    def log_moments(self) -> tuple:
        """Return log E radius^(2 k) for k = 1 to 4, as mpmath numbers, inf where it is infinite.

        The first must be finite. The caller sets a precision of 60 digits.
        """

    def sample(self, rng, trials, dtype=np.float64):
        draws = rng.standard_normal((trials, self.size), dtype)
        radius = self.scale * self.sample_radius(rng, trials)
        draws *= (radius / np.sqrt(np.vecdot(draws, draws)))[:, None].astype(dtype)
        return draws.reshape(trials, *self.shape)

    def loss(self):
        with mpmath.workdps(60):
            log_scale = mpmath.log(self.scale)
            log_raw = [log + 2 * k * log_scale for k, log in enumerate(self.log_moments(), 1)]
            infinite = list(map(mpmath.isinf, log_raw))
            # A cumulant follows from the moments up to its order, and is infinite with the last.
            raw = np.where(infinite, 0, list(map(mpmath.exp, log_raw)))
            cumulants = LossMoments.of_sum(tuple(raw)).cumulants
        return LossMoments(tuple(np.where(infinite, math.inf, cumulants).tolist()))

    def parameters(self):
        return {"scale": self.scale}

    def profile(self, query):
        above, below = map(self._profile, (query.reach, attained_reach(query)))
        return enclosed(above, below, GRAM_SLACK)

    def _profile(self, sensitivity: float) -> PrivacyProfile:
        """Return the profile of a change of this l2 norm.

        Raises:
            ValueError: `log_moments` does not follow from `log_density`.
        """
        profile = RadialProfile(
            dimension=self.size, density=self, scale=self.scale, sensitivity=sensitivity
        )
        stated, found = math.log(self.loss().mean), profile.log_mean_square()
        if abs(stated - found) > _MEAN_TOLERANCE:
            raise ValueError(
                f"log_moments states an expected squared norm of {math.exp(stated):.6g}, and "
                f"log_density gives {math.exp(found):.6g}: correct one of them"
            )
        return profile

    def squared_norm_survival(self, threshold):
        return self._profile(1.0).survival(np.sqrt(threshold))

    def workload_variance(self, factors):
        # All directions are alike: the covariance is a multiple of the identity.
        return uncorrelated_variance(self, factors)


@dataclass(frozen=True, kw_only=True)
class Spherical(RadialNoise):
    """Noise R v with v uniform on the unit sphere of R^M and (R / scale)^power ~ Gamma(a / power).

    `mechanisms.privacy.spherical.spherical_profile` states the density. The Gaussian has
    (a, power) = (M, 2), the l2 mechanism (M, 1) and R1SMG (1, 2).

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
        radius = np.sqrt(threshold) / self.scale
        return scipy.special.gammaincc(self.radial_shape / self.power, radius**self.power)

    def _profile(self, sensitivity):
        return SphericalProfile(
            dimension=self.size,
            radial_shape=self.radial_shape,
            power=self.power,
            scale=self.scale,
            sensitivity=sensitivity,
        )
