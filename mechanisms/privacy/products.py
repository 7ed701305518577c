"""Laplace noise: on an l1 ball, and independently on every component."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mechanisms.privacy.composition import ComposedProfile
from mechanisms.privacy.numerics import ULP, log1mexp
from mechanisms.privacy.profile import (
    Bounds,
    PrivacyProfile,
    check_count,
    check_positive,
    check_target,
)


@dataclass(frozen=True, kw_only=True)
class LaplaceProfile(PrivacyProfile):
    """Profile of independent Laplace noise of scale b on an answer of l1 sensitivity Delta1.

    With tau = Delta1 / b: delta(epsilon) = 1 - e^((epsilon - tau) / 2) below tau, 0 from there on.
    """

    l1_sensitivity: float
    scale: float

    def __post_init__(self) -> None:
        check_positive("l1_sensitivity", self.l1_sensitivity)
        check_positive("scale", self.scale)

    @property
    def largest_loss(self) -> float:
        """tau = Delta1 / b, the epsilon of the pure guarantee."""
        return self.l1_sensitivity / self.scale

    def compose(self, times: int) -> PrivacyProfile:
        if check_count("times", times) == 1:
            return self
        return ComposedProfile(base=self, times=times)

    def scaled(self, factor: float) -> LaplaceProfile:
        return replace(self, scale=self.scale * factor)

    def scale_factor(self, epsilon: float, delta: float) -> float:
        """tau is inversely proportional to b, and tau = epsilon - 2 ln(1 - delta) is wanted."""
        check_target(epsilon, delta)
        return float(self.largest_loss / (epsilon - 2 * np.log1p(-delta)))

    def sample_losses(
        self, rng: np.random.Generator, n: int, *, reverse: bool = False
    ) -> np.ndarray:
        tau = self.largest_loss
        noise = rng.laplace(size=check_count("n", n))
        losses = np.abs(noise - tau) - np.abs(noise)
        return -losses if reverse else losses

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        gap = epsilon - self.largest_loss
        error = 4 * ULP * (epsilon + self.largest_loss)
        below, value, above = (
            log1mexp(np.minimum(gap + shift, 0.0) / 2) for shift in (error, 0.0, -error)
        )
        return Bounds(below, value, above)

    def _survival(self, epsilon: np.ndarray) -> np.ndarray:
        gap = epsilon - self.largest_loss
        return np.where(gap < 0, 1 - 0.5 * np.exp(np.minimum(gap, 0.0) / 2), 0.0)

    def _epsilon(self, delta: np.ndarray) -> Bounds:
        with np.errstate(divide="ignore"):
            value = np.maximum(self.largest_loss + 2 * np.log1p(-delta), 0.0)
        error = 4 * ULP * self.largest_loss
        return Bounds(np.maximum(value - error, 0.0), value, value + error)
