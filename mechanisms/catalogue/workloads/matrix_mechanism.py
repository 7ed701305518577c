"""The matrix mechanisms: Gaussian or Laplace noise on a histogram, shaped for its workload."""

import math
from functools import lru_cache

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.base.public_information import WORKLOAD
from mechanisms.catalogue.gaussian import ClassicGaussian, classic_multiplier
from mechanisms.catalogue.laplace import Laplace
from mechanisms.noise.gaussian_noise import IndependentGaussian
from mechanisms.noise.strategy_noise import StrategyGaussian, StrategyLaplace, sensitivity_bounds
from mechanisms.query.query import Budget, Query
from mechanisms.strategies import p_identity
from mechanisms.strategies.optimal_strategy import (
    Strategy,
    optimal_strategy,
    require_sdp_size,
    require_size,
    sdp_strategy,
)
from mechanisms.strategies.workload import Identity, Workload
from mechanisms.strategies.workload_options import WORKLOAD_OPTIONS, workload_factors


class MatrixMechanism(AdditiveMechanism):
    """An estimate of a histogram x whose answers to a workload W have little total variance.

    The strategy A minimises tr(W^T W (A^T A)^-1) among those with columns of l2 norm 1. A x + b is
    measured with i.i.d. Gaussian b of sigma = sup ||A D||_2 sqrt(2 ln(1.25 / delta)) / epsilon, and
    x + A^+ b is released. W times the release is unbiased, and its total variance is the least that
    any A gives if one record changes one cell. `sensitivity_bounds` has the supremum over the
    changes D. Under replace, give a histogram the structure "histogram"; otherwise the noise covers
    the whole l2 ball.

    The constant 1.25 is that of the classic Gaussian (Dwork and Roth 2014). The literature also
    uses ln(2 / delta) for the matrix mechanism; which of the two Li et al. 2015 state was not
    checked. 2 in place of 1.25 would increase sigma by 1.7% at delta = 1e-6. The exact calibration
    depends on neither.

    A named workload applies along every axis of the histogram: "prefix" on a matrix asks for all
    rectangles from the corner. The default is the identity, for which A = I and the noise is
    i.i.d., so its expected loss compares with that of every other mechanism. For any other workload
    compare the error of W x (`noise.workload_variance`), not E||n||^2.
    """

    key = "matrix-mechanism"
    title = "Matrix mechanism"
    paper = "Li et al. 2015"
    theorem = "the (epsilon, delta)-matrix mechanism, with the classic Gaussian's sigma"
    guarantee = "approximate"
    look = ("#661100", "+", 21)
    options = WORKLOAD_OPTIONS
    public_information = {"workload": WORKLOAD}

    limit = ClassicGaussian.limit

    @classmethod
    def noise_for(cls, query: Query, budget: Budget, *, workload):
        factors = workload_factors(query, workload=workload)
        multiplier = classic_multiplier(budget)
        if all(isinstance(factor, Identity) for factor in factors):
            # X = I in closed form, whatever the size.
            sigma = query.l2_sensitivity * multiplier
            return IndependentGaussian(shape=query.shape, sigma=sigma)
        strategies = tuple(cls.strategy(factor) for factor in factors)
        sigma = sensitivity_bounds(query, strategies).upper * multiplier
        return StrategyGaussian(shape=query.shape, sigma=sigma, strategies=strategies)

    # All budgets and both calibrations of one workload share one optimisation.
    @staticmethod
    @lru_cache(maxsize=8)
    def strategy(workload: Workload) -> Strategy:
        """Return the optimal strategy for one factor; raise Unsupported above 2048 cells."""
        require_size(workload.cells)
        return optimal_strategy(workload.gram())

    def optimality_gap(self) -> float:
        """Return a bound on tr(W^T W X^-1) over its least value, minus 1, for X = A^T A."""
        strategies = getattr(self.noise, "strategies", ())
        return math.prod(1 + strategy.gap for strategy in strategies) - 1


class MatrixMechanismCVXPY(MatrixMechanism):
    """The matrix mechanism with a general convex solver: an oracle for `matrix-mechanism`."""

    key = "matrix-mechanism-cvxpy"
    title = "Matrix mechanism (CVXPY)"
    look = ("#DDCC77", "4", 22)

    @staticmethod
    @lru_cache(maxsize=8)
    def strategy(workload: Workload) -> Strategy:
        """Return the optimal strategy for one factor; raise Unsupported above 64 cells."""
        require_sdp_size(workload.cells)
        return sdp_strategy(workload.gram())


class MatrixMechanismL1(AdditiveMechanism):
    """A pure-DP estimate of a histogram x that answers a workload with little variance.

    A local search finds a p-identity strategy A with ||A||_1 = 1, see `strategies.p_identity`.
    A x + b is measured with i.i.d. Laplace b of scale l1_sensitivity / epsilon, and x + A^+ b is
    released, which is unbiased. This is pure epsilon-DP under the adjacency of the query's l1
    sensitivity, which by the triangle inequality bounds the l1 change of A x. `optimality` bounds
    how far the variance is from the least of any strategy.

    Workloads have the names of `matrix-mechanism`. The identity, which is the default, and every
    workload for which the search finds nothing better give plain Laplace noise. For all others the
    profile is that of the measurements, an upper bound. If one record changes one cell and
    `attained_share` is 1, its epsilon(0) is exact, and the exact calibration exists at delta = 0
    alone.
    """

    key = "matrix-mechanism-l1"
    title = "Matrix mechanism (Laplace)"
    paper = "McKenna et al. 2018"
    theorem = "OPT_0 strategies, Laplace mechanism"
    guarantee = "pure"
    look = ("#994455", "1", 23)
    options = WORKLOAD_OPTIONS
    public_information = {"workload": WORKLOAD}

    @classmethod
    def noise_for(cls, query: Query, budget: Budget, *, workload):
        independent = Laplace.noise_for(query, budget)
        factors = workload_factors(query, workload=workload)
        if all(isinstance(factor, Identity) for factor in factors):
            return independent
        strategies = tuple(_strategy(factor) for factor in factors)
        if all(strategy.is_identity for strategy in strategies):
            return independent
        return StrategyLaplace(shape=query.shape, scale=independent.scale, strategies=strategies)

    def expected_loss(self):
        if isinstance(self.noise, StrategyLaplace):
            return self.noise.mean_loss()
        return super().expected_loss()

    def optimality(self) -> float:
        """Return tr(W^T W (A^T A)^-1) over a lower bound on it for all A with ||A||_1 = 1."""
        factors = workload_factors(self.query, **self.settings)
        if all(isinstance(factor, Identity) for factor in factors):
            return 1.0
        strategies = (_strategy(factor) for factor in factors)
        return math.prod(strategy.error / strategy.lower_bound for strategy in strategies)


# All budgets of one workload share one search.
@lru_cache(maxsize=8)
def _strategy(workload: Workload) -> p_identity.PIdentity:
    p_identity.require_size(workload.cells)
    return p_identity.search(workload.gram())
