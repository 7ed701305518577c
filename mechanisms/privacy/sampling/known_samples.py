"""Gaussian releases on random samples whose membership is public."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import scipy

from mechanisms.privacy.gaussian_profile import log_delta_and_error
from mechanisms.privacy.profile import Bounds, PrivacyProfile, check_count

# All bounds leave out counts less likely than e^-700: smaller deltas are not resolved.
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
    """

    mu: float
    rate: float
    steps: int

    calibrated_curve = "upper"

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
        mu = np.broadcast_to(self.mu * np.sqrt(k[likely]), (*epsilon.shape, likely.sum()))
        at = np.broadcast_to(epsilon[..., None], mu.shape)
        value, error = log_delta_and_error(at.ravel(), mu.ravel())
        value, error = value.reshape(mu.shape), error.reshape(mu.shape) + 1e-12
        terms = (log_mass[likely] + value + shift * error for shift in (-1, 0, 1))
        lower, middle, upper = (np.logaddexp.reduce(term, axis=-1) for term in terms)
        return Bounds(lower, middle, np.minimum(upper, 0.0))
