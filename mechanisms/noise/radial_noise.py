"""Spherically symmetric noise of any density that falls with the radius, with its exact privacy."""

from abc import abstractmethod
from dataclasses import dataclass

import mpmath
import numpy as np

from mechanisms.noise.distribution import (
    GRAM_SLACK,
    Noise,
    attained_reach,
    checked_dtype,
    uncorrelated_variance,
)
from mechanisms.noise.loss_moments import LossMoments
from mechanisms.privacy.bounded_profile import enclosed
from mechanisms.privacy.profile import PrivacyProfile
from mechanisms.privacy.spherical.radial_profile import RadialDensity, RadialProfile


@dataclass(frozen=True, kw_only=True)
class RadialNoise(Noise, RadialDensity):
    """Noise of density f(||x|| / scale), up to a constant factor.

    A subclass is a frozen dataclass that defines f, its derivative, a sampler of the radius (see
    `RadialDensity`) and the moments of the radius, all at scale 1. f must never rise with the
    radius; the profile checks it.

    shape: Axes of the answer; M >= 2 is their product. scale: Positive, in units of the answer.
    """

    shape: tuple[int, ...]
    scale: float

    @abstractmethod
    def log_moments(self) -> tuple:
        """log E radius^(2 k) for k = 1 to 4, as mpmath numbers; only the last may be inf.

        It is called at a precision of 60 digits.
        """

    def sample(self, rng, trials, dtype=np.float64):
        dtype = checked_dtype(dtype)
        draws = rng.standard_normal((trials, self.size), dtype)
        radius = self.scale * self.sample_radius(rng, trials)
        draws *= (radius / np.sqrt(np.vecdot(draws, draws)))[:, None].astype(dtype)
        return draws.reshape(trials, *self.shape)

    def loss(self):
        with mpmath.workdps(60):
            log_scale = mpmath.log(self.scale)
            log_raw = (log + 2 * k * log_scale for k, log in enumerate(self.log_moments(), 1))
            return LossMoments.of_radius(tuple(log_raw))

    def parameters(self):
        return {"scale": self.scale}

    def profile(self, query):
        above, below = map(self._profile, (query.reach, attained_reach(query)))
        return enclosed(above, below, GRAM_SLACK)

    def _profile(self, sensitivity: float) -> PrivacyProfile:
        """The profile of a change of this l2 norm."""
        return RadialProfile(
            dimension=self.size, density=self, scale=self.scale, sensitivity=sensitivity
        )

    def workload_variance(self, factors):
        # All directions are alike: the covariance is a multiple of the identity.
        return uncorrelated_variance(self, factors)
