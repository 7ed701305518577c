"""Noise with one mistake each: its distribution differs from the stated one."""

import dataclasses

import numpy as np
from planted_bugs import Gaussian

from mechanisms.catalogue.r1smg import R1SMG
from mechanisms.noise.gaussian_noise import IndependentGaussian
from mechanisms.noise.spherical_noise import Spherical


def with_noise(kind):
    """A mechanism that differs from the analytic Gaussian only in its class of noise."""

    class Planted(Gaussian):
        @classmethod
        def noise_for(cls, query, budget):
            return kind(shape=query.shape, sigma=Gaussian.noise_for(query, budget).sigma)

    Planted.__name__ = kind.__name__
    return Planted


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class HundredthOfTheScale(IndependentGaussian):
    def sample(self, rng, trials, dtype=np.float64):
        return super().sample(rng, trials, dtype) * np.dtype(dtype).type(0.01)


class LessThanStated(Spherical):
    def sample(self, rng, trials, dtype=np.float64):
        return super().sample(rng, trials, dtype) * np.dtype(dtype).type(0.8)


class FifthLess(R1SMG):
    """The norm is that of one normal number, so that few releases tell little about its scale."""

    @classmethod
    def noise_for(cls, query, budget):
        return LessThanStated(**vars(super().noise_for(query, budget)))


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
    """The elements of a row share a part of their noise; each has the right variance."""

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
    """Noise on a grid is added to a value off the grid: the answer modulo the grid is exact."""

    def sample(self, rng, trials, dtype=np.float64):
        grid = self.sigma / 1000
        return (np.round(super().sample(rng, trials) / grid) * grid).astype(dtype)


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class SinglePrecisionInside(IndependentGaussian):
    """Draws are float32, which a float64 answer gives away."""

    def sample(self, rng, trials, dtype=np.float64):
        return super().sample(rng, trials, np.float32).astype(dtype)


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class LighterTails(IndependentGaussian):
    """The noise is uniform with the right variance, and states the profile of a Gaussian."""

    def sample(self, rng, trials, dtype=np.float64):
        reach = np.sqrt(3) * self.sigma
        return rng.uniform(-reach, reach, (trials, *self.shape)).astype(dtype)


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class HeavierTails(IndependentGaussian):
    """The noise is Student's t with six degrees of freedom and the right variance."""

    def sample(self, rng, trials, dtype=np.float64):
        draws = rng.standard_t(6, (trials, *self.shape)) * np.sqrt(4 / 6)
        return (self.sigma * draws).astype(dtype)


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class SmoothNoise(IndependentGaussian):
    """Each element shares part of the noise of the next one, so that alternating changes show."""

    def sample(self, rng, trials, dtype=np.float64):
        size = int(np.prod(self.shape))
        draws = self.sigma * rng.standard_normal((trials, size + 1))
        mixed = 0.8 * draws[:, :-1] + 0.6 * draws[:, 1:]
        return mixed.reshape(trials, *self.shape).astype(dtype)


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class ClippedNoise(IndependentGaussian):
    """The noise stays within three standard deviations; a neighbour's answer may lie beyond."""

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
    """Every second element in C order only moves up; the others move both ways."""

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
    """Each element is biased to its own side, so that the sum of all is unbiased."""

    def sample(self, rng, trials, dtype=np.float64):
        sizes = np.abs(super().sample(rng, trials, dtype))
        signs = np.where(rng.random(sizes.shape) < 0.7, 1, -1)
        own = np.resize([1, -1], sizes[0].size).reshape(self.shape)
        return (sizes * signs * own).astype(dtype)


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class SymmetricNoise(IndependentGaussian):
    """Symmetric noise for Gram matrices, of the right variance, is added to another matrix."""

    def sample(self, rng, trials, dtype=np.float64):
        upper = np.triu(super().sample(rng, trials, dtype))
        return upper + np.triu(upper, 1).transpose(0, 2, 1)


@with_noise
@dataclasses.dataclass(frozen=True, kw_only=True)
class OneDrawForAll(IndependentGaussian):
    """Single draws are right; all draws of a batch are equal."""

    def sample(self, rng, trials, dtype=np.float64):
        return np.repeat(super().sample(rng, 1, dtype), trials, axis=0)
