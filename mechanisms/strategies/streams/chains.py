"""The steps of one person as a chain, when nothing limits their number but their distance.

One person takes part in steps i_1 < i_2 < ... of n, at least b apart. If X = C^T C has
X_ij = 0 wherever |i - j| >= 2b, only steps that follow each other meet in C D, and

    ||C D||^2 <= sum_l X_{i_l i_l} + 2 sum_l |X_{i_l i_{l+1}}|.

Equal or opposite vectors attain this: along a chain every sign can be chosen. The squared
sensitivity is thus the largest such sum over all chains, exactly, for streams of numbers and of
vectors. It is found from block to block of b steps: a step depends on earlier blocks alone.

A random chain with random signs bounds the squared sensitivity of every X, banded or not, from
below: it is at least <M, X> with M = E[u u^T], where u holds the signs at the steps of the chain.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy

from mechanisms.strategies.streams.participation import Participation


class SignedChains(NamedTuple):
    """A random chain with random signs.

    Args:
        log_sum: log of the sum of the weights of all chains.
        visits: Probability of every step, (n,).
        follows: Probability that step j follows step i at once, (n, n), zero where j - i < b.
        agreement: Mean product of the signs of two such steps, (n, n), in [-1, 1].
    """

    log_sum: float
    visits: np.ndarray
    follows: np.ndarray
    agreement: np.ndarray

    def adjacent(self) -> np.ndarray:
        """M = E[u u^T] of steps that follow each other at once, and zero elsewhere, (n, n)."""
        return _symmetric(self.visits, self.follows * self.agreement)

    def moment(self) -> np.ndarray:
        """M = E[u u^T], (n, n), where the product of signs is independent from step to step."""
        return _symmetric(self.visits, self._reached(self.follows * self.agreement))

    def moment_alike(self) -> np.ndarray:
        """M = E[u u^T], (n, n), where all signs of a chain are equal."""
        return _symmetric(self.visits, self._reached(self.follows))

    def _reached(self, follows: np.ndarray) -> np.ndarray:
        """The sum over all ways from step i to a later step j, (n, n)."""
        visits = np.maximum(self.visits, np.finfo(float).tiny)
        unit = np.eye(len(visits))
        ways = scipy.linalg.solve_triangular(
            unit - follows / visits[:, None], unit, unit_diagonal=True
        )
        return self.visits[:, None] * (ways - unit)


@dataclass(frozen=True, kw_only=True)
class Chains:
    """All chains of n = `steps` steps at least b = `separation` apart."""

    steps: int
    separation: int

    @classmethod
    def holds(cls, steps: int, participation: Participation) -> bool:
        """Whether the number of participations is limited by their distance alone."""
        return participation.times * participation.separation >= steps

    def largest(self, gram: np.ndarray) -> float:
        """The squared sensitivity of X, (n, n), with X_ij = 0 where |i - j| >= 2b."""
        edges = np.where(self._apart, 2 * np.abs(gram), -np.inf)
        return float(self._ending(np.diag(gram), edges, _largest).max())

    def weighted(self, potential: np.ndarray) -> SignedChains:
        """The chain u with probability proportional to exp(sum of potential_ij u_i u_j).

        The sum is over the chain's steps (i = j) and, twice, over those that follow each other.

        Args:
            potential: (n, n), symmetric.
        """
        nodes, twice = np.diag(potential), 2 * potential
        # log cosh: the mean over both signs.
        growth = np.abs(twice) + np.log1p(np.exp(-2 * np.abs(twice))) - np.log(2)
        edges = np.where(self._apart, growth, -np.inf)
        ending = self._ending(nodes, edges, _log_sum)
        starting = self._ending(nodes[::-1], edges[::-1, ::-1].T, _log_sum)[::-1]
        log_sum = float(_log_sum(ending))
        return SignedChains(
            log_sum=log_sum,
            visits=np.exp(ending + starting - nodes - log_sum),
            follows=np.exp(ending[:, None] + edges + starting - log_sum),
            agreement=np.tanh(twice),
        )

    @cached_property
    def _apart(self) -> np.ndarray:
        index = np.arange(self.steps)
        return index - index[:, None] >= self.separation

    def _ending(self, nodes: np.ndarray, edges: np.ndarray, total) -> np.ndarray:
        """The total over all chains that end at a step, for every step, (n,)."""
        ending = nodes.copy()
        for start in range(self.separation, self.steps, self.separation):
            here = slice(start, min(start + self.separation, self.steps))
            through = ending[:start, None] + edges[:start, here]
            # Or the chain starts here.
            alone = np.zeros((1, through.shape[1]))
            ending[here] += total(np.vstack([alone, through]))
        return ending


def _symmetric(diagonal: np.ndarray, above: np.ndarray) -> np.ndarray:
    return above + above.T + np.diag(diagonal)


def _largest(values: np.ndarray) -> np.ndarray:
    return values.max(axis=0)


def _log_sum(values: np.ndarray) -> np.ndarray:
    """log sum exp over the first axis, of which one value at least is finite."""
    largest = values.max(axis=0)
    return largest + np.log(np.exp(values - largest).sum(axis=0))
