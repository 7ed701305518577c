"""The largest delta of several profiles: a record that may be in one of several places."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from mechanisms.privacy.profile import Bounds, PrivacyProfile


@dataclass(frozen=True, kw_only=True)
class WorstProfile(PrivacyProfile):
    """The largest of one profile or more at every epsilon. Losses cannot be drawn."""

    profiles: tuple[PrivacyProfile, ...]

    calibrated_curve = "upper"
    attains_largest_loss = False  # not known

    @property
    def largest_loss(self) -> float:
        return max(each.largest_loss for each in self.profiles)

    @property
    def stated(self) -> tuple[float, Fraction]:
        epsilons, deltas = zip(*(each.stated for each in self.profiles), strict=True)
        return max(epsilons), max(deltas)

    def compose(self, times: int) -> PrivacyProfile:
        """The same place in every release."""
        return replace(self, profiles=tuple(each.compose(times) for each in self.profiles))

    def _scaled(self, factor: float) -> PrivacyProfile:
        return replace(self, profiles=tuple(each.scaled(factor) for each in self.profiles))

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        return Bounds(*np.max([each.log_delta(epsilon) for each in self.profiles], axis=0))

    def _epsilon(self, delta: np.ndarray) -> Bounds:
        return Bounds(*np.max([each.epsilon(delta) for each in self.profiles], axis=0))
