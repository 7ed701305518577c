"""Mechanisms with one mistake each: in releases, noise, moments, seeds, profiles or claims."""

import dataclasses
import math
import time

import numpy as np

from mechanisms import AdditiveMechanism, Budget, Mechanism, Query
from mechanisms.catalogue.exponential import Exponential
from mechanisms.catalogue.gaussian import AnalyticGaussian, classic_multiplier
from mechanisms.catalogue.gram.ppca import Ppca
from mechanisms.catalogue.privunit import PrivUnitG
from mechanisms.catalogue.r1smg import R1SMG
from mechanisms.catalogue.workloads.dawa import Dawa
from mechanisms.noise.boxed_exponential import BoxedExponential
from mechanisms.noise.gaussian_noise import IndependentGaussian
from mechanisms.noise.laplace_noise import IndependentLaplace
from mechanisms.noise.radial_noise import Spherical
from mechanisms.privacy.finite_profile import PureProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile

# Mistakes in releases, moments, profiles and claims.


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


# Noise whose law differs from the stated one.


def with_noise(kind):
    """A mechanism that differs from the analytic Gaussian only in its class of noise."""

    class Planted(Gaussian):
        @classmethod
        def noise_for(cls, query, budget):
            return kind(shape=query.shape, sigma=Gaussian.noise_for(query, budget).sigma)

    Planted.__name__ = kind.__name__
    return Planted


def changed(change):
    """A mechanism whose draws (n, *shape) are `change(draws, sigma, rng)` of correct draws."""

    def sample(self, rng, trials, dtype=np.float64):
        draws = IndependentGaussian.sample(self, rng, trials)
        return change(draws, self.sigma, rng).astype(dtype)

    kind = type(change.__name__, (IndependentGaussian,), {"sample": sample, "__module__": __name__})
    return with_noise(dataclasses.dataclass(frozen=True, kw_only=True)(kind))


@changed
def hundredth_of_the_scale(draws, sigma, rng):
    return 0.01 * draws


class LessThanStated(Spherical):
    def sample(self, rng, trials, dtype=np.float64):
        return super().sample(rng, trials, dtype) * np.dtype(dtype).type(0.8)


class FifthLess(R1SMG):
    """The norm is that of one normal number, so that few releases tell little about its scale."""

    @classmethod
    def noise_for(cls, query, budget):
        return LessThanStated(**vars(super().noise_for(query, budget)))


@changed
def twentieth_more(draws, sigma, rng):
    return 1.05 * draws


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class ReusedSeed(IndependentGaussian):
    def sample(self, rng, trials, dtype=np.float64):
        return super().sample(np.random.default_rng(0), trials, dtype)


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class OneOfTenSeeds(IndependentGaussian):
    def sample(self, rng, trials, dtype=np.float64):
        return super().sample(np.random.default_rng(rng.integers(10)), trials, dtype)


@changed
def one_number_for_all_elements(draws, sigma, rng):
    return np.broadcast_to(draws[:, :1, :1], draws.shape)


@changed
def correlated_elements(draws, sigma, rng):
    """The elements of a row share a part of their noise; each has the right variance."""
    mixed = np.sqrt(0.1) * draws + np.sqrt(0.9) * draws[:, :, :1]
    mixed[:, :, 0] = draws[:, :, 0]
    return mixed


@changed
def one_element_without_noise(draws, sigma, rng):
    draws[:, 3, 5] = 0
    return draws


@changed
def rounded_noise(draws, sigma, rng):
    """Noise on a grid is added to a value off the grid: the answer modulo the grid is exact."""
    return np.round(draws / sigma * 1000) * sigma / 1000


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class SinglePrecisionInside(IndependentGaussian):
    """Draws are float32, which a float64 answer gives away."""

    def sample(self, rng, trials, dtype=np.float64):
        return super().sample(rng, trials, np.float32).astype(dtype)


@changed
def lighter_tails(draws, sigma, rng):
    """The noise is uniform with the right variance, and states the profile of a Gaussian."""
    return sigma * rng.uniform(-np.sqrt(3), np.sqrt(3), draws.shape)


@changed
def heavier_tails(draws, sigma, rng):
    """The noise is Student's t with six degrees of freedom and the right variance."""
    return sigma * rng.standard_t(6, draws.shape) * np.sqrt(4 / 6)


@changed
def smooth_noise(draws, sigma, rng):
    """Each element shares part of the noise of the next one, so that alternating changes show."""
    flat = draws.reshape(len(draws), -1)
    return (0.8 * flat + 0.6 * np.roll(flat, -1, axis=1)).reshape(draws.shape)


@changed
def clipped_noise(draws, sigma, rng):
    """The noise stays within three standard deviations; a neighbour's answer may lie beyond."""
    return draws.clip(-3 * sigma, 3 * sigma)


@changed
def clipped_norm(draws, sigma, rng):
    """The norm of the noise is at most its root mean square."""
    norms = np.linalg.norm(draws, axis=(1, 2), keepdims=True)
    return draws * np.minimum(1, sigma * np.sqrt(draws[0].size) / norms)


@changed
def one_sided_half(draws, sigma, rng):
    """Every second element of a row only moves up; the others move both ways."""
    draws[:, :, ::2] = np.abs(draws[:, :, ::2])
    return draws


@changed
def signs_of_sixty_to_forty(draws, sigma, rng):
    return np.abs(draws) * np.where(rng.random(draws.shape) < 0.6, 1, -1)


@changed
def signs_of_many_sides(draws, sigma, rng):
    """Each element is biased to its own side, so that the sum of all is unbiased."""
    own = np.resize([1, -1], draws[0].size).reshape(draws.shape[1:])
    return np.abs(draws) * np.where(rng.random(draws.shape) < 0.7, 1, -1) * own


@changed
def symmetric_noise(draws, sigma, rng):
    """Symmetric noise for Gram matrices, of the right variance, is added to another matrix."""
    upper = np.triu(draws)
    return upper + np.triu(upper, 1).transpose(0, 2, 1)


@changed
def one_draw_for_all(draws, sigma, rng):
    """Single draws are right; all draws of a batch are equal."""
    return np.repeat(draws[:1], len(draws), axis=0)


# Mistakes in other methods than `release`, or in seeds.


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


# Mechanisms that are slow, not additive, or draw matrices or partitions.


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


# Small mistakes. SHARP_EDGES.md states how often `measure_power.py` finds each of them.


def _half_in_one_percent(draws, sigma, rng):
    flat = draws.reshape(len(draws), -1)
    flat[:, : max(1, flat.shape[1] // 100)] /= 2
    return draws


def _bare(share):
    def change(draws, sigma, rng):
        draws[rng.random(len(draws)) < share] = 0
        return draws

    return change


def _correlated(share):
    def change(draws, sigma, rng):
        for index in range(1, len(draws)):
            draws[index] = share * draws[index - 1] + np.sqrt(1 - share**2) * draws[index]
        return draws

    return change


def _seeds(bits):
    def change(draws, sigma, rng):
        seeds = rng.integers(1 << bits, size=len(draws))
        drawn = [np.random.default_rng(seed).normal(0, sigma, draws.shape[1:]) for seed in seeds]
        return np.array(drawn).reshape(draws.shape)

    return change


def profile_times(share: float):
    """A mechanism whose profile assumes only this share of the sensitivity."""

    class Stated(IndependentGaussian):
        def profile(self, query):
            true = super().profile(query)
            return dataclasses.replace(true, mu=share * true.mu)

    return with_noise(Stated)


@releasing
def small_at_one_value(self, value, rng):
    """The noise is halved where the first element is above 1000."""
    noise = self.sample(rng, 1, value.dtype)[0]
    return (value + noise / (2 if 1000 < value.flat[0] < 1001 else 1)).astype(value.dtype)


SMALL = {
    "nothing wrong": Gaussian,
    "a profile 3% too good": profile_times(0.97),
    "a profile 1% too good": profile_times(0.99),
    "half the noise in 1% of the elements": changed(_half_in_one_percent),
    "2% less noise": changed(lambda draws, sigma, rng: 0.98 * draws),
    "the value itself once in 100 releases": changed(_bare(0.01)),
    "the value itself once in 1,000 releases": changed(_bare(0.001)),
    "correlation of 0.2 between draws": changed(_correlated(0.2)),
    "correlation of 0.02 between draws": changed(_correlated(0.02)),
    "seeds of 20 bits": changed(_seeds(20)),
    "seeds of 24 bits": changed(_seeds(24)),
    "noise cut off at 5 standard deviations": changed(
        lambda draws, sigma, rng: draws.clip(-5 * sigma, 5 * sigma)
    ),
    "half the noise at one rare value": small_at_one_value,
}
