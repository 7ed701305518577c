"""Mechanisms with one mistake each, in their releases, moments, profile or claim.

planted_noise.py has mistakes in the distribution of the noise.
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
    """A correct mechanism, from which the others derive."""

    key = "planted"


def releasing(release):
    """A mechanism that differs from the analytic Gaussian in how it releases a value."""
    return type(release.__name__, (Gaussian,), {"_release": release, "only_adds_noise": False})


@releasing
def writes_into_the_value(self, value, rng):
    value += self.sample(rng, 1, value.dtype)[0]
    return value


@releasing
def scalar(self, value, rng):
    return (value + self.sample(rng, 1)[0]).sum()


@releasing
def another_precision(self, value, rng):
    return (value + self.sample(rng, 1)[0]).astype(np.float64)


@releasing
def overflow(self, value, rng):
    """The norm is infinite in float32, so that no noise is left."""
    noise = self.sample(rng, 1, value.dtype)[0]
    large = noise * value.dtype.type(1e25)
    with np.errstate(over="ignore"):
        return value + large / np.linalg.norm(large) * np.linalg.norm(noise)


class MomentsAreNaN(Gaussian):
    def loss(self):
        return dataclasses.replace(super().loss(), cumulants=(float("nan"),) * 4)


class LessNoiseInStudies(Gaussian):
    """`release` is right, but `sample`, which studies call for additive noise, is not."""

    only_adds_noise = True

    def _release(self, value, rng):
        return value + super().sample(rng, 1, value.dtype)[0]

    def sample(self, rng, trials, dtype=np.float64):
        return super().sample(rng, trials, dtype) * np.dtype(dtype).type(0.5)


class NoiseUsedTwice(Gaussian):
    """Every second release reuses the noise of the previous one with the opposite sign."""

    only_adds_noise = False
    kept = None

    def _release(self, value, rng):
        noise = self.kept
        object.__setattr__(self, "kept", None)
        if noise is None or noise.dtype != value.dtype:
            noise = self.sample(rng, 1, value.dtype)[0]
            object.__setattr__(self, "kept", -noise)
        return value + noise


@releasing
def sign_of_the_value(self, value, rng):
    """The noise has the right size but never moves an element closer to zero."""
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


@releasing
def rounded_answers(self, value, rng):
    """No mistake: rounding an answer, or repeating it, does not weaken its privacy."""
    return np.round(value + self.sample(rng, 1, value.dtype)[0])


@releasing
def step_to_the_sign(self, value, rng):
    """Each element moves a small step away from zero, a 37th of the noise."""
    return value + 0.1 * np.sign(value) + self.sample(rng, 1, value.dtype)[0]


@releasing
def noise_of_the_value(self, value, rng):
    """The noise is right at zero and grows with the value."""
    scale = 1 + np.abs(value).mean() / 100
    return (value + scale * self.sample(rng, 1, value.dtype)[0]).astype(value.dtype)


@releasing
def shrinks_the_value(self, value, rng):
    return (0.9 * value + self.sample(rng, 1, value.dtype)[0]).astype(value.dtype)


class WrongSensitivity(Gaussian):
    """Noise and profile are calibrated to a change of one of the M elements."""

    @classmethod
    def noise_for(cls, query, budget):
        noise = super().noise_for(query, budget)
        return dataclasses.replace(noise, sigma=noise.sigma / query.size**0.5)

    def profile(self):
        change = self.query.l2_sensitivity / self.query.size**0.5
        return GaussianProfile(mu=change / self.noise.sigma)


class ClaimWithoutDelta(Gaussian):
    """Gaussian noise states the profile of pure privacy."""

    guarantee = "pure"

    def profile(self):
        return PureProfile(largest=self.budget.epsilon)


class NoDelta(AdditiveMechanism):
    """An approximate guarantee ignores delta."""

    key, title, paper, theorem, guarantee = "no-delta", "No delta", "test", "none", "approximate"

    @classmethod
    def noise_for(cls, query, budget):
        share = Budget(epsilon=budget.epsilon, delta=max(budget.delta, 1e-3))
        sigma = query.l2_sensitivity * classic_multiplier(share)
        return IndependentGaussian(shape=query.shape, sigma=sigma)
