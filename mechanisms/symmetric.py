"""Symmetric Gaussian noise on a Gram matrix: MOD-SULQ and Analyze Gauss."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from mechanisms.contract.mechanism import AdditiveMechanism
from mechanisms.contract.query import Budget, Query, Unsupported
from mechanisms.contract.requirements import require_delta, require_gram
from mechanisms.gaussian import ClassicGaussian, classic_multiplier
from mechanisms.noise.distribution import Noise, checked_dtype, gram_slack
from mechanisms.noise.loss_moments import LossMoments
from mechanisms.profiles.gaussian_profile import GaussianProfile


@dataclass(frozen=True, kw_only=True)
class SymmetricGaussian(Noise):
    """A symmetric (d, d) matrix with independent N(0, sigma^2) on and above its diagonal."""

    shape: tuple[int, int]
    sigma: float

    def sample(self, rng, trials, dtype=np.float64):
        dtype = checked_dtype(dtype)
        size = self.shape[0]
        lower = np.tri(size, dtype=bool)
        draws = np.empty((trials, size, size), dtype)
        drawn = rng.standard_normal((trials, size * (size + 1) // 2), dtype)
        drawn *= dtype.type(self.sigma)
        draws[:, lower] = drawn
        draws.swapaxes(1, 2)[:, lower] = drawn
        return draws

    def loss(self):
        # L = sum_i n_ii^2 + 2 sum_{i<j} n_ij^2; the k-th cumulant of a z^2 is 2^(k-1) (k-1)! a^k.
        diagonal, above = self.shape[0], self.shape[0] * (self.shape[0] - 1) // 2
        return LossMoments(
            tuple(
                2 ** (k - 1)
                * math.factorial(k - 1)
                * (diagonal + 2**k * above)
                * self.sigma ** (2 * k)
                for k in (1, 2, 3, 4)
            )
        )

    def scaled(self, factor):
        return replace(self, sigma=self.sigma * factor)

    def parameters(self):
        return {"sigma": self.sigma}

    def profile(self, query):
        """mu = sup ||D||_F / sigma.

        The answer is its upper triangle, on which the noise is i.i.d.: mu sigma is the supremum of
        ||upper(D)||_2. It is at most ||D||_F, which counts what is off the diagonal twice, and
        equal to it for diagonal D. Such a D attains sup ||D||_F: x = B e_1 added or removed, or
        replaced by y = B e_2.
        """
        return GaussianProfile(mu=query.gram_change / self.sigma)

    def slack(self, query):
        return gram_slack(query)


class ModSulq(AdditiveMechanism):
    """sigma = B^2 ((d + 1) sqrt(2 ln((d^2 + d) / (2 delta sqrt(2 pi)))) / eps + 1 / sqrt(eps)).

    The paper's beta for (1/n) sum x x^T of n records in the unit ball, where B^2 = 1/n. It
    replaces one record; the same noise is used under add-remove.
    """

    key = "mod-sulq"
    title = "MOD-SULQ"
    paper = "Chaudhuri et al. 2013"
    theorem = "Algorithm MOD-SULQ"
    guarantee = "approximate"

    @classmethod
    def noise_for(cls, query: Query, budget: Budget):
        require_delta(budget)
        require_gram(query)
        size, epsilon = query.shape[0], budget.epsilon
        ratio = (size**2 + size) / (2 * budget.delta * math.sqrt(2 * math.pi))
        if ratio <= 1:
            raise Unsupported(
                f"has no beta for delta = {budget.delta:g}: its logarithm needs delta below "
                f"{ratio * budget.delta:.3g} at d = {size}"
            )
        beta = (size + 1) / epsilon * math.sqrt(2 * math.log(ratio)) + 1 / math.sqrt(epsilon)
        return SymmetricGaussian(shape=query.shape, sigma=query.record_bound**2 * beta)


class AnalyzeGauss(AdditiveMechanism):
    """sigma = s sqrt(2 ln(1.25 / delta)) / epsilon, s = B^2 (add-remove) or sqrt(2) B^2 (replace).

    The paper adds or removes one record of the unit ball: s = 1.
    """

    key = "analyze-gauss"
    title = "Analyze Gauss"
    paper = "Dwork et al. 2014"
    theorem = "Gaussian mechanism on the upper triangle"
    guarantee = "approximate"

    @classmethod
    def limit(cls, query, budget):
        return ClassicGaussian.limit(query, budget)

    @classmethod
    def noise_for(cls, query: Query, budget: Budget):
        require_delta(budget)
        require_gram(query)
        sigma = query.gram_change * classic_multiplier(budget)
        return SymmetricGaussian(shape=query.shape, sigma=sigma)
