"""The matrix mechanism under pure differential privacy: Laplace noise on a strategy."""

import math
from functools import lru_cache

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.base.public_information import WORKLOAD
from mechanisms.catalogue.laplace import Laplace
from mechanisms.noise.strategy_laplace import StrategyLaplace
from mechanisms.query.query import Budget, Query
from mechanisms.strategies.p_identity import LARGEST_SIZE, PIdentity, search
from mechanisms.strategies.workload import Identity, Workload
from mechanisms.strategies.workload_options import WORKLOAD_OPTIONS, require_size, workload_factors


class MatrixMechanismL1(AdditiveMechanism):
    """A pure-DP estimate of a histogram x that answers a workload with little variance.

    A local search finds a p-identity strategy A with ||A||_1 = 1, see `strategies.p_identity`.
    A x + b is measured with i.i.d. Laplace b of scale l1_sensitivity / epsilon, and x + A^+ b is
    released, which is unbiased. Pure epsilon-DP under the adjacency of the query's l1 sensitivity,
    which by the triangle inequality bounds the l1 change of A x. `optimality` bounds how far the
    variance is from the least of any strategy.

    Workloads have the names of `matrix-mechanism`. The identity, which is the default, and every
    workload for which the search finds nothing better give plain Laplace noise. For all others the
    profile is that of the measurements, an upper bound; where one record changes one cell and
    `attained_share` is 1 its epsilon is exact, and the exact calibration exists at delta = 0 alone.
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
        """tr(W^T W (A^T A)^-1) over a lower bound of it for all A with ||A||_1 = 1; at least 1."""
        factors = workload_factors(self.query, **self.settings)
        if all(isinstance(factor, Identity) for factor in factors):
            return 1.0
        strategies = (_strategy(factor) for factor in factors)
        return math.prod(strategy.error / strategy.lower_bound for strategy in strategies)


# All budgets of one workload share one search.
@lru_cache(maxsize=8)
def _strategy(workload: Workload) -> PIdentity:
    require_size(workload, LARGEST_SIZE)
    return search(workload.gram())
