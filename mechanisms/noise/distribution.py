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

# Floats drawn at a time by `squared_norms`: 64 MiB of float64, whatever the shape.
CHUNK = 1 << 23
# Why no known change of a Gram matrix attains `Query.reach`, where none does.
GRAM_SLACK = "the element box or the l1 ball excludes the worst pair of records"
# Why the profile of measurements is not that of the cells which are computed from them.
MEASURED = "the released cells may reveal less than the measurements they are computed from"


class Noise(ABC):
    """Additive noise of a fixed shape. A frozen dataclass in every subclass.

    Class attributes that a subclass may set:
        symmetric: Whether the noise and its negative have the same distribution, so that its mean
            is zero.
        independent: Whether the elements are independent and have one law.
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
        """The exact moments of L = ||n||^2."""

    def scaled(self, factor: float) -> Self:
        """The distribution of `factor` times this noise, factor finite and > 0."""
        check_positive("factor", factor)
        return self._scaled(factor)

    def _scaled(self, factor: float) -> Self:
        """As `scaled`, for a factor that was checked."""
        return replace(self, **{self.scale_field: getattr(self, self.scale_field) * factor})

    @abstractmethod
    def parameters(self) -> dict[str, float]:
        """Named scale parameters, the family's own scale first."""

    def profile(self, query: Query) -> PrivacyProfile | None:
        """The profile of the worst pair over the query's sensitivity set, or None if unknown.

        Its bounds contain the worst pair's: where that is not known it is a `BoundedProfile`.
        """
        return None

    def squared_norm_survival(self, threshold: np.ndarray) -> np.ndarray | None:
        """P(||n||^2 > threshold) elementwise, or None without a closed form."""
        return None

    def workload_variance(self, factors: tuple[Workload, ...]) -> float | None:
        """E||W n||^2, the total variance of linear queries, or None if it is not computed.

        W is the Kronecker product of `factors`. It has one column for each element of the noise, in
        C order. If the elements are `independent` it is tr(W^T W) E L / M.
        """
        return uncorrelated_variance(self, factors) if self.independent else None

    def squared_norms(self, rng: np.random.Generator, trials: int) -> np.ndarray:
        """`trials` draws of ||n||^2, in chunks: memory does not grow with the number of trials."""
        at_once = max(1, CHUNK // self.size)
        losses = np.empty(trials)
        for start in range(0, trials, at_once):
            count = min(at_once, trials - start)
            draws = self.sample(rng, count).reshape(count, self.size)
            losses[start : start + count] = np.vecdot(draws, draws)
        return losses


def variance_along(gram: np.ndarray, std: np.ndarray, directions: np.ndarray | None) -> float:
    """tr(V U U^T) for U = directions diag(std)."""
    own = np.diag(gram) if directions is None else np.vecdot(directions, gram @ directions, axis=0)
    return float(own @ std**2)


def uncorrelated_variance(noise: Noise, factors: tuple[Workload, ...]) -> float:
    """E||W n||^2 = tr(W^T W) E L / M for uncorrelated elements of one variance."""
    trace = math.prod(factor.trace() for factor in factors)
    return trace * noise.loss().mean / noise.size


def attained_reach(query: Query) -> float:
    """The l2 norm of a change that the query is known to allow; at most `Query.reach`.

    They are equal unless the answer is a Gram matrix. There the change is B^2 e_1 e_1^T, or
    B^2 (e_1 e_1^T - e_2 e_2^T) under replace, of records that are short enough for it to keep the
    query's sensitivities.
    """
    if query.gram_change is None:
        return query.reach
    square = query.record_bound**2
    changes = round((query.gram_change / square) ** 2)
    share = query.largest_multiple(l2=query.gram_change, l1=changes * square, linf=square)
    attained = min(1.0, share) * query.gram_change
    # A difference by rounding alone is none.
    return query.reach if attained >= query.reach * (1 - 1e-12) else attained
