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
