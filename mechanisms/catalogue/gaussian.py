"""Independent Gaussian noise: the classic, the analytic and the per-element calibrations."""

import math

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.noise.gaussian_noise import IndependentGaussian
from mechanisms.privacy.gaussian_profile import mu_for
from mechanisms.query.query import Budget, Query


def classic_multiplier(budget: Budget) -> float:
    """Return sigma / s = sqrt(2 ln(1.25 / delta)) / epsilon (Dwork and Roth 2014, p. 261)."""
    return math.sqrt(2 * math.log(1.25 / budget.delta)) / budget.epsilon


class ClassicGaussian(AdditiveMechanism):
    """Gaussian noise of sigma = s sqrt(2 ln(1.25 / delta)) / epsilon."""

    key = "gaussian"
    title = "Classic Gaussian"
    paper = "Dwork and Roth 2014"
    theorem = "Appendix A, p. 261; r1smg2024 Theorem 1"
    guarantee = "approximate"
    look = ("#E69F00", "^", 2)

    @classmethod
    def limit(cls, query, budget):
        if budget.epsilon >= 1:
            return f"the theorem is proved for epsilon < 1 only; epsilon is {budget.epsilon:g}"
        return None

    @classmethod
    def noise_for(cls, query: Query, budget: Budget):
        sigma = query.l2_sensitivity * classic_multiplier(budget)
        return IndependentGaussian(shape=query.shape, sigma=sigma)


class AnalyticGaussian(AdditiveMechanism):
    """sigma = s / mu for the mu with delta_mu(epsilon) = delta: the least i.i.d. Gaussian noise."""

    key = "gaussian-analytic"
    title = "Analytic Gaussian"
    paper = "Balle and Wang 2018"
    theorem = "Theorem 8; r1smg2024 Theorem 2"
    guarantee = "approximate"
    look = ("#0072B2", "s", 3)

    @classmethod
    def noise_for(cls, query: Query, budget: Budget):
        sigma = query.l2_sensitivity / float(mu_for(budget.epsilon, budget.delta))
        return IndependentGaussian(shape=query.shape, sigma=sigma)


class PerElementGaussian(AdditiveMechanism):
    """The classic Gaussian on each of the M elements with (epsilon / M, delta / M).

    The claim follows by basic composition over the elements, as in mgm2021 (Section 8.2). One
    element changes by at most c = linf_sensitivity if the query states it, otherwise by at most
    c = l2_sensitivity. The expected loss is 2 M^3 c^2 ln(1.25 M / delta) / epsilon^2.
    """

    key = "gaussian-per-element"
    title = "Gaussian per element"
    paper = "mgm2021"
    theorem = "Section 8.2, basic composition over the elements"
    guarantee = "approximate"
    look = ("#999933", "p", 4)

    @classmethod
    def limit(cls, query, budget):
        if budget.epsilon / query.size >= 1:
            return f"the theorem is proved for epsilon / M < 1 only; epsilon is {budget.epsilon:g}"
        return None

    @classmethod
    def noise_for(cls, query: Query, budget: Budget):
        parts = query.size
        share = Budget.of_part(epsilon=budget.epsilon / parts, delta=budget.delta / parts)
        sensitivity = query.linf_sensitivity or query.l2_sensitivity
        sigma = sensitivity * classic_multiplier(share)
        return IndependentGaussian(shape=query.shape, sigma=sigma)
