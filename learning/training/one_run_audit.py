"""Audits of training by a single run: what correct guesses about many canaries prove.

Each of `canaries` records is put into the data or left out by its own fair coin. An attacker sees
the trained model and guesses for some of them whether they are in; of `guesses` guesses `correct`
are right. Adjacency: one record is added or removed. The number of guesses must not depend on the
coins, other than through the model, and is fixed before they are compared.
"""

from dataclasses import dataclass

import numpy as np
import scipy

from mechanisms.privacy.profile import check_count

# Searches for epsilon end within this of the root.
EPSILON_TOLERANCE = 1e-7
_LARGEST_EPSILON = 1e3


@dataclass(frozen=True, kw_only=True)
class Guesses:
    """The outcome of one run.

    canaries: records with a coin, >= 1. guesses: in [0, canaries]. correct: in [0, guesses].
    """

    canaries: int
    guesses: int
    correct: int

    def __post_init__(self) -> None:
        check_count("canaries", self.canaries)
        check_count("guesses", self.guesses, 0)
        check_count("correct", self.correct, 0)
        if not self.correct <= self.guesses <= self.canaries:
            raise ValueError(
                "there must be at most as many correct guesses as guesses, and as many guesses as "
                f"canaries; got {self.correct}, {self.guesses} and {self.canaries}"
            )


def p_value(found: Guesses, epsilon: float, delta: float) -> float:
    """An upper bound on the probability of this many correct guesses under (epsilon, delta)-DP.

    Of r guesses at least v are correct with probability at most
    P(B >= v) + 2 m delta max_i P(v - i <= B < v) / i, where B is binomial with r trials of success
    1 / (1 + e^-epsilon), and m is the number of canaries.
    Source: Steinke, Nasr and Jagielski, Privacy Auditing with One (1) Training Run (NeurIPS 2023,
    arXiv:2305.08846), Theorem 5.2.
    """
    success = scipy.special.expit(epsilon)
    tail = scipy.stats.binom.sf(found.correct - 1, found.guesses, success)
    if delta == 0 or found.correct == 0:
        return float(min(1.0, tail))
    steps = np.arange(1, found.correct + 1)
    # P(v - i <= B < v): sums of single probabilities, as differences of tails may cancel.
    single = scipy.stats.binom.pmf(found.correct - steps, found.guesses, success)
    worst = np.max(np.cumsum(single) / steps)
    return float(min(1.0, tail + 2 * found.canaries * delta * worst))


def epsilon_by_count(found: Guesses, delta: float, error: float) -> float:
    """Lower bound of epsilon at `delta`, by Steinke et al. (2023); fails with `error` at most.

    delta: in [0, 1). error: in (0, 1). Returns 0 where no epsilon is refuted.
    """
    if not 0.0 <= delta < 1.0:
        raise ValueError(f"delta must satisfy 0 <= delta < 1, got {delta!r}")
    if not 0.0 < error < 1.0:
        raise ValueError(f"error must lie in (0, 1), got {error!r}; 0.05 is usual")

    def excess(epsilon: float) -> float:
        return error - p_value(found, epsilon, delta)

    low, high = 0.0, 1.0
    if excess(low) <= 0:
        return low
    while excess(high) > 0:
        low, high = high, 2 * high
        if high > _LARGEST_EPSILON:
            return low
    return float(scipy.optimize.brentq(excess, low, high, xtol=EPSILON_TOLERANCE))
