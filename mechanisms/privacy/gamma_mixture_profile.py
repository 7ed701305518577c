"""Laplace noise whose rate is itself random: the exact profile of one number.

The rate is Gamma(k, theta), so that the noise has the density k theta / 2 (1 + theta |x|)^-(k + 1).
With h = theta D for a shift D, the loss (k + 1) log((1 + theta |x - D|) / (1 + theta |x|)) is
largest at x = 0, falls to both sides, and is above epsilon on one interval around 0. Both
distributions have a closed form there: with w = h + 1 - e^(epsilon / (k + 1)) >= 0

    delta(epsilon) = 1 - (1 + h/2) (1 - w / (2 + h))^(k + 1) + (h/2) (1 - w / h)^(k + 1).

For k to infinity at fixed k theta it is that of Laplace noise of scale 1 / (k theta).
"""

from dataclasses import dataclass, replace

import numpy as np

from mechanisms.privacy.numerics import ULP
from mechanisms.privacy.profile import Bounds, PrivacyProfile, check_count, check_positive


@dataclass(frozen=True, kw_only=True)
class GammaMixtureProfile(PrivacyProfile):
    """Profile of such noise on one number that changes by `sensitivity`.

    Args:
        order: k > 0.
        theta: > 0, the scale of the rate; the noise is in units of 1 / theta.
        sensitivity: D > 0. The loss at one x rises with D on the left of it and delta with D.

    The pair is symmetric: a reflection exchanges P and Q. Bounds are those of rounding.
    """

    order: float
    theta: float
    sensitivity: float

    def __post_init__(self) -> None:
        for name in ("order", "theta", "sensitivity"):
            check_positive(name, getattr(self, name))

    @property
    def largest_loss(self) -> float:
        """(k + 1) log(1 + theta D), at x = 0."""
        return float((self.order + 1) * np.log1p(self._shift))

    def _scaled(self, factor: float) -> PrivacyProfile:
        return replace(self, theta=self.theta / factor)

    def sample_losses(
        self, rng: np.random.Generator, n: int, *, reverse: bool = False
    ) -> np.ndarray:
        # |x| from its distribution function 1 - (1 + theta |x|)^-k, in units of 1 / theta.
        size = np.expm1(rng.standard_exponential(check_count("n", n)) / self.order)
        x = np.where(rng.random(n) < 0.5, size, -size)
        losses = np.log1p(np.abs(x - self._shift)) - np.log1p(np.abs(x))
        return (-1 if reverse else 1) * (self.order + 1) * losses

    @property
    def _shift(self) -> float:
        """h = theta D."""
        return self.theta * self.sensitivity

    def _logs(self, epsilon: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """log(1 - w / (2 + h)) and log(1 - w / h); w = 0 beyond the largest loss."""
        h = self._shift
        w = np.maximum(h - np.expm1(np.minimum(epsilon / (self.order + 1), 700.0)), 0.0)
        with np.errstate(divide="ignore"):
            return np.log1p(-w / (2 + h)), np.log1p(-w / h)

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        right, left = self._logs(epsilon)
        h, power = self._shift, self.order + 1
        gained = -(1 + h / 2) * np.expm1(power * right)
        lost = -(h / 2) * np.expm1(power * left)
        value = np.clip(gained - lost, 0.0, 1.0)
        # w itself is known to an ulp of h or of 1, whichever is larger in its sum.
        error = 8 * ULP * (gained + lost + power * (h + epsilon / power))
        error = np.where(epsilon < self.largest_loss, error, 0.0)
        value = np.where(epsilon < self.largest_loss, value, 0.0)
        with np.errstate(divide="ignore"):
            return Bounds(
                np.log(np.maximum(value - error, 0.0)),
                np.log(value),
                np.minimum(np.log(value + error), 0.0),
            )

    def _survival(self, epsilon: np.ndarray) -> np.ndarray:
        right, left = self._logs(epsilon)
        seen = -(np.expm1(self.order * right) + np.expm1(self.order * left)) / 2
        return np.where(epsilon < self.largest_loss, seen, 0.0)
