"""A factorisation A = B C of a stream's workload: what it costs, and the noise that it makes.

C x + z is measured with i.i.d. Gaussian z of sigma, and B (C x + z) = A x + B z is released. C is
square, lower-triangular and invertible, so that this is A (x + C^-1 z): noise of covariance
sigma^2 (C^T C)^-1 on the stream itself, made step by step. The variance of the answer of step t is
sigma^2 ||B_t||^2.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple, Self

import numpy as np
import scipy

from mechanisms.query.supremum import Supremum
from mechanisms.strategies.streams import stepwise
from mechanisms.strategies.streams.participation import (
    Participation,
    gram_sensitivity,
    toeplitz_sensitivity,
)
from mechanisms.strategies.streams.stream_workload import StreamWorkload, impulse


class StreamError(NamedTuple):
    """sens(C)^2 ||B_t||^2, its mean and its maximum over the steps: variances at mu = 1."""

    mean: float
    maximal: float


class Factorisation(ABC):
    """C, seen from what it is used for."""

    @property
    @abstractmethod
    def steps(self) -> int:
        """n."""

    @abstractmethod
    def sensitivity(self, participation: Participation) -> Supremum:
        """Bounds of how far one person moves C x."""

    @abstractmethod
    def correlated(self, draws: np.ndarray) -> np.ndarray:
        """C^-1 z for each z along the last axis, (..., n)."""

    @abstractmethod
    def stepwise(self, draws: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
        """C^-1 z one step at a time, for at most n draws z_t of one shape, each a step's vector."""

    @property
    @abstractmethod
    def memory(self) -> int:
        """Vectors that `stepwise` keeps from step to step."""

    @abstractmethod
    def variances(self, workload: StreamWorkload) -> np.ndarray:
        """||B_t||^2 for every step, (n,)."""

    @abstractmethod
    def covariance(self) -> np.ndarray:
        """C^-1 C^-T, (n, n)."""

    @cached_property
    def power_traces(self) -> tuple[float, float, float, float]:
        """tr S^k, k = 1 to 4, of the covariance S = C^-1 C^-T: two (n, n) arrays."""
        covariance = self.covariance()
        square = covariance @ covariance
        return (
            float(np.trace(covariance)),
            float(np.trace(square)),
            float(np.vdot(covariance, square)),
            float(np.vdot(square, square)),
        )

    def error(self, workload: StreamWorkload, participation: Participation) -> StreamError:
        """The error at mu = 1; where the sensitivity is only bounded, from above."""
        square = self.sensitivity(participation).upper ** 2
        variances = self.variances(workload)
        return StreamError(square * float(variances.mean()), square * float(variances.max()))


@dataclass(frozen=True, kw_only=True, eq=False)
class ToeplitzFactorisation(Factorisation):
    """C is Toeplitz; no (n, n) array is formed but by `covariance`.

    Args:
        column: The first column of C, (n,), its first element > 0.
        inverse: That of C^-1, (n,).
    """

    column: np.ndarray
    inverse: np.ndarray

    @classmethod
    def of_column(cls, column: np.ndarray) -> Self:
        """From the first column of C."""
        return cls(column=column, inverse=reciprocal(column))

    @classmethod
    def of_inverse(cls, inverse: np.ndarray) -> Self:
        """From the first column of C^-1."""
        return cls(column=reciprocal(inverse), inverse=inverse)

    @property
    def steps(self):
        return len(self.column)

    def sensitivity(self, participation):
        return toeplitz_sensitivity(self.column, participation)

    def correlated(self, draws):
        # The product of two series, long enough that nothing wraps around.
        length = scipy.fft.next_fast_len(2 * self.steps - 1, real=True)
        series = scipy.fft.rfft(self.inverse.astype(draws.dtype), length)
        return scipy.fft.irfft(scipy.fft.rfft(draws, length) * series, length)[..., : self.steps]

    def stepwise(self, draws):
        draws = islice(draws, self.steps)
        if len(self._averaged) <= len(self._recursive):
            return stepwise.moving_average(draws, self._averaged)
        return stepwise.recursion(draws, self._recursive)

    @property
    def memory(self):
        return min(len(self._averaged), len(self._recursive)) - 1

    @property
    def _averaged(self) -> np.ndarray:
        return np.trim_zeros(self.inverse, "b")

    @property
    def _recursive(self) -> np.ndarray:
        return np.trim_zeros(self.column, "b")

    def variances(self, workload):
        return np.cumsum(self.answering(workload) ** 2)

    def answering(self, workload: StreamWorkload) -> np.ndarray:
        """The first column of B = A C^-1, (n,)."""
        return workload.applied(self.inverse)

    def covariance(self):
        inverse = scipy.linalg.toeplitz(self.inverse, np.zeros(self.steps))
        return inverse @ inverse.T


@dataclass(frozen=True, kw_only=True, eq=False)
class BufferedFactorisation(ToeplitzFactorisation):
    """C is Toeplitz with c_0 = 1 and c_i = sum_j weight_j rate_j^(i - 1).

    Args:
        rates, weights: One per buffer, (m,).
    """

    rates: np.ndarray
    weights: np.ndarray

    def stepwise(self, draws):
        return stepwise.buffered_recursion(islice(draws, self.steps), self.rates, self.weights)

    @property
    def memory(self):
        return len(self.rates)


@dataclass(frozen=True, kw_only=True, eq=False)
class DenseFactorisation(Factorisation):
    """Any C, through X = C^T C, (n, n), positive definite: only X matters.

    C is the lower-triangular factor of X, so that noise for strategies that are not square, such as
    trees, is made step by step, too (Denisov et al. 2022, arXiv:2202.08312).
    """

    gram: np.ndarray

    @property
    def steps(self):
        return len(self.gram)

    @cached_property
    def lower(self) -> np.ndarray:
        """C, (n, n), lower-triangular."""
        return scipy.linalg.cholesky(self.gram[::-1, ::-1], check_finite=False)[::-1, ::-1]

    def sensitivity(self, participation):
        return gram_sensitivity(self.gram, participation)

    def correlated(self, draws):
        flat = draws.reshape(-1, self.steps)
        solved = scipy.linalg.solve_triangular(self.lower, flat.T, lower=True, check_finite=False)
        return solved.T.reshape(draws.shape).astype(draws.dtype)

    def stepwise(self, draws):
        return stepwise.forward_substitution(islice(draws, self.steps), self.lower, self.steps)

    @property
    def memory(self):
        return self.steps - 1

    def variances(self, workload):
        answering = workload.applied(self._inverse(), axis=0)
        return np.vecdot(answering, answering)

    def covariance(self):
        inverse = self._inverse()
        return inverse @ inverse.T

    def _inverse(self) -> np.ndarray:
        return scipy.linalg.solve_triangular(
            self.lower, np.eye(self.steps), lower=True, check_finite=False
        )


def reciprocal(series: np.ndarray) -> np.ndarray:
    """The coefficients of 1 / f, (n,), from those of f, the first of which is not 0."""
    return scipy.signal.lfilter([1.0], np.trim_zeros(series, "b"), impulse(len(series)))
