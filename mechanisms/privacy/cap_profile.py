"""The profile of an output that falls into one of two disjoint regions or into neither."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanisms.privacy.numerics import ULP, log1mexp
from mechanisms.privacy.profile import (
    Bounds,
    PrivacyProfile,
    check_count,
    check_positive,
)


@dataclass(frozen=True, kw_only=True)
class CapProfile(PrivacyProfile):
    """Loss +epsilon with probability `mass` under P, -epsilon with mass e^-epsilon, 0 otherwise.

    So delta(e) = mass (1 - e^(e - epsilon)) below epsilon, and 0 from there on; the pair is
    symmetric. Bounds: rounding only.

    Args:
        largest: epsilon, finite and > 0.
        mass: In (0, 1 / (1 + e^-epsilon)]; at the right end it is randomised response.
    """

    largest: float
    mass: float

    def __post_init__(self) -> None:
        check_positive("largest", self.largest)
        check_positive("mass", self.mass)
        if self.mass * (1 + np.exp(-self.largest)) > 1 + 16 * ULP:
            raise ValueError(f"mass must be at most 1 / (1 + e^-largest), got {self.mass}")

    @property
    def largest_loss(self) -> float:
        return self.largest

    def _scaled(self, factor: float) -> PrivacyProfile:
        """There is no noise to rescale: ValueError."""
        raise ValueError("a randomiser of directions adds no noise that could be rescaled")

    def scale_factor(self, epsilon: float, delta: float) -> float:
        """ValueError, as in `scaled`."""
        return self.scaled(1.0)

    def sample_losses(
        self, rng: np.random.Generator, n: int, *, reverse: bool = False
    ) -> np.ndarray:
        """Losses +-epsilon and 0."""
        uniform = rng.random(check_count("n", n))
        other = self.mass * np.exp(-self.largest)
        signs = np.where(uniform < self.mass, 1.0, np.where(uniform > 1 - other, -1.0, 0.0))
        return (-signs if reverse else signs) * self.largest

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        gap = epsilon - self.largest
        error = 4 * ULP * (epsilon + self.largest)
        below, value, above = (
            np.log(self.mass) + log1mexp(np.minimum(gap + shift, 0.0))
            for shift in (error, 0.0, -error)
        )
        inside = gap < 0
        upper = np.where(inside, above + 4 * ULP, -np.inf)
        return Bounds(below - 4 * ULP, value, np.minimum(upper, 0.0))

    def _survival(self, epsilon: np.ndarray) -> np.ndarray:
        return np.where(epsilon < self.largest, self.mass, 0.0)

    def _epsilon(self, delta: np.ndarray) -> Bounds:
        with np.errstate(divide="ignore"):
            value = np.maximum(self.largest + np.log1p(-np.minimum(delta / self.mass, 1.0)), 0.0)
        error = np.where(value > 0, 8 * ULP * (1 + self.largest), 0.0)
        upper = np.minimum(value + error, self.largest)
        return Bounds(np.maximum(value - error, 0.0), value, upper)
