"""The profile of a release that is computed from measurements with a known profile."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanisms.profiles.profile import Bounds, PrivacyProfile


@dataclass(frozen=True, kw_only=True)
class PostProcessedProfile(PrivacyProfile):
    """An upper bound: the release is a function of measurements whose profile is known.

    By post-processing its delta is at most that of `measured` at every epsilon, which is reported
    as the value; the lower bound is 0. Sampled losses are those of the measurements.
    """

    measured: PrivacyProfile

    @property
    def largest_loss(self) -> float:
        return self.measured.largest_loss

    def compose(self, times: int) -> PostProcessedProfile:
        return PostProcessedProfile(measured=self.measured.compose(times))

    def scaled(self, factor: float) -> PostProcessedProfile:
        return PostProcessedProfile(measured=self.measured.scaled(factor))

    def scale_factor(self, epsilon: float, delta: float) -> float:
        return self.measured.scale_factor(epsilon, delta)

    def sample_losses(self, rng, n, *, reverse=False):
        return self.measured.sample_losses(rng, n, reverse=reverse)

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        bounds = self.measured._log_delta(epsilon)
        return Bounds(np.full(epsilon.shape, -np.inf), bounds.value, bounds.upper)

    def _survival(self, epsilon: np.ndarray) -> np.ndarray:
        return self.measured._survival(epsilon)

    def _epsilon(self, delta: np.ndarray) -> Bounds:
        bounds = self.measured._epsilon(delta)
        return Bounds(np.zeros(delta.shape), bounds.value, bounds.upper)
