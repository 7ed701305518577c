"""Laplace noise on the measurements of a strategy, seen in the least-squares cells."""

import math
from dataclasses import dataclass

import numpy as np

from mechanisms.noise.distribution import MEASURED, Noise
from mechanisms.noise.laplace_noise import IndependentLaplace
from mechanisms.noise.loss_moments import LossMoments, quadratic_form_cumulants
from mechanisms.privacy.bounded_profile import BoundedProfile
from mechanisms.privacy.laplace_profile import laplace_profile
from mechanisms.query.query import concentrated
from mechanisms.strategies.p_identity import PIdentity


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
        """2 scale^2 tr(V (A^T A)^-1), if there is one factor of V for each of A."""
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

    def parameters(self):
        measurements = math.prod(strategy.measurements for strategy in self.strategies)
        return {"b": self.scale, "measurements": float(measurements)}

    def profile(self, query):
        """The profile of the measurements from above: the released cells are a function of them.

        The query must state its l1 sensitivity.

        Every column of A has l1 norm 1 and no entry above some w: the measurements of one cell that
        changes by l1_sensitivity are no worse than changes by w times it, as many as its l1 norm
        allows (see `LaplaceProfile`). Where `attained_share` is 1 their largest loss is attained.
        """
        largest = math.prod(float(strategy.matrix().max()) for strategy in self.strategies)
        measurements = math.prod(strategy.measurements for strategy in self.strategies)
        shifts = concentrated(query.l1_sensitivity, query.l1_sensitivity * largest, measurements)
        share = math.prod(strategy.attained_share for strategy in self.strategies)
        return BoundedProfile(
            above=laplace_profile(shifts, self.scale),
            attained_loss=query.change_of_one * share / self.scale,
            slack=MEASURED,
        )
