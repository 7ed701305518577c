"""Noise added to a Gram matrix: symmetric Gaussian (MOD-SULQ, Analyze Gauss) and Wishart."""

import math

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.catalogue.gaussian import ClassicGaussian, classic_multiplier
from mechanisms.noise.gaussian_noise import SymmetricGaussian
from mechanisms.noise.wishart_noise import Wishart
from mechanisms.query.query import Budget, Query, Unsupported
from mechanisms.query.requirements import require_gram


class ModSulq(AdditiveMechanism):
    """sigma = B^2 ((d + 1) sqrt(2 ln((d^2 + d) / (2 delta sqrt(2 pi)))) / eps + 1 / sqrt(eps)).

    The paper's beta is for (1/n) sum x x^T of n records in the unit ball, where B^2 = 1/n, and for
    the replacement of one record; here the same noise also serves add-remove.
    """

    key = "mod-sulq"
    title = "MOD-SULQ"
    paper = "Chaudhuri et al. 2013"
    theorem = "Algorithm MOD-SULQ"
    guarantee = "approximate"
    look = ("#33BBEE", ">", 24)

    @classmethod
    def noise_for(cls, query: Query, budget: Budget):
        require_gram(query)
        size, epsilon = query.shape[0], budget.epsilon
        ratio = (size**2 + size) / (2 * budget.delta * math.sqrt(2 * math.pi))
        if ratio <= 1:
            raise Unsupported(
                f"needs delta below {ratio * budget.delta:.3g} at d = {size}, where its beta has a "
                f"logarithm, got {budget.delta:g}"
            )
        beta = (size + 1) / epsilon * math.sqrt(2 * math.log(ratio)) + 1 / math.sqrt(epsilon)
        return SymmetricGaussian(shape=query.shape, sigma=query.record_bound**2 * beta)


class AnalyzeGauss(AdditiveMechanism):
    """sigma = s sqrt(2 ln(1.25 / delta)) / epsilon, s = B^2 (add-remove) or sqrt(2) B^2 (replace).

    In one dimension s = B^2. In the paper one record of the unit ball is added or removed: s = 1.
    """

    key = "analyze-gauss"
    title = "Analyze Gauss"
    paper = "Dwork et al. 2014"
    theorem = "Gaussian mechanism on the upper triangle"
    guarantee = "approximate"
    look = ("#AAAA00", "<", 25)

    limit = ClassicGaussian.limit

    @classmethod
    def noise_for(cls, query: Query, budget: Budget):
        require_gram(query)
        sigma = query.gram_change * classic_multiplier(budget)
        return SymmetricGaussian(shape=query.shape, sigma=sigma)


class WishartMechanism(AdditiveMechanism):
    """Noise W ~ Wishart_d(d + 1, c I) with c = 3 B^2 / (2 epsilon).

    The paper has 3 / (2 n epsilon) for (1/n) sum x x^T of n records in the unit ball. Its claim of
    pure epsilon-DP is false: once a record of norm B is removed, the output is with probability
    1 - e^(-epsilon/3) one that was impossible before. `WishartProfile` has the proof and the true
    profile.
    """

    key = "wishart"
    title = "Wishart"
    paper = "Jiang et al. 2016"
    theorem = "Wishart mechanism"
    guarantee = "pure"
    look = ("#99DDFF", "s", 26)

    @classmethod
    def noise_for(cls, query: Query, budget: Budget):
        require_gram(query)
        return Wishart(shape=query.shape, scale=3 * query.record_bound**2 / (2 * budget.epsilon))
