"""The profile of integer noise that is shifted by one."""

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy

from mechanisms.privacy.numerics import ULP, log1mexp
from mechanisms.privacy.profile import (
    Bounds,
    PrivacyProfile,
    check_count,
    check_positive,
)

# Whole numbers within this many standard deviations of zero are summed, and as many beside them:
# what lies beyond has a probability below e^-500.
_REACH, _MARGIN = 40.0, 400
_LOG_BEYOND = -500.0
# The table of probabilities has 80 numbers for each unit of the standard deviation. With the least
# one, Skellam noise has delta 1 at every epsilon up to 460.
LEAST_STD, LARGEST_STD = 1e-100, 1e5


@dataclass(frozen=True, kw_only=True)
class IntegerShiftProfile(PrivacyProfile):
    """Profile of X against X + 1 for a symmetric law of whole numbers X.

    delta(epsilon) is the sum over x of (p(x) - e^epsilon p(x - 1))_+. The pair is symmetric: x and
    1 - x exchange its two laws. Bounds: rounding only.

    std: finite, > 0, the scale of the law, near its standard deviation.
    """

    std: float

    # Ten digits above what lies beyond the table.
    floor = math.exp(_LOG_BEYOND) * 1e10

    def __post_init__(self) -> None:
        check_positive("std", self.std)

    @property
    def _factor_limits(self):
        return tuple(math.log(end / self.std) for end in (LEAST_STD, LARGEST_STD))

    @abstractmethod
    def log_masses(self, numbers: np.ndarray) -> np.ndarray:
        """log p(x) at whole numbers."""

    def _scaled(self, factor: float) -> PrivacyProfile:
        """Of the law with `factor` times the scale, which is again one of whole numbers."""
        return replace(self, std=self.std * factor)

    def sample_losses(
        self, rng: np.random.Generator, n: int, *, reverse: bool = False
    ) -> np.ndarray:
        """Losses at draws of the table of masses."""
        log_masses, losses = self._table
        masses = np.exp(log_masses)
        drawn = rng.choice(losses, size=check_count("n", n), p=masses / masses.sum())
        return -drawn if reverse else drawn

    def masses(self) -> tuple[np.ndarray, np.ndarray]:
        """The whole numbers with a mass that is not negligible, and their masses."""
        log_masses, _ = self._table
        reach = len(log_masses) // 2
        return np.arange(-reach, reach + 1.0), np.exp(log_masses)

    @cached_property
    def _table(self) -> tuple[np.ndarray, np.ndarray]:
        """Log masses log p(x), and losses log p(x) / p(x - 1), which fall with x."""
        # From -reach to reach, and one number before.
        reach = int(_REACH * self.std) + _MARGIN
        logs = self.log_masses(np.arange(-reach - 1.0, reach + 1))
        return logs[1:], np.diff(logs)

    @cached_property
    def _sums(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Logs of P(X <= x), of Q(X <= x), and of delta at the loss of x, for every x.

        Q is the law of X + 1. With the losses l(x), delta(l(x)) = delta(l(x - 1)) +
        Q(X <= x - 1) (e^l(x - 1) - e^l(x)): terms that are not negative.
        """
        log_p, losses = self._table
        # The sums have thousands of terms: in float64 they would lose two digits.
        log_q = (log_p - losses).astype(np.longdouble)
        sum_p = np.logaddexp.accumulate(log_p.astype(np.longdouble))
        sum_q = np.logaddexp.accumulate(log_q)
        terms = sum_q[:-1] + losses[:-1] + log1mexp(np.minimum(np.diff(losses), 0.0))
        log_delta = np.logaddexp.accumulate(np.r_[-np.inf, terms])
        return tuple(each.astype(float) for each in (sum_p, sum_q, log_delta))

    def _above(self, epsilon: np.ndarray) -> np.ndarray:
        """How many numbers of the table, from the first, have a loss above epsilon."""
        return np.searchsorted(-self._table[1], -epsilon, side="left")

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        losses, (_, sum_q, log_delta) = self._table[1], self._sums
        count = self._above(epsilon)
        last = np.maximum(count - 1, 0)
        rest = sum_q[last] + losses[last] + log1mexp(np.minimum(epsilon - losses[last], 0.0))
        value = np.where(count > 0, np.logaddexp(log_delta[last], rest), -np.inf)
        log_survival = self._log_survival(epsilon)
        # A loss is a difference of log masses; its rounding moves delta by P(L > epsilon).
        near = np.maximum(value, 2 * _LOG_BEYOND)
        slope = np.exp(np.clip(log_survival - near, 0.0, 30.0))
        size = 8 * (1 + epsilon) + 2 * np.abs(near)
        error = ULP * (64 + size * (2 + slope))
        # Losses beyond the table count as infinite.
        upper = np.logaddexp(value + error, _LOG_BEYOND)
        return Bounds(value - error, value, np.minimum(upper, 0.0))

    def _log_survival(self, epsilon: np.ndarray) -> np.ndarray:
        count = self._above(epsilon)
        return np.where(count > 0, self._sums[0][np.maximum(count - 1, 0)], -np.inf)

    def _survival(self, epsilon: np.ndarray) -> np.ndarray:
        return np.exp(np.minimum(self._log_survival(epsilon), 0.0))


class DiscreteGaussianProfile(IntegerShiftProfile):
    """p(x) proportional to e^(-x^2 / (2 std^2)).

    Canonne, Kamath and Steinke 2020, Definition 1; delta is that of their Theorem 7.
    """

    def log_masses(self, numbers):
        exponents = -(numbers**2) / (2 * self.std**2)
        return exponents - scipy.special.logsumexp(exponents)


class SkellamProfile(IntegerShiftProfile):
    """The difference of two Poisson variables of mean v / 2, v = std^2: p(x) = e^-v I_x(v)."""

    def log_masses(self, numbers):
        # The exponentially scaled Bessel function underflows far out; there the recurrence
        # I_(x - 1) - I_(x + 1) = (2 x / v) I_x gives the ratios, from the outside in.
        variance = self.std**2
        count = int(numbers.max()) + 64
        ratios = np.zeros(count + 2)  # I_x / I_(x - 1)
        for x in range(count, 0, -1):
            ratios[x] = 1 / (2 * x / variance + ratios[x + 1])
        # The sums have hundreds of terms: in float64 they would lose two digits.
        sums = np.cumsum(np.log(ratios[1 : count + 1]), dtype=np.longdouble).astype(float)
        logs = np.log(scipy.special.i0e(variance)) + np.r_[0.0, sums]
        return logs[np.abs(numbers).astype(int)]
