"""Mistakes in how a mechanism draws: in other methods than `release`, or in seeds."""

import dataclasses
import math

import numpy as np
from planted_bugs import Gaussian, releasing
from planted_noise import changed, with_noise

from mechanisms import Budget, Mechanism
from mechanisms.catalogue.privunit import PrivUnitG
from mechanisms.noise.gaussian_noise import IndependentGaussian
from mechanisms.privacy.finite_profile import PureProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile


class LessNoiseInTraining(Gaussian):
    """`release_all`, which training uses, has a hundredth of the noise."""

    def _release_all(self, values, rng):
        return values + 0.01 * self.sample(rng, len(values), values.dtype)


class LessNoiseWithDiagnostics(Gaussian):
    def _release_with_diagnostics(self, value, rng):
        return value + 0.01 * self.sample(rng, 1, value.dtype)[0], {}


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class SmallerNorms(IndependentGaussian):
    """Squared norms that are drawn without drawing the noise are too small."""

    def squared_norms(self, rng, trials):
        return 0.7 * super().squared_norms(rng, trials)


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class NoSeed(IndependentGaussian):
    """The noise ignores the given generator, so that no run can be repeated."""

    def sample(self, rng, trials, dtype=np.float64):
        return super().sample(np.random.default_rng(), trials, dtype)


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class AntitheticHalves(IndependentGaussian):
    """In a batch, the second half of the draws is the first half with the opposite sign."""

    def sample(self, rng, trials, dtype=np.float64):
        half = super().sample(rng, (trials + 1) // 2, dtype)
        return np.concatenate([half, -half])[:trials]


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class ShortSeeds(IndependentGaussian):
    """Every draw uses a new generator with one of 2^16 seeds."""

    def sample(self, rng, trials, dtype=np.float64):
        seeds = rng.integers(1 << 16, size=trials)
        draw = super().sample
        return np.concatenate([draw(np.random.default_rng(seed), 1, dtype) for seed in seeds])


@releasing
def clipped_to_the_data(self, value, rng):
    """No answer exceeds the largest element of the value, which reveals that element."""
    answer = value + self.sample(rng, 1, value.dtype)[0]
    largest = np.abs(value).max()
    return np.clip(answer, -largest, largest) if largest else answer


class SteepFarFromRest(Gaussian):
    """The prepared value changes up to ten times as much as the value, but less near zero."""

    only_adds_noise = False

    def prepared(self, value):
        return value * np.minimum(np.abs(value), 5)


class Undefined(GaussianProfile):
    def delta(self, epsilon):
        bounds = super().delta(epsilon)
        return type(bounds)(*(np.nan * each for each in bounds))


class ProfileOfNaN(Gaussian):
    def profile(self):
        return Undefined(mu=super().profile().mu)


class GrowsWithEpsilon(GaussianProfile):
    def delta(self, epsilon):
        bounds = super().delta(epsilon)
        return type(bounds)(*(np.where(np.asarray(epsilon) > 0, 0.9, each) for each in bounds))


class ProfileThatGrows(Gaussian):
    def profile(self):
        return GrowsWithEpsilon(mu=super().profile().mu)


@changed
def fine_grid(draws, sigma, rng):
    """The noise lies on multiples of 0.04; a change by one record leaves this grid."""
    return 0.04 * np.rint(draws / 0.04)


class TwiceTheEpsilon(PrivUnitG):
    """The cap is that of twice the budget."""

    @classmethod
    def build(cls, query, budget, calibration, settings):
        twice = Budget(epsilon=2 * budget.epsilon)
        built = super().build(query, twice, calibration, settings)
        return dataclasses.replace(built, budget=budget, pure_epsilon=budget.epsilon)


class Bits(Mechanism):
    """Randomised response on every element of a box; each spends its share of `factor` epsilon."""

    key, title, paper, theorem, guarantee = "bits", "Bits", "test", "none", "local"
    factor = 1.0

    def profile(self):
        return PureProfile(largest=self.budget.epsilon)

    def _release(self, value, rng):
        low, high = self.query.element_range
        share = self.factor * self.budget.epsilon / self.query.size
        bits = rng.random(value.shape) < (value - low) / (high - low)
        kept = rng.random(value.shape) < 1 / (1 + math.exp(-share))
        return np.where(bits == kept, high, low).astype(value.dtype)


class BitsOfFiveEpsilons(Bits):
    factor = 5.0
