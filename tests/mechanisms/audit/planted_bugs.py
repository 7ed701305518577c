"""Additive mechanisms with one mistake each, and what the mistake is."""

import dataclasses

import numpy as np

from mechanisms import AdditiveMechanism, Budget, Query
from mechanisms.gaussian import AnalyticGaussian, classic_multiplier
from mechanisms.noise.gaussian_noise import IndependentGaussian
from mechanisms.profiles.gaussian_profile import GaussianProfile
from mechanisms.profiles.pure_profile import PureProfile

BUDGET = Budget(epsilon=1.0, delta=1e-5)


QUERY = Query(shape=(8, 8), l2_sensitivity=1.0, l1_sensitivity=8.0)


class Gaussian(AnalyticGaussian):
    """No mistake; what the others are made of."""

    key = "planted"


def with_noise(kind):
    """A mechanism that differs from the analytic Gaussian in its class of noise."""

    class Planted(Gaussian):
        @classmethod
        def noise_for(cls, query, budget):
            return kind(shape=query.shape, sigma=Gaussian.noise_for(query, budget).sigma)

    Planted.__name__ = kind.__name__
    return Planted


class WritesIntoTheValue(Gaussian):
    only_adds_noise = False

    def release(self, value, rng):
        value += self.sample(rng, 1, value.dtype)[0]
        return value


class Scalar(Gaussian):
    only_adds_noise = False

    def release(self, value, rng):
        return (value + self.sample(rng, 1)[0]).sum()


class AnotherPrecision(Gaussian):
    only_adds_noise = False

    def release(self, value, rng):
        return (value + self.sample(rng, 1)[0]).astype(np.float64)


class Overflow(Gaussian):
    """A norm that is infinite in float32, so that nothing of the noise is left."""

    only_adds_noise = False

    def release(self, value, rng):
        noise = self.sample(rng, 1, value.dtype)[0]
        large = noise * value.dtype.type(1e25)
        with np.errstate(over="ignore"):
            return value + large / np.linalg.norm(large) * np.linalg.norm(noise)


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class HundredthOfTheScale(IndependentGaussian):
    def sample(self, rng, trials, dtype=np.float64):
        return super().sample(rng, trials, dtype) * np.dtype(dtype).type(0.01)


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class TwentiethMore(IndependentGaussian):
    def sample(self, rng, trials, dtype=np.float64):
        return super().sample(rng, trials, dtype) * np.dtype(dtype).type(1.05)


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


class MomentsAreNaN(Gaussian):
    def loss(self):
        return dataclasses.replace(super().loss(), cumulants=(float("nan"),) * 4)


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class OneNumberForAllElements(IndependentGaussian):
    def sample(self, rng, trials, dtype=np.float64):
        one = dataclasses.replace(self, shape=(1,) * len(self.shape))
        return np.broadcast_to(
            IndependentGaussian.sample(one, rng, trials, dtype), (trials, *self.shape)
        )


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class CorrelatedElements(IndependentGaussian):
    """Every row has a part of its noise in common; each element has the right variance."""

    def sample(self, rng, trials, dtype=np.float64):
        own = super().sample(rng, trials, dtype)
        return (np.sqrt(0.1) * own + np.sqrt(0.9) * own[:, :, :1]).astype(dtype) * np.where(
            np.arange(self.shape[1]) == 0, 1 / (np.sqrt(0.1) + np.sqrt(0.9)), 1
        ).astype(dtype)


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class OneElementWithoutNoise(IndependentGaussian):
    def sample(self, rng, trials, dtype=np.float64):
        draws = super().sample(rng, trials, dtype)
        draws[:, 3, 5] = 0
        return draws


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class RoundedNoise(IndependentGaussian):
    """Noise on a grid, added to a value that is not on it: the answer modulo the grid is exact."""

    def sample(self, rng, trials, dtype=np.float64):
        grid = self.sigma / 1000
        return (np.round(super().sample(rng, trials) / grid) * grid).astype(dtype)


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class SinglePrecisionInside(IndependentGaussian):
    """Draws of float32, which a float64 answer gives away."""

    def sample(self, rng, trials, dtype=np.float64):
        return super().sample(rng, trials, np.float32).astype(dtype)


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class LighterTails(IndependentGaussian):
    """Uniform noise of the right variance and the profile of a Gaussian."""

    def sample(self, rng, trials, dtype=np.float64):
        reach = np.sqrt(3) * self.sigma
        return rng.uniform(-reach, reach, (trials, *self.shape)).astype(dtype)


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class ClippedNoise(IndependentGaussian):
    """Within three standard deviations, where a neighbour's answer may lie beyond."""

    def sample(self, rng, trials, dtype=np.float64):
        return np.clip(super().sample(rng, trials, dtype), -3 * self.sigma, 3 * self.sigma)


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class ClippedNorm(IndependentGaussian):
    """The norm of the noise is at most its root mean square."""

    def sample(self, rng, trials, dtype=np.float64):
        draws = super().sample(rng, trials, dtype)
        norms = np.linalg.norm(draws.reshape(trials, -1), axis=1)
        shares = np.minimum(1, self.loss().mean ** 0.5 / norms)
        return (draws * shares.reshape(-1, *(1,) * len(self.shape))).astype(dtype)


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class OneSidedHalf(IndependentGaussian):
    """Every second element of C order is moved up alone, those between them in all directions."""

    def sample(self, rng, trials, dtype=np.float64):
        draws = super().sample(rng, trials, dtype).reshape(trials, -1)
        draws[:, ::2] = np.abs(draws[:, ::2])
        return draws.reshape(trials, *self.shape)


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class SignsOfSixtyToForty(IndependentGaussian):
    def sample(self, rng, trials, dtype=np.float64):
        sizes = np.abs(super().sample(rng, trials, dtype))
        return np.where(rng.random(sizes.shape) < 0.6, sizes, -sizes)


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class SignsOfManySides(IndependentGaussian):
    """Each element leans to its own side, so that the sum of all leans to none."""

    def sample(self, rng, trials, dtype=np.float64):
        sizes = np.abs(super().sample(rng, trials, dtype))
        signs = np.where(rng.random(sizes.shape) < 0.7, 1, -1)
        own = np.resize([1, -1], sizes[0].size).reshape(self.shape)
        return (sizes * signs * own).astype(dtype)


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class SymmetricNoise(IndependentGaussian):
    """The noise of a Gram matrix, of the right variance, on a matrix that is none."""

    def sample(self, rng, trials, dtype=np.float64):
        upper = np.triu(super().sample(rng, trials, dtype))
        return upper + np.triu(upper, 1).transpose(0, 2, 1)


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class OneDrawForAll(IndependentGaussian):
    """Right one by one; all that are drawn at once are the same."""

    def sample(self, rng, trials, dtype=np.float64):
        return np.repeat(super().sample(rng, 1, dtype), trials, axis=0)


class LessNoiseInStudies(Gaussian):
    """`release` is right; `sample`, which studies call for noise that is only added, is not."""

    only_adds_noise = True

    def release(self, value, rng):
        return value + super().sample(rng, 1, value.dtype)[0]

    def sample(self, rng, trials, dtype=np.float64):
        return super().sample(rng, trials, dtype) * np.dtype(dtype).type(0.5)


class NoiseUsedTwice(Gaussian):
    """Every second release takes the noise of the one before, with the other sign."""

    only_adds_noise = False
    kept = None

    def release(self, value, rng):
        noise = self.kept
        object.__setattr__(self, "kept", None)
        if noise is None or noise.dtype != value.dtype:
            noise = self.sample(rng, 1, value.dtype)[0]
            object.__setattr__(self, "kept", -noise)
        return value + noise


class SignOfTheValue(Gaussian):
    """Noise of the right size at every value, which never brings an element closer to zero."""

    only_adds_noise = False

    def release(self, value, rng):
        noise = self.sample(rng, 1, value.dtype)[0]
        return value + np.where(value == 0, noise, np.sign(value) * np.abs(noise))


class FewExactAnswers(Gaussian):
    """One release of fifty is the value itself."""

    only_adds_noise = False

    def release(self, value, rng):
        if rng.random() < 0.02:
            return value.copy()
        return value + self.sample(rng, 1, value.dtype)[0]


class FewerExactAnswers(Gaussian):
    """One release of a hundred is the value itself."""

    only_adds_noise = False

    def release(self, value, rng):
        if rng.random() < 0.01:
            return value.copy()
        return value + self.sample(rng, 1, value.dtype)[0]


class RoundedAnswers(Gaussian):
    """No mistake: what rounds an answer, and repeats it, takes nothing from its privacy."""

    only_adds_noise = False

    def release(self, value, rng):
        return np.round(value + self.sample(rng, 1, value.dtype)[0])


class NoiseOfTheValue(Gaussian):
    """Less noise where the value is small, and the right noise at zero."""

    only_adds_noise = False

    def release(self, value, rng):
        scale = 1 + np.abs(value).mean() / 100
        return (value + scale * self.sample(rng, 1, value.dtype)[0]).astype(value.dtype)


class ShrinksTheValue(Gaussian):
    only_adds_noise = False

    def release(self, value, rng):
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


@dataclasses.dataclass(frozen=True, kw_only=True)
class TooGoodNoise(IndependentGaussian):
    """The profile of the noise itself is that of half the change."""

    def profile(self, query):
        return GaussianProfile(mu=query.reach / self.sigma / 2)


class ProfileTooGood(Gaussian):
    @classmethod
    def noise_for(cls, query, budget):
        return TooGoodNoise(shape=query.shape, sigma=Gaussian.noise_for(query, budget).sigma)


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
