"""The profile that a pure guarantee alone implies: that of randomised response."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy

from mechanisms.privacy.numerics import ULP, log1mexp
from mechanisms.privacy.profile import (
    Bounds,
    PrivacyProfile,
    check_count,
    check_positive,
    check_target,
)


@dataclass(frozen=True, kw_only=True)
class PureProfile(PrivacyProfile):
    """An upper bound for any epsilon-DP release, epsilon = `largest`.

    Any epsilon-DP pair is one post-processing of the two output distributions of randomised
    response, whose loss is +epsilon with probability p = 1 / (1 + e^-epsilon) and -epsilon
    otherwise (Kairouz, Oh and Viswanath 2015, Theorem 2.5). Hence

        delta(e) <= (e^epsilon - e^e) / (e^epsilon + 1)   for e < epsilon, and 0 from there on,

    and `times` independent releases are bounded by as many answers, whose composed loss is
    (2 K - times) epsilon with K binomial (their Theorem 3.3). That bound is reported as value and
    upper bound (with an allowance for rounding); the lower bound is 0, as the release may reveal
    less. Sampled losses are those of randomised response.

    Args:
        largest: epsilon of one release, finite and > 0.
        times: Independent releases, >= 1.
    """

    largest: float
    times: int = 1

    def __post_init__(self) -> None:
        check_positive("largest", self.largest)
        check_count("times", self.times)

    @property
    def largest_loss(self) -> float:
        """`times` epsilon."""
        return self.times * self.largest

    @property
    def attains_largest_loss(self) -> bool:
        """No: epsilon is only claimed."""
        return False

    def compose(self, times: int) -> PureProfile:
        return replace(self, times=self.times * check_count("times", times))

    def _scaled(self, factor: float) -> PureProfile:
        """For noise whose epsilon is inversely proportional to its scale."""
        return replace(self, largest=self.largest / factor)

    def scale_factor(self, epsilon: float, delta: float) -> float:
        """One release: largest must become log((e^epsilon + delta) / (1 - delta))."""
        check_target(epsilon, delta)
        if delta == 0:
            return self.largest_loss / epsilon
        if self.times > 1:
            return super().scale_factor(epsilon, delta)
        wanted = epsilon + np.log1p(delta * np.exp(-epsilon)) - np.log1p(-delta)
        return float(self.largest / wanted)

    def sample_losses(
        self, rng: np.random.Generator, n: int, *, reverse: bool = False
    ) -> np.ndarray:
        """Losses (2 K - times) epsilon of randomised response, K binomial."""
        truth = scipy.special.expit(-self.largest if reverse else self.largest)
        answers = rng.binomial(self.times, truth, check_count("n", n))
        return (2.0 * answers - self.times) * self.largest

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        # Rounding moves a loss against epsilon, and the logarithm of every mass.
        near = np.maximum(epsilon - 4 * ULP * (epsilon + self.largest_loss), 0.0)
        error = ULP * (16 + 4 * (scipy.special.gammaln(self.times + 1) + self.largest_loss))
        upper = np.minimum(self._log_of_randomised_response(near) + error, 0.0)
        nothing = np.full(epsilon.shape, -np.inf)
        value = np.minimum(self._log_of_randomised_response(epsilon), upper)
        private = epsilon >= self.largest_loss
        return Bounds(nothing, np.where(private, nothing, value), np.where(private, nothing, upper))

    def _log_of_randomised_response(self, epsilon: np.ndarray) -> np.ndarray:
        """log sum_k P(K = k) (1 - e^(epsilon - loss_k))_+."""
        count, log_truth = self.times, -np.log1p(np.exp(-self.largest))
        k = np.arange(count // 2 + 1, count + 1)
        log_choices = -np.log(count + 1.0) - scipy.special.betaln(k + 1.0, count - k + 1.0)
        log_masses = log_choices + count * log_truth - (count - k) * self.largest
        gap = np.minimum(epsilon[..., None] - (2.0 * k - count) * self.largest, 0.0)
        terms = log_masses + log1mexp(gap)
        return np.logaddexp.reduce(terms, axis=-1)

    def _epsilon(self, delta: np.ndarray) -> Bounds:
        if self.times == 1:
            # p (1 - e^(e - epsilon)) = delta
            share = np.minimum(delta * (1 + np.exp(-self.largest)), 1.0)
            with np.errstate(divide="ignore"):
                value = np.maximum(self.largest + np.log1p(-share), 0.0)
            upper = np.minimum(value + 8 * ULP * self.largest, self.largest)
            upper = np.where(value > 0, upper, 0.0)
        else:
            searched = super()._epsilon(delta)
            value, upper = searched.value, searched.upper
        return Bounds(np.zeros(delta.shape), value, np.maximum(upper, value))
