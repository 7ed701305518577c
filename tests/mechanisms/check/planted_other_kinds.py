"""Mistakes in mechanisms that are slow, not additive, or draw matrices or partitions."""

import dataclasses
import time

import numpy as np
from planted_bugs import Gaussian

from mechanisms import Budget, Mechanism, Query
from mechanisms.catalogue.exponential import Exponential
from mechanisms.catalogue.gram.ppca import Ppca
from mechanisms.catalogue.workloads.dawa import Dawa
from mechanisms.noise.boxed_exponential import BoxedExponential
from mechanisms.noise.laplace_noise import IndependentLaplace
from mechanisms.privacy.finite_profile import PureProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile


class Unscaled(Mechanism):
    """A mechanism that is not additive and the same at both calibrations, without a profile."""

    key, title, paper, theorem, guarantee = "unscaled", "Unscaled", "test", "none", "pure"

    def parameters(self):
        return {"b": 1.0}

    def _release(self, value, rng):
        scale = self.query.l1_sensitivity / self.budget.epsilon
        noise = IndependentLaplace(shape=self.query.shape, scale=scale)
        return value + noise.sample(rng, 1, value.dtype)[0]


class UnscaledWithProfile(Unscaled):
    """The profile is below the budget, even at the exact calibration."""

    def profile(self):
        return PureProfile(largest=self.budget.epsilon / 2)


class TellsTheValue(UnscaledWithProfile):
    """A mechanism that is not additive, with a hundredth of the noise that its claim needs."""

    def _release(self, value, rng):
        return value + 0.01 * rng.laplace(size=self.query.shape)


class IgnoresNothing(UnscaledWithProfile):
    """The release claims to be independent of the value but is not."""

    def profile(self):
        return GaussianProfile(mu=0.0)

    def _release(self, value, rng):
        return value + 0.3 * rng.laplace(size=self.query.shape)


HISTOGRAM = Query(
    shape=(8, 8), l2_sensitivity=1.0, l1_sensitivity=1.0, structure="histogram", record_bound=1.0
)


GRAM = Query(shape=(5, 5), l2_sensitivity=1.0, structure="gram", record_bound=1.0)


BOX = Query(
    shape=(3, 4), l2_sensitivity=38.0, l1_sensitivity=131.5, element_range=(0.0, 11.0),
    adjacency="local",
)  # fmt: skip


class HundredTimesTheGram(Ppca):
    def _drawn(self, value, rng, trials):
        return super()._drawn(100 * value, rng, trials)


class HundredTimesTheRate(Exponential):
    def _releases(self, value, rng, trials):
        low, high = self.query.element_range
        flat = np.clip(value.astype(float).ravel(), low, high)
        rate = 100 / self.parameters()["b"]
        draws = BoxedExponential(flat - low, high - flat, rate).draw(flat, rng, trials)
        return draws.reshape(trials, *self.query.shape)


class ThirtyTimesTheBudget(Dawa):
    """Only `release` is wrong; drawing many at once is right."""

    def _release(self, value, rng):
        budget = Budget(epsilon=30 * self.budget.epsilon)
        return Dawa._release(dataclasses.replace(self, budget=budget), value, rng)


class SlowProfile(Gaussian):
    """A hundredth of the noise, with a profile that takes longer than a check may spend."""

    def profile(self):
        stop = time.process_time() + 0.4
        while time.process_time() < stop:
            pass
        return super().profile()

    def sample(self, rng, trials, dtype=np.float64):
        return 0.01 * super().sample(rng, trials, dtype)


class SlowRelease(UnscaledWithProfile):
    """No mistake that a check could afford to look for."""

    def _release(self, value, rng):
        stop = time.process_time() + 0.1
        while time.process_time() < stop:
            pass
        return super()._release(value, rng)
