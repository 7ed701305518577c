"""Mechanisms of public code and papers that the suite does not have, with the known truth.

Each is written as its source has it, in at most 40 lines.
"""

import math

import numpy as np

from mechanisms import AdditiveMechanism, Mechanism, Unsupported
from mechanisms.noise.gaussian_noise import IndependentGaussian
from mechanisms.noise.laplace_noise import IndependentLaplace


class ZCDPGaussian(AdditiveMechanism):
    """sigma = s / sqrt(2 rho), where rho-zCDP implies (epsilon, delta)-DP."""

    key, title, guarantee = "gaussian-zcdp", "Gaussian (zCDP)", "approximate"
    paper, theorem = "Bun and Steinke 2016", "Propositions 1.3 and 1.6"

    @classmethod
    def noise_for(cls, query, budget):
        log = math.log(1 / budget.delta)
        root_rho = budget.epsilon / (math.sqrt(log + budget.epsilon) + math.sqrt(log))
        sigma = query.l2_sensitivity / (math.sqrt(2) * root_rho)
        return IndependentGaussian(shape=query.shape, sigma=sigma)


class WrongNormLaplace(AdditiveMechanism):
    """Laplace noise of scale s_2 / epsilon, a mistake of several libraries: the l1 norm counts."""

    key, title, guarantee = "laplace-l2", "Laplace by the l2 norm", "pure"
    paper, theorem = "none", "none"

    @classmethod
    def noise_for(cls, query, budget):
        if query.l1_sensitivity is None and query.linf_sensitivity is None:
            raise Unsupported("needs l1_sensitivity or linf_sensitivity")
        return IndependentLaplace(shape=query.shape, scale=query.l2_sensitivity / budget.epsilon)


class RandomisedResponse(Mechanism):
    """Every bit is kept with probability e^(epsilon / M) / (1 + e^(epsilon / M)); no profile."""

    key, title, guarantee = "rr", "Randomised response", "local"
    paper, theorem = "Warner 1965", "epsilon / M for each of M bits"

    @classmethod
    def build(cls, query, budget, calibration, settings):
        if query.element_range != (0.0, 1.0) or query.adjacency != "local":
            raise Unsupported("needs bits: element_range (0, 1) and adjacency local")
        if calibration == "exact":
            raise Unsupported("has no exact calibration: its profile is not computed")
        return super().build(query, budget, calibration, settings)

    def _release(self, value, rng):
        ratio = math.exp(self.budget.epsilon / value.size)
        bits = rng.random(value.shape) < value
        kept = rng.random(value.shape) < ratio / (1 + ratio)
        return np.where(kept, bits, ~bits).astype(value.dtype)


def logistic(value, rng):
    """Scale 1 for an l1 sensitivity of 1: the density changes by at most e^1. Private."""
    return value + rng.logistic(size=value.shape)


def truncated_laplace(value, rng, epsilon=1.0, delta=1e-3):
    """Geng, Ding, Guo and Kumar, AISTATS 2020, Theorem 1; sensitivity 1. Private."""
    edge = math.log1p(math.expm1(epsilon) / (2 * delta)) / epsilon
    while True:
        noise = rng.laplace(scale=1 / epsilon, size=value.shape)
        if np.all(np.abs(noise) <= edge):
            return value + noise


def geometric(value, rng):
    """Ghosh, Roughgarden and Sundararajan, STOC 2009; counts of sensitivity 1. Private."""
    p = 1 - math.exp(-1.0)
    return value + rng.geometric(p, value.shape) - rng.geometric(p, value.shape)


def noisy_max(value, rng):
    """Dwork and Roth, Claim 3.9: the place of the largest count plus Lap(2). Private."""
    return np.array([np.argmax(value + rng.laplace(scale=2.0, size=value.shape))])


def sparse_vector(value, rng):
    """Stoddard, Chen and Machanavajjhala 2014: no noise on the queries. Not private: Lyu 2017."""
    return (value >= rng.laplace(scale=2.0)).astype(float)


def bounded_laplace(value, rng):
    """Lap(1/2) drawn again until the answer lies in [0, 1], naive by Holohan et al. 2018. False.

    For a sensitivity of 1/2 the true epsilon is 1 + log((1 - 1/e) / ((1 - 1/e^2) / 2)) = 1.38.
    """
    while True:
        answer = value + rng.laplace(scale=0.5, size=value.shape)
        if np.all((answer >= 0) & (answer <= 1)):
            return answer


def cauchy(value, rng):
    """Noise of density 1 / (1 + z^2) times 1/2: Lap(1)'s claim for a sensitivity of 1. Private.

    The loss is at most log(1 + golden ratio) = 0.9624 < 1.
    """
    return value + rng.standard_cauchy(value.shape)


NUMBER = {"shape": (1,), "l1_sensitivity": 1.0, "l2_sensitivity": 1.0, "linf_sensitivity": 1.0}
COUNTS = {"shape": (4,), "linf_sensitivity": 1.0}
UNIT = {"shape": (1,), "element_range": (0.0, 1.0), "linf_sensitivity": 0.5}
# By name: the query (None for a class), epsilon, delta, and the verdicts that are true.
TRUTH = {
    "ZCDPGaussian": (None, None, 1e-5, {"loose"}),
    "WrongNormLaplace": (COUNTS, 1.0, 0.0, {"refuted"}),
    "RandomisedResponse": (None, None, 1e-5, {"undecided"}),
    "logistic": (NUMBER, 1.0, 0.0, {"undecided"}),
    "truncated_laplace": (NUMBER, 1.0, 1e-3, {"undecided"}),
    "geometric": (NUMBER, 1.0, 0.0, {"undecided"}),
    "noisy_max": (COUNTS, 1.0, 0.0, {"undecided"}),
    "sparse_vector": (COUNTS, 1.0, 0.0, {"refuted"}),
    "bounded_laplace": (UNIT, 1.0, 0.0, {"refuted"}),
    "cauchy": (NUMBER, 1.0, 0.0, {"undecided"}),
}
