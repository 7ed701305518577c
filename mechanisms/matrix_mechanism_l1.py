"""The matrix mechanism under pure differential privacy: Laplace noise on a strategy."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from mechanisms.contract.mechanism import AdditiveMechanism
from mechanisms.contract.query import Budget, Query
from mechanisms.laplace import Laplace
from mechanisms.noise.distribution import Noise
from mechanisms.noise.laplace_noise import IndependentLaplace
from mechanisms.noise.loss_moments import LossMoments, quadratic_form_cumulants
from mechanisms.profiles.post_processing import PostProcessedProfile
from mechanisms.profiles.product_profiles import LaplaceProfile
from mechanisms.strategies.p_identity import PIdentity, require_size, search
from mechanisms.strategies.workload import Identity, Workload
from mechanisms.strategies.workload_options import WORKLOAD_OPTIONS, workload_factors


@dataclass(frozen=True, kw_only=True, eq=False)
class StrategyLaplace(Noise):
    """A^+ b with b i.i.d. Laplace: the error of the least-squares cells.

    Args:
        shape: Axes of the answer; its cells are flattened in C order.
        scale: Scale of each measurement's noise (variance 2 scale^2).
        strategies: Factors of the Kronecker product A = A_1 x ... x A_d, whose cells multiply to
            those of the answer. Nothing larger than one factor is formed.
    """

    shape: tuple[int, ...]
    scale: float
    strategies: tuple[PIdentity, ...]

    def sample(self, rng, trials, dtype=np.float64):
        measured = IndependentLaplace(
            shape=tuple(strategy.measurements for strategy in self.strategies), scale=self.scale
        )
        draws = measured.sample(rng, trials, dtype)
        for axis, strategy in enumerate(self.strategies, 1):
            draws = np.moveaxis(strategy.estimate(np.moveaxis(draws, axis, -1)), -1, axis)
        return draws.reshape(trials, *self.shape)

    def loss(self):
        # L = b^T G b, G the Kronecker product of the factors' (A^+)^T A^+.
        estimators = (
            strategy.estimate(np.eye(strategy.measurements)) for strategy in self.strategies
        )
        cumulants = quadratic_form_cumulants(*(each @ each.T for each in estimators))
        return LossMoments(tuple(float(k) for k in cumulants * self.scale ** np.arange(2, 10, 2)))

    def mean_loss(self) -> float:
        """E L = 2 scale^2 tr((A^T A)^-1)."""
        return (
            2
            * self.scale**2
            * math.prod(float(np.trace(strategy.inverse_gram())) for strategy in self.strategies)
        )

    def workload_variance(self, factors):
        """2 scale^2 tr(V (A^T A)^-1), where there is one factor of V for each of A."""
        if [factor.cells for factor in factors] != [s.cells for s in self.strategies]:
            return None
        return (
            2
            * self.scale**2
            * math.prod(
                float(np.sum(factor.gram() * strategy.inverse_gram()))
                for factor, strategy in zip(factors, self.strategies, strict=True)
            )
        )

    def scaled(self, factor):
        return replace(self, scale=self.scale * factor)

    def parameters(self):
        measurements = math.prod(strategy.measurements for strategy in self.strategies)
        return {"b": self.scale, "measurements": float(measurements)}

    def profile(self, query):
        """That of the measurements, whose l1 sensitivity is the query's as ||A||_1 = 1."""
        if query.l1_sensitivity is None:
            return None
        measured = LaplaceProfile(l1_sensitivity=query.l1_sensitivity, scale=self.scale)
        return PostProcessedProfile(measured=measured)

    def slack(self, query):
        return "the estimate may reveal less than the measurements it is made of"


class MatrixMechanismL1(AdditiveMechanism):
    """An estimate of a histogram x that answers a workload with little variance, purely private.

    A p-identity strategy A with ||A||_1 = 1 is searched for (see `_p_identity`); A x + b is
    measured with i.i.d. Laplace b of scale l1_sensitivity / epsilon and x + A^+ b released, which
    is without bias. Pure epsilon-DP under the adjacency of the query's l1 sensitivity: by the
    triangle inequality A x moves by no more than it. The search is a local one: `optimality` says
    how far the variance is at most from the least of any strategy.

    Workloads are named as for `matrix-mechanism`; the default, the identity, and every workload
    for which nothing better than the cells is found give plain Laplace noise. At the exact calibration
    that noise alone is served: elsewhere the profile is an upper bound, that of the measurements.
    """

    key = "matrix-mechanism-l1"
    title = "Matrix mechanism (Laplace)"
    paper = "McKenna et al. 2018"
    theorem = "OPT_0 strategies, Laplace mechanism"
    guarantee = "pure"
    options = WORKLOAD_OPTIONS

    @classmethod
    def noise_for(cls, query: Query, budget: Budget, **settings):
        independent = Laplace.noise_for(query, budget)
        factors = workload_factors(query, **settings)
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

    def expected_workload_error(self) -> float:
        """E||W n||^2 = 2 scale^2 tr(W^T W (A^T A)^-1), the total squared error of the workload."""
        return self.noise.workload_variance(workload_factors(self.query, **self.settings))

    def optimality(self) -> float:
        """tr(W^T W (A^T A)^-1) over the bound below which no A with ||A||_1 = 1 gets, >= 1."""
        factors = workload_factors(self.query, **self.settings)
        if all(isinstance(factor, Identity) for factor in factors):
            return 1.0
        strategies = (_strategy(factor) for factor in factors)
        return math.prod(strategy.error / strategy.lower_bound for strategy in strategies)


# One calibration per epsilon, delta and calibration shares one search.
@lru_cache(maxsize=8)
def _strategy(workload: Workload) -> PIdentity:
    require_size(workload.cells)
    return search(workload.gram())
