"""Confidence bounds on probabilities, means, delta and epsilon from samples.

Every bound is one-sided, holds for every sample size, and fails with probability at most `tail`. So
an interval of two bounds holds with probability at least 1 - 2 tail.
"""

import dataclasses
import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy

# The probability of a false alarm in all checks of one mechanism; for a thousand mechanisms, 0.1%.
ERROR = 1e-6
# One-sided bounds share it: for the means and variances of up to eight samples of the loss, changes
# at two multiples, a grid, a direction of two values, atoms, pairs of releases of five samples,
# norms of eight, and signs.
TAIL = ERROR / 400
# A relative excess over a claim up to this is attributed to rounding.
ROUNDING = 1e-6
# Losses are taken to be exact to within this, because rounding must not put a loss of exactly
# epsilon above it.
LOSS_ROUNDING = 1e-9


@functools.cache
def value_grid() -> np.ndarray:
    """Return a grid on [0, 1], shape (2803,), with a relative step of 2% near 0 and near 1."""
    inner = scipy.special.expit(np.linspace(-28.0, 28.0, 2801))
    return np.concatenate(([0.0], inner, [1.0]))


@dataclass(frozen=True)
class Interval:
    """Bounds on a number, which hold with the confidence of the audit that they belong to."""

    lower: float
    upper: float


@dataclass(frozen=True, kw_only=True)
class DirectedAudit:
    """Bounds on delta(epsilon) = sup_E A(E) - e^epsilon B(E) for distributions (A, B), in order.

    Attributes:
        event: The event E, fixed before the counted samples are drawn.
        trials: Samples counted of each distribution.
        hits_a, hits_b: How many samples of A and of B lie in E.
        probability_a, probability_b: Clopper-Pearson intervals of A(E) and B(E).
        two_sample: Bounds on delta from these two intervals. The upper one is 1 unless E is known
            to attain the supremum, as {log a/b > epsilon} does, where a and b are the densities.
        one_sample: Bounds on delta as the mean of (1 - e^(epsilon - log a/b))_+ under A; None if
            log a/b is not known.
    """

    epsilon: float
    event: str
    trials: int
    hits_a: int
    hits_b: int
    probability_a: Interval
    probability_b: Interval
    two_sample: Interval
    one_sample: Interval | None

    @classmethod
    def from_hits(
        cls,
        *,
        epsilon: float,
        event: str,
        trials: int,
        hits: Sequence[int],
        tail: float,
        one_sample: Interval | None = None,
        slack: float = 0.0,
    ) -> Self:
        """Compute the bounds from counts.

        Args:
            hits: How many samples of A and of B lie in the event.
            one_sample: To be given if and only if the event is {log a/b > epsilon}.
            slack: A number that is added to the upper bounds, for losses that are not exact.
        """
        lower, upper = clopper_pearson(hits, trials, tail)
        delta_lower = float(hockey_stick(lower[0], upper[1], epsilon))
        delta_upper = 1.0
        if one_sample is not None:
            delta_upper = min(1.0, float(hockey_stick(upper[0], lower[1], epsilon)) + slack)
            one_sample = Interval(one_sample.lower, min(1.0, one_sample.upper + slack))
        return cls(
            epsilon=epsilon,
            event=event,
            trials=trials,
            hits_a=hits[0],
            hits_b=hits[1],
            probability_a=Interval(float(lower[0]), float(upper[0])),
            probability_b=Interval(float(lower[1]), float(upper[1])),
            two_sample=Interval(delta_lower, delta_upper),
            one_sample=one_sample,
        )

    @property
    def delta(self) -> Interval:
        """Bounds on delta: the tighter lower and the tighter upper one of both methods."""
        one_sample = self.one_sample or Interval(0.0, 1.0)
        return Interval(
            max(self.two_sample.lower, one_sample.lower),
            min(self.two_sample.upper, one_sample.upper),
        )

    def epsilon_lower_bound(self, delta: float) -> float:
        """Return a lower bound, >= 0, on the epsilon of (A, B) at `delta` in [0, 1]."""
        a, b = self.probability_a, self.probability_b
        bounds = [0.0]
        # A(E) - e^x B(E) > delta refutes the epsilon x. Solve for x with bounds on A(E) and B(E).
        if a.lower > delta:
            bounds.append(math.log((a.lower - delta) / b.upper))
        # The one-sample mean is d = A(E) - e^epsilon B(E). With it the condition does without B(E):
        # e^(x - epsilon) < (A(E) - delta) / (A(E) - d). The right side rises in d; in A(E) it falls
        # if d > delta, and rises otherwise.
        if self.one_sample is not None:
            d = self.one_sample.lower
            if d > delta:
                bounds.append(self.epsilon + math.log((a.upper - delta) / (a.upper - d)))
            elif a.lower > delta:
                bounds.append(self.epsilon + math.log((a.lower - delta) / (a.lower - d)))
        return max(bounds)


@dataclass(frozen=True, kw_only=True)
class AuditResult:
    """The result of an audit of distributions (P, Q) at `epsilon`.

    The pair is (epsilon, delta)-indistinguishable if delta is at least that of both directions.

    Attributes:
        samples: Draws from each distribution.
        confidence: The probability with which all bounds hold at once.
        forward, reverse: The audits of (P, Q) and of (Q, P).
    """

    epsilon: float
    samples: int
    seed: int
    confidence: float
    forward: DirectedAudit
    reverse: DirectedAudit

    @property
    def delta_lower(self) -> float:
        """A lower bound on the pair's delta at epsilon, in [0, 1)."""
        return max(self.forward.delta.lower, self.reverse.delta.lower)

    @property
    def delta_upper(self) -> float:
        """An upper bound on the pair's delta at epsilon, in (0, 1]; 1 if none is known."""
        return max(self.forward.delta.upper, self.reverse.delta.upper)

    @property
    def consistent(self) -> bool:
        """Whether the methods agree.

        If the losses are log p/q of the draws, they do so with probability at least `confidence`.
        """
        return all(d.delta.lower <= d.delta.upper for d in (self.forward, self.reverse))

    def refutes(self, delta: float) -> bool:
        """Return whether the lower bound at epsilon exceeds the claimed delta.

        Raises:
            ValueError: The audit is not `consistent`.
        """
        if not self.consistent:
            raise ValueError(
                "the one-sample and two-sample bounds contradict each other; check that the losses "
                "are log p/q of the distributions drawn, in both directions"
            )
        return self.delta_lower > delta

    def epsilon_lower_bound(self, delta: float) -> float:
        """Return a lower bound, >= 0, on the pair's epsilon at `delta` in [0, 1]."""
        return max(d.epsilon_lower_bound(delta) for d in (self.forward, self.reverse))

    def to_dict(self, delta: float = 0.0) -> dict[str, Any]:
        """Return all findings, with the verdict on the claimed `delta`, as values for JSON."""
        return dataclasses.asdict(self) | {
            "delta_lower": self.delta_lower,
            "delta_upper": self.delta_upper,
            "consistent": self.consistent,
            "claimed_delta": delta,
            "epsilon_lower": self.epsilon_lower_bound(delta),
            "refuted": self.refutes(delta) if self.consistent else None,
        }


def clopper_pearson(hits, trials: int, tail: float) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper bounds on the probabilities of events seen in `hits` of `trials`.

    Clopper and Pearson (Biometrika 26, 1934). The lower bound is 0 without a hit, the upper bound 1
    with hits alone.

    hits: Integers in [0, trials], in an array of any shape, which the bounds share.
    """
    return least_probability(hits, trials, tail), largest_probability(hits, trials, tail)


def least_probability(hits, trials: int, tail: float) -> np.ndarray:
    """Return only the lower bound of `clopper_pearson`."""
    hits = np.asarray(hits)
    found = scipy.special.betaincinv(np.maximum(hits, 1), trials - hits + 1, tail)
    return np.where(hits == 0, 0.0, found)


def largest_probability(hits, trials: int, tail: float) -> np.ndarray:
    """Return only the upper bound of `clopper_pearson`."""
    misses = trials - np.asarray(hits)
    found = scipy.special.betainccinv(trials - misses + 1, np.maximum(misses, 1), tail)
    return np.where(misses == 0, 1.0, found)


def hockey_stick(p: np.ndarray, q: np.ndarray, epsilon: float) -> np.ndarray:
    """Return max(0, p - e^epsilon q) elementwise for probabilities, without overflow."""
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = epsilon + np.log(q) - np.log(p)
    return np.where(np.asarray(p) > 0.0, p * np.abs(np.expm1(np.minimum(exponent, 0.0))), 0.0)


def spread_on_grid(values: np.ndarray) -> np.ndarray:
    """Return weights on `value_grid()` that stand for `values` in [0, 1].

    They need constant memory. A value between two grid points is shared between them so that the
    mean is kept. The logarithm of a bettor's wealth is concave in the value, so sharing can only
    lower the wealth. So the bounds of `betting_interval` from these weights hold for the values.
    """
    grid = value_grid()
    size = len(grid)
    below = np.minimum(np.searchsorted(grid, values, side="right") - 1, size - 2)
    share = (values - grid[below]) / (grid[below + 1] - grid[below])
    return np.bincount(below, 1.0 - share, size) + np.bincount(below + 1, share, size)


def betting_interval(values: np.ndarray, weights: np.ndarray, tail: float) -> Interval:
    """Return bounds on the mean of independent, identically distributed variables in [0, 1].

    Each bound fails with probability at most `tail`, whatever the distribution.

    A bettor who takes the mean to be above m puts the share c of the wealth on every sample x_i, at
    odds that are fair for m. Then the wealth is prod_i (1 - c + c x_i / m). If the mean is m or
    less, the expected wealth is at most 1, and so is its average over fixed shares. By Markov's
    inequality every m whose wealth reaches 1/tail can be rejected. The wealth falls in m, so the
    lower bound is a root. The upper bound is the same bet on 1 - x. The bounds adapt to the
    variance, which for small values is far below that of an event with the same mean.

    `weights` says how many samples took each of `values`, as counts or as the shares of
    `spread_on_grid`.
    Source: Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting
    (JRSS B 86, 2024), Section 4; for the average over shares, Orabona and Jun, Tight
    concentrations and confidence sequences from the regret of universal portfolio (IEEE Trans.
    Inf. Theory 70, 2024).
    """
    seen = weights > 0
    values, weights = values[seen], weights[seen]
    return Interval(
        _betting_lower_bound(values, weights, tail),
        1.0 - _betting_lower_bound(1.0 - values, weights, tail),
    )


def _betting_lower_bound(values: np.ndarray, weights: np.ndarray, tail: float) -> float:
    count = weights.sum()
    mean = weights @ values / count
    if mean == 0.0:
        return 0.0
    # Shares are spaced by factors of about two. To average costs a factor log2(count) in wealth.
    shares = np.geomspace(1.0 / count, 1.0, 1 + math.ceil(math.log2(count + 1)))[:, None]

    def log_wealth_above_target(log_mean: float) -> float:
        with np.errstate(divide="ignore"):  # all wealth on a value of zero: log 0 = -inf
            gains = np.log((1.0 - shares) + shares * (values / math.exp(log_mean)))
        return np.logaddexp.reduce(gains @ weights) - math.log(len(shares)) + math.log(tail)

    # At the sample mean no bet gains (Jensen). At `low` one sample of the largest value wins: with
    # the share 1/count, the others cost at most a factor e. Values below the first grid point may
    # leave the largest value less than one sample's weight; then no mean is rejected.
    low = math.log(values.max()) + math.log(tail) - math.log(8.0 * count * len(shares))
    if log_wealth_above_target(low) <= 0.0:
        return 0.0
    return math.exp(scipy.optimize.brentq(log_wealth_above_target, low, math.log(mean), xtol=1e-10))


def familywise_confidence(confidence: float, audits: int) -> float:
    """Return the confidence that each audit needs so that all hold at once (Bonferroni).

    The audits, at least 1, need not be independent. The samples that an audit needs grow only with
    the logarithm of 1 / (1 - confidence).

    Raises:
        ValueError: `confidence` is not in (0, 1).
    """
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must lie in (0, 1), got {confidence!r}; 0.999 is usual")
    return 1.0 - (1.0 - confidence) / audits
