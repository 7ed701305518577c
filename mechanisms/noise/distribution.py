"""The interface of noise distributions: draws, exact moments, scaling, a privacy profile.

A mechanism chooses the scale of the noise; everything else follows from the distribution.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np

from mechanisms.noise.loss_moments import LossMoments
from mechanisms.privacy.profile import PrivacyProfile, check_positive
from mechanisms.query.query import Query
from mechanisms.strategies.workload import Workload

# Floats that `squared_norms` draws at a time, 64 MiB of float64, unless one draw has more.
CHUNK = 1 << 23
# The slack of a profile if no known change of a Gram matrix attains `Query.reach`.
GRAM_SLACK = "the element box or the l1 ball excludes the worst pair of records"
# The slack of a profile of released cells that is bounded by the profile of the measurements.
MEASURED = "the released cells may reveal less than the measurements they are computed from"


class Noise(ABC):
    """Additive noise of a fixed shape; every subclass is a frozen dataclass.

    Class attributes that a subclass may set:
        symmetric: Whether the noise and its negative have the same distribution, so that its mean
            is zero.
        independent: Whether the elements are independent and identically distributed.
        scale_field: The field that a factor on the noise multiplies.
    """

    shape: tuple[int, ...]

    symmetric: ClassVar[bool] = True
    independent: ClassVar[bool] = False
    scale_field: ClassVar[str] = "scale"

    @property
    def size(self) -> int:
        """M, the number of elements."""
        return math.prod(self.shape)

    @abstractmethod
    def sample(self, rng: np.random.Generator, trials: int, dtype=np.float64) -> np.ndarray:
        """Draw an array (trials, *shape) of float32 or float64."""

    @abstractmethod
    def loss(self) -> LossMoments:
        """Return the exact moments of L = ||n||^2."""

    def scaled(self, factor: float) -> Self:
        """Return the distribution of `factor` times this noise, for a finite factor > 0."""
        check_positive("factor", factor)
        return self._scaled(factor)

    def _scaled(self, factor: float) -> Self:
        """Implement `scaled` for a checked factor."""
        return replace(self, **{self.scale_field: getattr(self, self.scale_field) * factor})

    @abstractmethod
    def parameters(self) -> dict[str, float]:
        """Return the scale parameters by name, the family's own scale first."""

    def profile(self, query: Query) -> PrivacyProfile | None:
        """Return the privacy profile of the worst pair that the query allows, or None if unknown.

        Its bounds contain the worst pair's profile. It is a `BoundedProfile` if the worst pair is
        not known.
        """
        return None

    def squared_norm_survival(self, threshold: np.ndarray) -> np.ndarray | None:
        """Return P(||n||^2 > threshold) elementwise, or None if there is no closed form."""
        return None

    def workload_variance(self, factors: tuple[Workload, ...]) -> float | None:
        """Return E||W n||^2, the total variance of linear queries, or None if it is not computed.

        W is the Kronecker product of `factors`. It has one column for each element of the noise, in
        C order. If the elements are `independent`, the result is tr(W^T W) E L / M.
        """
        return uncorrelated_variance(self, factors) if self.independent else None

    def squared_norms(self, rng: np.random.Generator, trials: int) -> np.ndarray:
        """Draw ||n||^2 `trials` times, (trials,), from chunks of the noise in bounded memory."""
        at_once = max(1, CHUNK // self.size)
        losses = np.empty(trials)
        for start in range(0, trials, at_once):
            count = min(at_once, trials - start)
            draws = self.sample(rng, count).reshape(count, self.size)
            losses[start : start + count] = np.vecdot(draws, draws)
        return losses


def variance_along(gram: np.ndarray, std: np.ndarray, directions: np.ndarray | None) -> float:
    """Return tr(V U U^T) for V = `gram` (m, m) and U = directions diag(std); None: the identity."""
    own = np.diag(gram) if directions is None else np.vecdot(directions, gram @ directions, axis=0)
    return float(own @ std**2)


def uncorrelated_variance(noise: Noise, factors: tuple[Workload, ...]) -> float:
    """Return E||W n||^2 = tr(W^T W) E L / M, for uncorrelated elements of one variance."""
    trace = math.prod(factor.trace() for factor in factors)
    return trace * noise.loss().mean / noise.size


def attained_reach(query: Query) -> float:
    """Return the l2 norm of a change that the query is known to allow, at most `Query.reach`.

    The two are equal unless the answer is a Gram matrix. In that case the change is c e_1 e_1^T, or
    c (e_1 e_1^T - e_2 e_2^T) under replace, with the largest c <= B^2 that keeps the query's
    sensitivities.
    """
    if query.gram_change is None:
        return query.reach
    square = query.record_bound**2
    changes = round((query.gram_change / square) ** 2)
    share = query.largest_multiple(l2=query.gram_change, l1=changes * square, linf=square)
    attained = min(1.0, share) * query.gram_change
    # Numbers that differ by rounding alone count as equal.
    return query.reach if attained >= query.reach * (1 - 1e-12) else attained
