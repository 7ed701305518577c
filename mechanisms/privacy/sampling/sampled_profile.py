"""Bounds of the profile of many Gaussian releases on Poisson samples of the records."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from dp_accounting.pld import privacy_loss_distribution as pld

from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.profile import Bounds
from mechanisms.privacy.sampling.gaussian_samples import GaussianSamples
from mechanisms.privacy.sampling.poisson_sampling import SampledRun

# Grid of the losses for the lower bound, and the allowance for its convolutions.
_INTERVAL = 1e-4
_ALLOWANCE = 1e-11


@dataclass(frozen=True, kw_only=True)
class SampledGaussianProfile(GaussianSamples):
    """`steps` Gaussian releases, each on a secret Poisson sample, one record added or removed.

    Upper bounds are those of `SampledRun`, which are reported as values. Lower bounds are the
    optimistic privacy loss distributions of dp_accounting. Losses cannot be drawn.
    """

    def scale_factor(self, epsilon: float, delta: float) -> float:
        """That of `SampledRun`: within 1e-3, on the private side."""
        return self._run.scale_factor(epsilon, delta)

    def sample_losses(self, rng, n, *, reverse=False):
        raise NotImplementedError("losses of sampled releases are not drawn")

    @cached_property
    def _run(self) -> SampledRun:
        return SampledRun(step=GaussianProfile(mu=self.mu), rate=self.rate, steps=self.steps)

    @cached_property
    def _below(self) -> pld.PrivacyLossDistribution:
        return pld.from_gaussian_mechanism(
            standard_deviation=1 / self.mu,
            value_discretization_interval=_INTERVAL,
            sampling_prob=self.rate,
            pessimistic_estimate=False,
            use_connect_dots=False,
        ).self_compose(self.steps)

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        flat = epsilon.ravel()
        upper = np.array([self._run.delta(float(each)) for each in flat])
        below = np.array([self._below.get_delta_for_epsilon(float(each)) for each in flat])
        lower = np.clip(below - _ALLOWANCE, 0.0, upper)
        with np.errstate(divide="ignore"):
            lower, upper = (np.log(each).reshape(epsilon.shape) for each in (lower, upper))
        return Bounds(lower, upper, upper)

    def _epsilon(self, delta: np.ndarray) -> Bounds:
        flat = delta.ravel()
        upper = np.array([self._run.epsilon(float(each)) for each in flat])
        below = [
            self._below.get_epsilon_for_delta(min(float(each) + _ALLOWANCE, 1.0)) for each in flat
        ]
        lower = np.minimum(np.maximum(below, 0.0), upper)
        lower, upper = (each.reshape(delta.shape) for each in (lower, upper))
        return Bounds(lower, upper, upper)
