"""The Gaussian mixing mechanism: random combinations of the records, calibrated by Renyi DP."""

import math

import scipy

from mechanisms.catalogue.gram.jl import JohnsonLindenstrauss
from mechanisms.query.query import Budget, Query, Unsupported

# The search over the Renyi order alpha is over log(alpha - 1), up to alpha = gamma.
_LEAST_LOG_ORDER = -20.0
# log(gamma - 1) below which gamma less the order has no digits left.
_LEAST_LOG_EXCESS = -7.0


class GaussianSketch(JohnsonLindenstrauss):
    """The release of `JohnsonLindenstrauss` with the w of GaussMix's Renyi accounting.

    w^2 = gamma B^2, with the least gamma for which some order 1 < alpha < gamma has

        r alpha / (2 (alpha - 1)) ln(1 - 1 / gamma) - r / (2 (alpha - 1)) ln(1 - alpha / gamma)
            + (ln(1 / delta) + (alpha - 1) ln(1 - 1 / alpha) - ln(alpha)) / (alpha - 1) <= epsilon.

    The first line is the Renyi divergence of r Gaussian combinations with and without one record
    where the least variance with it is gamma B^2. The published code also spends a part of the
    budget on the least eigenvalue of the data, which lowers w; that part is left out here: w does
    not depend on the data.

    One record is added or removed. The profile, as that of `jl`, is the normal distributions
    indistinguishability spectrum (NDIS; Lu et al., arXiv:2309.01243) of the worst two data sets:
    with S for one and S + x x^T for the other, the rows are normal with these covariances, and all
    that counts of any pair is x^T S^-1 x.
    """

    key = "gaussian-sketch"
    title = "Gaussian sketch"
    paper = "Lev et al. 2025"
    theorem = "arXiv:2505.24603, GaussMix as its published code calibrates"
    look = ("#9467BD", "p", 41)

    @classmethod
    def stated_w(cls, query: Query, budget: Budget, rows: int) -> float:
        if query.adjacency != "add-remove":
            raise Unsupported("needs adjacency add-remove, for which its noise is stated")
        return query.record_bound * math.sqrt(least_gamma(budget, rows))


def stated_epsilon(gamma: float, rows: int, delta: float) -> float:
    """The epsilon that GaussMix states at gamma > 1, at the best order alpha."""

    def at(log_excess: float) -> float:
        excess = math.exp(log_excess)
        order = 1 + excess
        renyi = rows / 2 * (order * math.log1p(-1 / gamma) - math.log1p(-order / gamma))
        tail = -math.log(delta) + excess * math.log(excess / order) - math.log(order)
        return (renyi + tail) / excess

    highest = math.log(gamma - 1) + math.log1p(-1e-12)
    found = scipy.optimize.minimize_scalar(at, bounds=(_LEAST_LOG_ORDER, highest), method="bounded")
    return float(found.fun)


def least_gamma(budget: Budget, rows: int) -> float:
    """The least gamma at which the stated epsilon is the budget's, and no less than 1.0003."""

    def excess(log_above: float) -> float:
        return stated_epsilon(1 + math.exp(log_above), rows, budget.delta) - budget.epsilon

    low = high = math.log(math.sqrt(rows) / budget.epsilon + 1)
    while low > _LEAST_LOG_EXCESS and excess(low) < 0:
        low -= 1.0
    while excess(high) > 0:
        high += 1.0
    if low == high or low <= _LEAST_LOG_EXCESS:
        return 1 + math.exp(low)
    return 1 + math.exp(float(scipy.optimize.brentq(excess, low, high, xtol=1e-12)))
