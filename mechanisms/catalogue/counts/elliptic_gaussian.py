"""Gaussian noise in the shape of what one record adds: correlated and elliptic noise.

Where one record only adds, its changes lie on one side: every change of counts is in {0, 1}^M or in
{-1, 0}^M, and a common noise on all elements hides how many of them moved. Noise with the variances
`across` and `along` the vector of ones is mu-GDP (Gaussian DP) where

    ||D - mean(D)||^2 / across + M mean(D)^2 / along <= mu^2

for every change D. For one value o of the first numerator and p of the second, the least expected
squared norm (M - 1) across + along has, by Cauchy and Schwarz,

    across = sqrt(o / (M - 1)) c,   along = sqrt(p) c,   c = (sqrt(o (M - 1)) + sqrt(p)) / mu^2.

mu is that of the budget (Balle and Wang 2018, Theorem 8).
"""

import math

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.noise.exchangeable_gaussian import ExchangeableGaussian
from mechanisms.noise.gaussian_noise import IndependentGaussian
from mechanisms.privacy.gaussian_profile import mu_for
from mechanisms.query.query import Budget, Query, Unsupported
from mechanisms.query.requirements import require_delta


def best_ellipse(
    shape: tuple[int, ...], mu: float, across: float, along: float
) -> ExchangeableGaussian:
    """The least mu-GDP noise for changes with o = `across` and p = `along`; see the module."""
    others = math.prod(shape) - 1
    if others == 0:
        return ExchangeableGaussian(shape=shape, own_std=math.sqrt(along) / mu, common_std=0.0)
    scale = (math.sqrt(across * others) + math.sqrt(along)) / mu**2
    low, high = math.sqrt(across / others) * scale, math.sqrt(along) * scale
    # Never negative for counts and votes; rounding may say otherwise where both are one.
    common = max(high - low, 0.0) / (others + 1)
    return ExchangeableGaussian(shape=shape, own_std=math.sqrt(low), common_std=math.sqrt(common))


def worst_of_all(size: int) -> float:
    """(M + sqrt M) / 2: how many of M counts change in the worst case, where any number may.

    At this number w the noise for w alone, with o = w - w^2 / M and p = w^2 / M, has its largest
    mu at w among all real numbers: it serves every other number too. In units of 1 / mu^2 it has
    own variance sqrt(M) (sqrt(M) + 1) / 4 and common variance (sqrt(M) + 1) / 4.
    """
    return (size + math.sqrt(size)) / 2


def for_counts(query: Query, mu: float, count: float) -> ExchangeableGaussian:
    """The least noise for changes of `count` elements, a real number from 1 to M, by one width."""
    size, width = query.size, query.linf_sensitivity
    along = count**2 / size
    return best_ellipse(query.shape, mu, width**2 * (count - along), width**2 * along)


class CorrelatedGaussian(AdditiveMechanism):
    """Variance (sqrt(M) + 1)^2 / (4 mu^2) on every count, where independent noise has M / mu^2.

    Any number of the counts may change. The published noise is mu-GDP for changes in [0, 1]^M; if
    (M + sqrt M) / 2 is not an integer its true mu over whole counts is slightly smaller.
    """

    key = "correlated-gaussian"
    title = "Correlated Gaussian"
    paper = "Lebeda 2024"
    theorem = "arXiv:2408.06853, common and independent noise for counting queries"
    guarantee = "approximate"
    look = ("#1F77B4", "P", 36)

    @classmethod
    def noise_for(cls, query: Query, budget: Budget):
        require_delta(budget)
        if query.structure != "counts":
            raise Unsupported(
                "needs structure 'counts': one record adds linf_sensitivity to some elements"
            )
        mu = float(mu_for(budget.epsilon, budget.delta))
        return for_counts(query, mu, worst_of_all(query.size))


class EllipticGaussian(AdditiveMechanism):
    """Elliptic Gaussian noise for sums, counts and votes, the least for what may change.

    - counts, of which k at most change: in the worst case k counts change or `worst_of_all`,
      whichever is less; with k = M it is the correlated Gaussian, with k = 1 independent noise.
      Where `worst_of_all` is less than k and no whole number, it is the least for changes in
      [0, 1]^M, and whole counts need slightly less: 2% of the variance at M = 5;
    - votes: every change has the same norm and the same sum;
    - any other query is a sum: signs may turn, no correlation helps, and the noise is independent.
    """

    key = "elliptic-gaussian"
    title = "Elliptic Gaussian"
    paper = "Joseph and Yu 2024"
    theorem = "arXiv:2309.15790, elliptic Gaussian noise for sum, count and vote"
    guarantee = "approximate"
    look = ("#5DA5DA", "X", 37)

    @classmethod
    def noise_for(cls, query: Query, budget: Budget):
        require_delta(budget)
        mu = float(mu_for(budget.epsilon, budget.delta))
        if query.structure == "counts":
            return for_counts(query, mu, min(query.most_counts, worst_of_all(query.size)))
        if query.structure == "votes":
            along = query.l1_sensitivity**2 / query.size
            return best_ellipse(query.shape, mu, query.l2_sensitivity**2 - along, along)
        return IndependentGaussian(shape=query.shape, sigma=query.reach / mu)
