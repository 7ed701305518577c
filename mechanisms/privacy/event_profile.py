"""What one event proves: a lower bound on a profile about which nothing else is known."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mechanisms.privacy.numerics import ULP, log1mexp
from mechanisms.privacy.profile import Bounds, PrivacyProfile, check_count


@dataclass(frozen=True, kw_only=True)
class EventProfile(PrivacyProfile):
    """A lower bound from an event of probability p for one input and q < p for its neighbour.

    delta(epsilon) >= p - e^epsilon q, and epsilon(0) >= log(p / q). These bounds are reported as
    values and lower bounds, with an allowance for rounding; the upper ones are 1 and inf. Sampled
    losses are those of an observer who sees nothing but whether the event happened.

    Args:
        log_p, log_q: Logarithms of the two probabilities, log_q < log_p <= 0; both may underflow.
    """

    log_p: float
    log_q: float

    def __post_init__(self) -> None:
        if not -np.inf < self.log_q < self.log_p <= 0:
            raise ValueError(
                f"log_q < log_p <= 0 must be finite logarithms of probabilities, got "
                f"log_p {self.log_p} and log_q {self.log_q}"
            )

    @property
    def attains_largest_loss(self) -> bool:
        """No: the largest loss is not known."""
        return False

    def compose(self, times: int) -> EventProfile:
        """The event in each of the releases."""
        check_count("times", times)
        return replace(self, log_p=times * self.log_p, log_q=times * self.log_q)

    def _scaled(self, factor: float) -> EventProfile:
        """Raises ValueError: the event says nothing about other noise."""
        raise ValueError("a lower bound from one event does not say what more noise would do")

    def sample_losses(
        self, rng: np.random.Generator, n: int, *, reverse: bool = False
    ) -> np.ndarray:
        """log p / q where the event happens, log (1 - p) / (1 - q) where it does not."""
        happened = rng.random(check_count("n", n)) < np.exp(self.log_q if reverse else self.log_p)
        missed = log1mexp(np.array(self.log_p)) - log1mexp(np.array(self.log_q))
        return np.where(happened, self.log_p - self.log_q, missed)

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        gap = np.minimum(epsilon - self._certain_loss, 0.0)
        lower = self.log_p - self._rounding + log1mexp(gap)
        return Bounds(lower, lower, np.zeros(epsilon.shape))

    def _epsilon(self, delta: np.ndarray) -> Bounds:
        with np.errstate(divide="ignore"):
            share = np.minimum(np.log(delta) - self.log_p + self._rounding, 0.0)
        lower = np.maximum(self._certain_loss + log1mexp(share), 0.0)
        return Bounds(lower, lower, np.full(delta.shape, np.inf))

    @property
    def _rounding(self) -> float:
        """Of the logarithms, which are sums of many terms."""
        return 64 * ULP * (1 - self.log_q)

    @property
    def _certain_loss(self) -> float:
        return self.log_p - self.log_q - 2 * self._rounding
