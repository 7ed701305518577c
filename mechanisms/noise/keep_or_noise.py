"""Noise that leaves every component unchanged with a small probability (TLDP)."""

from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from mechanisms.noise.distribution import Noise
from mechanisms.noise.gaussian_noise import IndependentGaussian
from mechanisms.noise.laplace_noise import IndependentLaplace
from mechanisms.noise.loss_moments import LossMoments
from mechanisms.privacy.keep_or_noise_profile import KeepOrNoiseProfile


@dataclass(frozen=True, kw_only=True, eq=False)
class KeepOrNoise(Noise):
    """Noise that is zero on component i with probability p_i, and else independent scalar noise.

    Args:
        noise: The noise of the components that are not kept, on the whole answer.
        log_keep: log p_i, an array that broadcasts to the shape; in [-inf, 0].
    """

    noise: IndependentLaplace | IndependentGaussian
    log_keep: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        return self.noise.shape

    def sample(self, rng, trials, dtype=np.float64):
        draws = self.noise.sample(rng, trials, dtype)
        # A standard exponential exceeds -log p with probability p, whether or not p underflows.
        draws[rng.standard_exponential(draws.shape) > -self.log_keep] = 0
        return draws

    def loss(self):
        squares = replace(self.noise, shape=(1,)).loss().raw()
        noisy = -np.expm1(self.log_keep)
        elements_each = self.size // noisy.size
        return LossMoments.of_sum(tuple(noisy * moment for moment in squares), elements_each)

    def workload_variance(self, factors):
        variances = np.broadcast_to(-np.expm1(self.log_keep), self.shape)
        variances = variances * replace(self.noise, shape=(1,)).loss().mean
        # The noise of two components is independent: only the diagonal of W^T W counts.
        asked = reduce(np.kron, (factor.gram().diagonal() for factor in factors))
        return float(variances.ravel() @ asked)

    def _scaled(self, factor):
        return replace(self, noise=self.noise.scaled(factor))

    def parameters(self):
        """Return the scale of the noise, and the log of the largest p_i."""
        return self.noise.parameters() | {"log_p": float(self.log_keep.max())}

    def profile(self, query):
        noise = self.noise.profile(query)
        if not query.one_column:
            # Only elements that may change at once count; the worst are kept most often.
            often = np.sort(self.log_keep, axis=None)[::-1]
            alike = self.size // often.size
            counts = np.clip(query.changed - alike * np.arange(often.size), 0, alike)
            return KeepOrNoiseProfile.of(noise=noise, log_keep=often, counts=counts)
        # All columns have the same noise, so the worst column is the one kept most often.
        columns = np.unique(np.broadcast_to(self.log_keep, self.shape), axis=1).T
        profiles = (KeepOrNoiseProfile.of(noise=noise, log_keep=column) for column in columns)
        return max(profiles, key=lambda profile: profile.log_exposure)
