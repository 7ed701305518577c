"""Small mistakes. SHARP_EDGES.md states how often `measure_power.py` finds each of them."""

import dataclasses

import numpy as np
from planted_bugs import Gaussian, releasing
from planted_noise import changed, with_noise

from mechanisms.noise.gaussian_noise import IndependentGaussian


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
