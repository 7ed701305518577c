"""Confidence bounds on probabilities, means, delta and epsilon from samples.

Every bound is one-sided, holds for every sample size, and fails with probability at most `tail`; an
interval of two bounds therefore holds with probability at least 1 - 2 tail.
"""

import dataclasses
import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy

# The probability of a false alarm in all checks of one mechanism; of a thousand it is 0.1%.
ERROR = 1e-6
# One-sided bounds that share it: for the means and variances of up to eight samples of the loss,
# changes at two multiples, a grid, a direction of two values, atoms, pairs of releases of five
# samples, norms of eight, and signs.
TAIL = ERROR / 400
# Relative excess over a claim that is put down to rounding.
ROUNDING = 1e-6
# Losses are taken to be exact to within this: one of exactly epsilon is not above it, and rounding
# must not put it there.
LOSS_ROUNDING = 1e-9


@functools.cache
def value_grid() -> np.ndarray:
    """A grid on [0, 1], shape (2803,), with a relative step of 2% towards both 0 and 1."""
    inner = scipy.special.expit(np.linspace(-28.0, 28.0, 2801))
    return np.concatenate(([0.0], inner, [1.0]))


@dataclass(frozen=True)
class Interval:
    """A number that lies in [lower, upper] with the confidence of the audit it belongs to."""

    lower: float
    upper: float


@dataclass(frozen=True, kw_only=True)
class DirectedAudit:
    """Bounds on delta(epsilon) = sup_E A(E) - e^epsilon B(E) for one ordered pair (A, B).

    event: the event E, fixed before the counted samples are drawn.
    trials: samples counted of each distribution; hits_a, hits_b: how many of them lie in E.
    probability_a, probability_b: Clopper-Pearson intervals of A(E) and B(E).
    two_sample: bounds on delta from these two intervals; the upper one is 1 unless E is known to
        attain the supremum, as {log a/b > epsilon} does.
    one_sample: bounds on delta as the mean of (1 - e^(epsilon - log a/b))_+ under A; None where
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
        """Bounds from counts; `one_sample` is given if and only if E is {log a/b > epsilon}.

        hits: how many samples of A and of B lie in the event.
        slack: added to the upper bounds, for losses that are not exact.
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
        """The tighter bound of the two methods on each side; both hold at once."""
        one_sample = self.one_sample or Interval(0.0, 1.0)
        return Interval(
            max(self.two_sample.lower, one_sample.lower),
            min(self.two_sample.upper, one_sample.upper),
        )

    def epsilon_lower_bound(self, delta: float) -> float:
        """Lower bound of the ordered pair's epsilon at `delta` in [0, 1]; >= 0."""
        a, b = self.probability_a, self.probability_b
        bounds = [0.0]
        # A(E) - e^x B(E) > delta refutes the epsilon x: solve for x at the bounds of A(E), B(E).
        if a.lower > delta:
            bounds.append(math.log((a.lower - delta) / b.upper))
        # The one-sample mean d = A(E) - e^epsilon B(E) takes B(E) out of the same condition:
        # e^(x - epsilon) < (A(E) - delta) / (A(E) - d), which falls in A(E) if d > delta and rises
        # otherwise, and always rises in d.
        if self.one_sample is not None:
            d = self.one_sample.lower
            if d > delta:
                bounds.append(self.epsilon + math.log((a.upper - delta) / (a.upper - d)))
            elif a.lower > delta:
                bounds.append(self.epsilon + math.log((a.lower - delta) / (a.lower - d)))
        return max(bounds)


@dataclass(frozen=True, kw_only=True)
class AuditResult:
    """The result of an audit at `epsilon`.

    With probability `confidence` all its bounds hold at once.

    samples: draws of each distribution.
    forward: P against Q. reverse: Q against P. The pair is (epsilon, delta)-indistinguishable if
    delta is at least that of both.
    """

    epsilon: float
    samples: int
    seed: int
    confidence: float
    forward: DirectedAudit
    reverse: DirectedAudit

    @property
    def delta_lower(self) -> float:
        """Lower bound of the pair's delta at epsilon, in [0, 1)."""
        return max(self.forward.delta.lower, self.reverse.delta.lower)

    @property
    def delta_upper(self) -> float:
        """Upper bound of the pair's delta at epsilon, in (0, 1]; 1 if nothing is known."""
        return max(self.forward.delta.upper, self.reverse.delta.upper)

    @property
    def consistent(self) -> bool:
        """False if the methods contradict each other: the losses are not log p/q of the draws.

        By chance it is False with probability 1 - confidence at most.
        """
        return all(d.delta.lower <= d.delta.upper for d in (self.forward, self.reverse))

    def refutes(self, delta: float) -> bool:
        """True if the lower bound at epsilon exceeds the claimed delta.

        Raises:
            ValueError: if the audit is not `consistent`.
        """
        if not self.consistent:
            raise ValueError(
                "the one-sample and two-sample bounds contradict each other; check that the losses "
                "are log p/q of the distributions drawn, in both directions"
            )
        return self.delta_lower > delta

    def epsilon_lower_bound(self, delta: float) -> float:
        """Lower bound of the pair's epsilon at `delta` in [0, 1], from the same samples; >= 0."""
        return max(d.epsilon_lower_bound(delta) for d in (self.forward, self.reverse))

    def to_dict(self, delta: float = 0.0) -> dict[str, Any]:
        """Everything the audit found, with the verdict on the claimed delta, ready for JSON."""
        return dataclasses.asdict(self) | {
            "delta_lower": self.delta_lower,
            "delta_upper": self.delta_upper,
            "consistent": self.consistent,
            "claimed_delta": delta,
            "epsilon_lower": self.epsilon_lower_bound(delta),
            "refuted": self.refutes(delta) if self.consistent else None,
        }


def clopper_pearson(hits, trials: int, tail: float) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds of the probabilities of events seen in `hits` of `trials` samples.

    Clopper and Pearson (Biometrika 26, 1934). Without a hit the lower bound is 0, with hits alone
    the upper bound is 1. hits: integers in [0, trials], any shape, which the bounds share.
    """
    return least_probability(hits, trials, tail), largest_probability(hits, trials, tail)


def least_probability(hits, trials: int, tail: float) -> np.ndarray:
    """The lower bound of `clopper_pearson` alone."""
    hits = np.asarray(hits)
    found = scipy.special.betaincinv(np.maximum(hits, 1), trials - hits + 1, tail)
    return np.where(hits == 0, 0.0, found)


def largest_probability(hits, trials: int, tail: float) -> np.ndarray:
    """The upper bound of `clopper_pearson` alone."""
    misses = trials - np.asarray(hits)
    found = scipy.special.betainccinv(trials - misses + 1, np.maximum(misses, 1), tail)
    return np.where(misses == 0, 1.0, found)


def hockey_stick(p: np.ndarray, q: np.ndarray, epsilon: float) -> np.ndarray:
    """max(0, p - e^epsilon q) elementwise for probabilities, without overflow for large epsilon."""
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = epsilon + np.log(q) - np.log(p)
    return np.where(np.asarray(p) > 0.0, p * np.abs(np.expm1(np.minimum(exponent, 0.0))), 0.0)


def spread_on_grid(values: np.ndarray) -> np.ndarray:
    """Weights on `value_grid()` that stand for `values` in [0, 1], shape (len(value_grid()),).

    A value between two points is shared between them so that the mean is kept. The logarithm of
    a bettor's wealth is concave in the value, so sharing can only lower the wealth: the bounds of
    `betting_interval` from these weights are valid for the values, in constant memory.
    """
    grid = value_grid()
    size = len(grid)
    below = np.minimum(np.searchsorted(grid, values, side="right") - 1, size - 2)
    share = (values - grid[below]) / (grid[below + 1] - grid[below])
    return np.bincount(below, 1.0 - share, size) + np.bincount(below + 1, share, size)


def betting_interval(values: np.ndarray, weights: np.ndarray, tail: float) -> Interval:
    """Bounds of the mean of independent, identically distributed variables in [0, 1].

    `weights` says how many samples took each of `values`, as counts or as the shares of
    `spread_on_grid`. Each side errs with probability at most `tail`, whatever the distribution.

    A bettor who takes the mean to be above m puts the share c of the wealth on every sample, at
    odds fair for m: the wealth is prod_i (1 - c + c x_i / m). If the mean is m or less, the wealth
    has expectation at most 1, and so has its average over fixed shares. By Markov's inequality
    every m whose wealth reaches 1/tail is rejected. The wealth falls in m, so the bound is a root.
    The bound adapts to the variance, which for small values is far below that of an event with
    the same mean. The upper bound is the same bet on 1 - x.
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
    # Shares by factors of about two: averaging costs a factor of about log2(count) in wealth.
    shares = np.geomspace(1.0 / count, 1.0, 1 + math.ceil(math.log2(count + 1)))[:, None]

    def log_wealth_above_target(log_mean: float) -> float:
        with np.errstate(divide="ignore"):  # all wealth on a value of zero: log 0 = -inf
            gains = np.log((1.0 - shares) + shares * (values / math.exp(log_mean)))
        return np.logaddexp.reduce(gains @ weights) - math.log(len(shares)) + math.log(tail)

    # At the sample mean no bet gains (Jensen). At `low` one sample of the largest value wins: with
    # share 1/count the others cost a factor e at most. Values below the grid's first point may
    # leave it less than one sample's weight; then no mean is rejected.
    low = math.log(values.max()) + math.log(tail) - math.log(8.0 * count * len(shares))
    if log_wealth_above_target(low) <= 0.0:
        return 0.0
    return math.exp(scipy.optimize.brentq(log_wealth_above_target, low, math.log(mean), xtol=1e-10))


def familywise_confidence(confidence: float, audits: int) -> float:
    """The confidence that each of `audits` audits needs so that all hold at once (Bonferroni).

    audits: at least 1; they need not be independent. This costs little: the samples that an audit
    needs grow with the logarithm of 1 / (1 - confidence).

    Raises:
        ValueError: if confidence is not in (0, 1).
    """
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must lie in (0, 1), got {confidence!r}; 0.999 is usual")
    return 1.0 - (1.0 - confidence) / audits
