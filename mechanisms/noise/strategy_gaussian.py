"""Gaussian noise on the measurements of a strategy, seen in the least-squares cells."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from mechanisms.contract.query import Query
from mechanisms.noise.distribution import Noise, checked_dtype
from mechanisms.noise.loss_moments import LossMoments
from mechanisms.profiles.gaussian_profile import GaussianProfile
from mechanisms.strategies.optimal_strategy import Strategy

# sqrt(2) l2 and l1 that are computed apart differ by rounding.
_SLACK = 1 + 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class StrategyGaussian(Noise):
    """A^+ b with b i.i.d. N(0, sigma^2): covariance sigma^2 X^-1, X the product of the grams.

    Args:
        shape: Axes of the answer; its cells are flattened in C order.
        sigma: Standard deviation of each measurement's noise.
        strategies: Factors of the Kronecker product A = A_1 x ... x A_d, whose sizes multiply to
            the number of cells. Nothing larger than one factor is formed.
    """

    shape: tuple[int, ...]
    sigma: float
    strategies: tuple[Strategy, ...]

    def sample(self, rng, trials, dtype=np.float64):
        dtype = checked_dtype(dtype)
        sizes = [len(strategy.gram) for strategy in self.strategies]
        draws = rng.standard_normal((trials, *sizes), dtype)
        for strategy in self.strategies:
            values, vectors = strategy.spectrum
            root = (vectors / np.sqrt(values)).astype(dtype)
            # The first axis of cells is consumed and comes back last: d turns restore the order.
            draws = np.tensordot(draws, root, axes=(1, 1))
        draws *= draws.dtype.type(self.sigma)
        return draws.reshape(trials, *self.shape)

    def loss(self):
        # L is a sum of sigma^2 / lambda times independent chi-squared variables.
        powers = ((k, self._product(lambda x, k=k: np.sum(x**-k))) for k in (1.0, 2.0, 3.0, 4.0))
        return LossMoments(
            tuple(2 ** (k - 1) * math.gamma(k) * self.sigma ** (2 * k) * s for k, s in powers)
        )

    def scaled(self, factor):
        return replace(self, sigma=self.sigma * factor)

    def parameters(self):
        """sigma, and the least and largest standard deviation along any direction of x."""
        return {
            "sigma": self.sigma,
            "sigma_min": self.sigma / math.sqrt(self._product(np.max)),
            "sigma_max": self.sigma / math.sqrt(self._product(np.min)),
        }

    def profile(self, query):
        return GaussianProfile(mu=strategy_sensitivity(query, self.strategies) / self.sigma)

    def slack(self, query):
        return strategy_slack(query)

    def workload_variance(self, factors):
        """sigma^2 tr(V X^-1), if there is one factor of V for each of X."""
        sizes = [len(strategy.gram) for strategy in self.strategies]
        if [factor.cells for factor in factors] != sizes:
            return None
        traces = []
        for factor, strategy in zip(factors, self.strategies, strict=True):
            values, vectors = strategy.spectrum
            traces.append(np.sum(np.vecdot(vectors, factor.gram() @ vectors, axis=0) / values))
        return self.sigma**2 * float(np.prod(traces))

    def _product(self, of) -> float:
        return math.prod(float(of(strategy.spectrum[0])) for strategy in self.strategies)


def strategy_sensitivity(query: Query, strategies: tuple[Strategy, ...]) -> float:
    """sup ||A D||_2 over the neighbours of a histogram, for A with unit columns, X = A^T A.

    The query's sensitivities decide which D are possible:

    - l1_sensitivity <= l2_sensitivity: all that one person adds or removes may lie in one cell,
      ||D||_1 <= l1. The supremum is l1 times the largest column norm, l1.
    - adjacency "replace" and l1_sensitivity = sqrt(2) l2_sensitivity: a record moves from cell j
      to cell i, D = (l1 / 2) (e_i - e_j), or several do with l1 / 2 in all. The supremum is
      (l1 / 2) max sqrt(X_ii + X_jj - 2 X_ij) = (l1 / 2) sqrt(2 - 2 min X_ij).
    - Otherwise the whole ball ||D||_2 <= `Query.reach`, times the root of the largest eigenvalue of
      X. Other constraints of the query are ignored, so that this may be too large: see
      `strategy_slack`.
    """
    if _one_cell(query):
        return query.l1_sensitivity
    if _one_move(query):
        return query.l1_sensitivity / 2 * math.sqrt(2 - 2 * _least_entry(strategies))
    return query.reach * math.sqrt(math.prod(float(s.spectrum[0][-1]) for s in strategies))


def strategy_slack(query: Query) -> str | None:
    """Why `strategy_sensitivity` is only an upper bound, or None if it is attained."""
    l1, l2, linf = query.l1_sensitivity, query.l2_sensitivity, query.linf_sensitivity
    if _one_cell(query):
        cut = linf is not None and linf * _SLACK < l1
    elif _one_move(query):
        cut = False
    else:
        box = linf is not None and linf * _SLACK < l2
        diamond = l1 is not None and l1 * _SLACK < l2 * math.sqrt(query.size)
        cut = box or diamond or query.structure is not None
    if cut:
        return (
            "the profile of a strategy covers the whole l2 ball, and the query excludes part of it"
        )
    return None


def _one_cell(query: Query) -> bool:
    return query.l1_sensitivity is not None and (
        query.l1_sensitivity <= query.l2_sensitivity * _SLACK
    )


def _one_move(query: Query) -> bool:
    l1, l2, linf = query.l1_sensitivity, query.l2_sensitivity, query.linf_sensitivity
    if l1 is None or query.adjacency != "replace" or query.size == 1:
        return False
    # A rounded sqrt(2), typed by hand, counts.
    moves = math.isclose(l1, math.sqrt(2) * l2, rel_tol=1e-4)
    return moves and (linf is None or linf * _SLACK >= l1 / 2)


def _least_entry(strategies: tuple[Strategy, ...]) -> float:
    """The least entry of a Kronecker product, from the extreme entries of its factors."""

    def combined(low_high, strategy):
        products = np.outer(low_high, (strategy.gram.min(), strategy.gram.max()))
        return float(products.min()), float(products.max())

    return reduce(combined, strategies, (1.0, 1.0))[0]
