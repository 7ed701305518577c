"""Bounds of the profile of many Gaussian releases on Poisson samples of the records."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.profile import Bounds
from mechanisms.privacy.sampling.gaussian_samples import GaussianSamples
from mechanisms.privacy.sampling.poisson_sampling import SampledRun


@dataclass(frozen=True, kw_only=True)
class SampledGaussianProfile(GaussianSamples):
    """`steps` Gaussian releases, each on a secret Poisson sample, one record added or removed.

    Bounds are those of `SampledRun`; the upper one is reported as the value. Losses cannot be
    drawn.
    """

    def scale_factor(self, epsilon: float, delta: float) -> float:
        """That of `SampledRun`: within 1e-3, on the private side."""
        return self._run.scale_factor(epsilon, delta)

    @cached_property
    def _run(self) -> SampledRun:
        return SampledRun(step=GaussianProfile(mu=self.mu), rate=self.rate, steps=self.steps)

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        bounds = self._run.log_bounds(epsilon.ravel())
        lower, upper = (each.reshape(epsilon.shape) for each in bounds)
        return Bounds(lower, upper, upper)
