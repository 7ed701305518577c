"""Mechanisms with one mistake each in their releases, moments, profile or claim.

Mistakes in the distribution of the noise are in planted_noise.py.
"""

import dataclasses

import numpy as np

from mechanisms import AdditiveMechanism, Budget, Query
from mechanisms.catalogue.gaussian import AnalyticGaussian, classic_multiplier
from mechanisms.noise.gaussian_noise import IndependentGaussian
from mechanisms.privacy.finite_profile import PureProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile

BUDGET = Budget(epsilon=1.0, delta=1e-5)
QUERY = Query(shape=(8, 8), l2_sensitivity=1.0, l1_sensitivity=8.0)


class Gaussian(AnalyticGaussian):
    """No mistake; what the others are made of."""

    key = "planted"


class WritesIntoTheValue(Gaussian):
    only_adds_noise = False

    def _release(self, value, rng):
        value += self.sample(rng, 1, value.dtype)[0]
        return value


class Scalar(Gaussian):
    only_adds_noise = False

    def _release(self, value, rng):
        return (value + self.sample(rng, 1)[0]).sum()


class AnotherPrecision(Gaussian):
    only_adds_noise = False

    def _release(self, value, rng):
        return (value + self.sample(rng, 1)[0]).astype(np.float64)


class Overflow(Gaussian):
    """A norm that is infinite in float32, so that nothing of the noise is left."""

    only_adds_noise = False

    def _release(self, value, rng):
        noise = self.sample(rng, 1, value.dtype)[0]
        large = noise * value.dtype.type(1e25)
        with np.errstate(over="ignore"):
            return value + large / np.linalg.norm(large) * np.linalg.norm(noise)


class MomentsAreNaN(Gaussian):
    def loss(self):
        return dataclasses.replace(super().loss(), cumulants=(float("nan"),) * 4)


class LessNoiseInStudies(Gaussian):
    """`release` is right; `sample`, which studies call for noise that is only added, is not."""

    only_adds_noise = True

    def _release(self, value, rng):
        return value + super().sample(rng, 1, value.dtype)[0]

    def sample(self, rng, trials, dtype=np.float64):
        return super().sample(rng, trials, dtype) * np.dtype(dtype).type(0.5)


class NoiseUsedTwice(Gaussian):
    """Every second release takes the noise of the one before, with the other sign."""

    only_adds_noise = False
    kept = None

    def _release(self, value, rng):
        noise = self.kept
        object.__setattr__(self, "kept", None)
        if noise is None or noise.dtype != value.dtype:
            noise = self.sample(rng, 1, value.dtype)[0]
            object.__setattr__(self, "kept", -noise)
        return value + noise


class SignOfTheValue(Gaussian):
    """Noise of the right size at every value, which never brings an element closer to zero."""

    only_adds_noise = False

    def _release(self, value, rng):
        noise = self.sample(rng, 1, value.dtype)[0]
        return value + np.where(value == 0, noise, np.sign(value) * np.abs(noise))


class FewExactAnswers(Gaussian):
    """One release of fifty is the value itself."""

    only_adds_noise = False
    share = 0.02

    def _release(self, value, rng):
        if rng.random() < self.share:
            return value.copy()
        return value + self.sample(rng, 1, value.dtype)[0]


class FewerExactAnswers(FewExactAnswers):
    """One release of a hundred is the value itself."""

    share = 0.01


class RoundedAnswers(Gaussian):
    """No mistake: what rounds an answer, and repeats it, takes nothing from its privacy."""

    only_adds_noise = False

    def _release(self, value, rng):
        return np.round(value + self.sample(rng, 1, value.dtype)[0])


class StepToTheSign(Gaussian):
    """A small step away from zero: a 37th of the noise."""

    only_adds_noise = False

    def _release(self, value, rng):
        return value + 0.1 * np.sign(value) + self.sample(rng, 1, value.dtype)[0]


class NoiseOfTheValue(Gaussian):
    """Less noise where the value is small, and the right noise at zero."""

    only_adds_noise = False

    def _release(self, value, rng):
        scale = 1 + np.abs(value).mean() / 100
        return (value + scale * self.sample(rng, 1, value.dtype)[0]).astype(value.dtype)


class ShrinksTheValue(Gaussian):
    only_adds_noise = False

    def _release(self, value, rng):
        return (0.9 * value + self.sample(rng, 1, value.dtype)[0]).astype(value.dtype)


class WrongSensitivity(Gaussian):
    """Calibrated to the change of one element of M, in its noise and in its profile."""

    @classmethod
    def noise_for(cls, query, budget):
        noise = super().noise_for(query, budget)
        return dataclasses.replace(noise, sigma=noise.sigma / query.size**0.5)

    def profile(self):
        change = self.query.l2_sensitivity / self.query.size**0.5
        return GaussianProfile(mu=change / self.noise.sigma)


class ClaimWithoutDelta(Gaussian):
    """Gaussian noise with the profile of pure privacy."""

    guarantee = "pure"

    def profile(self):
        return PureProfile(largest=self.budget.epsilon)


class NoDelta(AdditiveMechanism):
    """An approximate guarantee that does not look at delta."""

    key, title, paper, theorem, guarantee = "no-delta", "No delta", "test", "none", "approximate"

    @classmethod
    def noise_for(cls, query, budget):
        share = Budget(epsilon=budget.epsilon, delta=max(budget.delta, 1e-3))
        sigma = query.l2_sensitivity * classic_multiplier(share)
        return IndependentGaussian(shape=query.shape, sigma=sigma)
