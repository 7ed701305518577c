"""The error of least-squares cells under Gaussian or Laplace noise on a strategy's measurements."""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from mechanisms.noise.distribution import MEASURED, Noise
from mechanisms.noise.laplace_noise import IndependentLaplace
from mechanisms.noise.loss_moments import LossMoments, quadratic_form_cumulants
from mechanisms.privacy.bounded_profile import BoundedProfile
from mechanisms.privacy.gaussian_profile import gaussian_between
from mechanisms.privacy.laplace_profile import laplace_profile
from mechanisms.query.query import Query, concentrated
from mechanisms.query.supremum import Supremum, best_bounds
from mechanisms.strategies.optimal_strategy import Strategy
from mechanisms.strategies.p_identity import PIdentity


@dataclass(frozen=True, kw_only=True, eq=False)
class StrategyGaussian(Noise):
    """Noise A^+ b with b i.i.d. N(0, sigma^2): its covariance is sigma^2 X^-1 with X = A^T A.

    Args:
        shape: Axes of the answer; its cells are flattened in C order.
        sigma: Standard deviation of each measurement's noise.
        strategies: Factors of the Kronecker product A = A_1 x ... x A_d, whose sizes multiply to
            the number of cells. Nothing larger than one factor is formed.
    """

    shape: tuple[int, ...]
    sigma: float
    strategies: tuple[Strategy, ...]

    scale_field = "sigma"

    def sample(self, rng, trials, dtype=np.float64):
        sizes = [len(strategy.gram) for strategy in self.strategies]
        draws = rng.standard_normal((trials, *sizes), dtype)
        for strategy in self.strategies:
            values, vectors = strategy.spectrum
            root = (vectors / np.sqrt(values)).astype(dtype)
            # Each product moves the first axis of cells to the end: d products restore the order.
            draws = np.tensordot(draws, root, axes=(1, 1))
        draws *= draws.dtype.type(self.sigma)
        return draws.reshape(trials, *self.shape)

    def loss(self):
        # L sums sigma^2 / lambda times a chi-squared variable over the eigenvalues lambda of X.
        powers = ((k, self._product(lambda x, k=k: np.sum(x**-k))) for k in (1.0, 2.0, 3.0, 4.0))
        return LossMoments(
            tuple(2 ** (k - 1) * math.gamma(k) * self.sigma ** (2 * k) * s for k, s in powers)
        )

    def parameters(self):
        """Return sigma, and the least and largest standard deviation along any direction of x."""
        return {
            "sigma": self.sigma,
            "sigma_min": self.sigma / math.sqrt(self._product(np.max)),
            "sigma_max": self.sigma / math.sqrt(self._product(np.min)),
        }

    def profile(self, query):
        bounds = sensitivity_bounds(query, self.strategies)
        return gaussian_between(
            bounds.lower / self.sigma,
            bounds.upper / self.sigma,
            "the query excludes the worst change of the l2 ball, which the profile covers",
        )

    def workload_variance(self, factors):
        """Return sigma^2 tr(V X^-1) for V = W^T W, or None if the factors do not match."""
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


def sensitivity_bounds(query: Query, strategies: tuple[Strategy, ...]) -> Supremum:
    """Bound sup ||A D||_2 over the changes D, for A with unit columns and X = A^T A.

    The bounds are equal if the supremum is known.

    - For a histogram (Query.structure) it is known: D = +-B e_i gives B, and D = B (e_i - e_j)
      gives B max sqrt(X_ii + X_jj - 2 X_ij) = B sqrt(2 - 2 min X_ij).
    - Otherwise there are two upper bounds. The first is `Query.reach` times the root of the largest
      eigenvalue of X, which the eigenvector attains. The second is l1_sensitivity, because a convex
      function on the l1 ball is largest at a vertex, the change of one cell. These two changes,
      scaled to keep the query's sensitivities, give lower bounds; the eigenvector only if all
      elements may change freely.
    """
    if query.structure == "histogram":
        share = 1.0 if query.adjacency == "add-remove" else 2 - 2 * _least_entry(strategies)
        exact = query.record_bound * math.sqrt(share)
        return Supremum(exact, exact)
    one_cell = query.change_of_one
    if query.l1_sensitivity == one_cell:
        return Supremum(one_cell, one_cell)
    values, vectors = zip(*(strategy.spectrum for strategy in strategies), strict=True)
    largest = math.sqrt(math.prod(float(value[-1]) for value in values))
    upper = [query.reach * largest, query.l1_sensitivity or math.inf]
    if query.gram_change is not None or query.one_column:
        return best_bounds([one_cell], upper)
    # The norms of a Kronecker product are the products of those of its factors.
    worst = [np.abs(vector[:, -1]) for vector in vectors]
    total, highest = math.prod(v.sum() for v in worst), math.prod(v.max() for v in worst)
    share = query.largest_multiple(l2=1.0, l1=total, linf=highest)
    return best_bounds([share * largest, one_cell], upper)


def _least_entry(strategies: tuple[Strategy, ...]) -> float:
    """Return the least entry of the Kronecker product of the grams, from their extreme entries."""
    extremes = ((float(each.gram.min()), float(each.gram.max())) for each in strategies)
    return min(math.prod(entries) for entries in itertools.product(*extremes))


@dataclass(frozen=True, kw_only=True, eq=False)
class StrategyLaplace(Noise):
    """Noise A^+ b with b i.i.d. Laplace: the error of the least-squares cells.

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
        # L = b^T G b, where G is the Kronecker product of (A_k^+)^T A_k^+ over the factors A_k.
        estimators = (
            strategy.estimate(np.eye(strategy.measurements)) for strategy in self.strategies
        )
        cumulants = quadratic_form_cumulants(*(each @ each.T for each in estimators))
        return LossMoments(tuple((cumulants * self.scale ** np.arange(2, 10, 2)).tolist()))

    def mean_loss(self) -> float:
        """Return E L = 2 scale^2 tr((A^T A)^-1)."""
        return (
            2
            * self.scale**2
            * math.prod(float(np.trace(strategy.inverse_gram())) for strategy in self.strategies)
        )

    def workload_variance(self, factors):
        """Return 2 scale^2 tr(V (A^T A)^-1) for V = W^T W, or None if the factors do not match."""
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
        """Return the profile of the measurements, an upper bound: the cells are computed from them.

        The query must state l1_sensitivity.

        Every column of A has l1 norm 1 and entries of at most some w. So the change of the
        measurements has at most the l1 norm l1_sensitivity, and elements of at most
        w l1_sensitivity. The most concentrated such change is the worst (see `LaplaceProfile`). Its
        largest loss is attained if one cell can change by l1_sensitivity and `attained_share` is 1.
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
