"""Gaussian releases on random samples whose membership is public."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import scipy

from mechanisms.privacy.gaussian_profile import log_delta_and_error
from mechanisms.privacy.numerics import ULP
from mechanisms.privacy.profile import Bounds, PrivacyProfile, check_count, check_positive

# Counts less likely than e^-700 are counted together: smaller deltas are not resolved.
_UNLIKELY = 700.0


@dataclass(frozen=True, kw_only=True)
class KnownSamplesProfile(PrivacyProfile):
    """`steps` Gaussian releases, each of which publicly includes the record or not.

    An observer who knows the samples sees K releases on the record, K binomial, hence

        delta(epsilon) = sum_k P(K = k) delta_{mu sqrt(k)}(epsilon).

    Secret samples reveal no more (post-processing), so that this bounds `SampledRun` from above
    and is tight if an observer recognises a sampled record anyway. It holds for any fixed adjacency
    under which one release on a sample with the record has mu, and under which neighbouring data
    sets give the same answer on a sample without it.

    Args:
        mu: Mahalanobis distance of one release on a sample with the record, > 0.
        rate: Sampling probability, in (0, 1].
        steps: At least 1.

    Raises:
        TypeError, ValueError: A number is out of range.
    """

    mu: float
    rate: float
    steps: int

    calibrated_curve = "upper"
    floor = 1e-290

    def __post_init__(self) -> None:
        check_positive("mu", self.mu)
        check_positive("rate", self.rate)
        if self.rate > 1:
            raise ValueError(f"rate must be in (0, 1], got {self.rate}")
        check_count("steps", self.steps)

    def compose(self, times: int) -> Self:
        return replace(self, steps=self.steps * check_count("times", times))

    def _scaled(self, factor: float) -> Self:
        return replace(self, mu=self.mu / factor)

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        k = np.arange(1, self.steps + 1)
        log_mass = (
            -np.log(self.steps + 1.0)
            - scipy.special.betaln(k + 1.0, self.steps - k + 1.0)
            + scipy.special.xlogy(k, self.rate)
            + scipy.special.xlog1py(self.steps - k, -self.rate)
        )
        likely = log_mass > -_UNLIKELY
        # The logarithms of gamma functions cancel; the other counts are in the upper bound alone.
        rounding = 1e-12 + 8 * ULP * scipy.special.gammaln(self.steps + 2.0)
        with np.errstate(divide="ignore"):
            others = np.log((~likely).sum()) - _UNLIKELY
        mu = np.broadcast_to(self.mu * np.sqrt(k[likely]), (*epsilon.shape, likely.sum()))
        at = np.broadcast_to(epsilon[..., None], mu.shape)
        value, error = log_delta_and_error(at.ravel(), mu.ravel())
        value, error = value.reshape(mu.shape), error.reshape(mu.shape) + rounding
        terms = (log_mass[likely] + value + shift * error for shift in (-1, 0, 1))
        lower, middle, upper = (np.logaddexp.reduce(term, axis=-1) for term in terms)
        return Bounds(lower, middle, np.minimum(np.logaddexp(upper, others), 0.0))
