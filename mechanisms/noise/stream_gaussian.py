"""Gaussian noise on a stream, correlated from step to step by a factorisation."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mechanisms.noise.distribution import Noise, attained_reach, checked_dtype
from mechanisms.noise.loss_moments import LossMoments
from mechanisms.privacy.gaussian_profile import gaussian_between
from mechanisms.query.query import Unsupported
from mechanisms.query.supremum import Supremum
from mechanisms.strategies.streams.factorisation import Factorisation
from mechanisms.strategies.streams.participation import Participation

# Steps up to which the moments of the loss are computed: products of (n, n) arrays.
LARGEST_MOMENTS = 4096


@dataclass(frozen=True, kw_only=True, eq=False)
class StreamGaussian(Noise):
    """sigma C^-1 z on each row of an answer (d, n), z i.i.d. N(0, 1); steps are columns.

    Args:
        shape: (d, n).
        sigma: Standard deviation of the noise on each element of C x.
        factorisation: C, over n steps.
        participation: How often, and how far apart, one person changes a column.
    """

    shape: tuple[int, int]
    sigma: float
    factorisation: Factorisation
    participation: Participation

    @cached_property
    def sensitivity(self) -> Supremum:
        """How far one person moves C x, in units of the largest change of a column."""
        return self.factorisation.sensitivity(self.participation)

    def sample(self, rng, trials, dtype=np.float64):
        draws = rng.standard_normal((trials, *self.shape), checked_dtype(dtype))
        draws = self.factorisation.correlated(draws)
        draws *= draws.dtype.type(self.sigma)
        return draws

    def stepwise(self, rng: np.random.Generator, size: int) -> Iterator[np.ndarray]:
        """The noise of n steps, one after the other, on vectors (size,) of float32.

        It has the distribution of `sample` on `size` rows, and holds `factorisation.memory` vectors
        at once. What one person moves by at most 1 in l2 may be the whole vector of a step: the
        sensitivity is that of one row.
        """
        draws = (rng.standard_normal(size, np.float32) for _ in range(self.shape[1]))
        for correlated in self.factorisation.stepwise(draws):
            yield correlated * np.float32(self.sigma)

    def loss(self):
        if self.shape[1] > LARGEST_MOMENTS:
            raise Unsupported(
                f"computes the moments of its noise up to {LARGEST_MOMENTS} steps, got "
                f"{self.shape[1]}"
            )
        return LossMoments(
            tuple(
                2 ** (k - 1) * math.factorial(k - 1) * self.shape[0] * self.sigma ** (2 * k) * trace
                for k, trace in enumerate(self.factorisation.power_traces, 1)
            )
        )

    def _scaled(self, factor):
        return replace(self, sigma=self.sigma * factor)

    def parameters(self):
        return {"sigma": self.sigma}

    def profile(self, query):
        """One person changes columns as the participation says, each by one of the query's changes.

        All of them by the same vector or its opposite: the columns of C D then add up as those of
        C do, with these signs.
        """
        return gaussian_between(
            self.sensitivity.lower * attained_reach(query) / self.sigma,
            self.sensitivity.upper * query.reach / self.sigma,
        )

    def slack(self, query):
        if self.sensitivity.exact:
            return None
        return "the sensitivity under its participation is known between bounds only"
