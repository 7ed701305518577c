"""Effects with confidence intervals: means over trials, and bootstrapped statistics."""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import pandas as pd
import scipy

from mechanisms.query.words import rounded_down

SHOWN = 0.95
# The number of resamples of a bootstrap, which have a fixed seed.
RESAMPLES = 40_000


class TooFewTrials(ValueError):
    """There are fewer than the two trials that an interval needs."""


class Interval(NamedTuple):
    """The two ends of an interval, the lower one first."""

    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Mean:
    """The mean over independent trials, with the interval of Student's t distribution.

    The interval has its confidence for numbers that are close to normal, such as differences of
    accuracies. Heavy-tailed numbers, such as squared losses, are compared on a logarithmic scale.

    Args:
        values: A number for each trial, at least two.
        resolution: The least standard error. It is needed because numbers on a grid (an accuracy
            over n test records has steps of 1/n) may by chance agree in all trials.

    Raises:
        TooFewTrials: There are fewer than two trials.
        ValueError: A value is not finite.
    """

    values: np.ndarray
    resolution: float = 0.0

    def __post_init__(self) -> None:
        values = np.asarray(self.values, dtype=float)
        if len(values) < 2:
            raise TooFewTrials(f"An interval needs two trials, there are {len(values)}")
        if not np.isfinite(values).all():
            raise ValueError(f"trials must be finite, got {self.values!r}")
        object.__setattr__(self, "values", values)

    @functools.cached_property
    def value(self) -> float:
        """The mean of the values."""
        return float(self.values.mean())

    @property
    def trials(self) -> int:
        """The number of trials."""
        return len(self.values)

    @functools.cached_property
    def standard_error(self) -> float:
        """The standard error of the mean, at least the resolution."""
        return max(float(self.values.std(ddof=1)) / math.sqrt(self.trials), self.resolution)

    def interval(self, confidence: float) -> Interval:
        """Return the two-sided interval at a confidence in (0, 1)."""
        # scipy.stats has this quantile of Student's t too, but its import takes nearly a second.
        half = -float(scipy.special.stdtrit(self.trials - 1, (1 - confidence) / 2))
        half *= self.standard_error
        return Interval(self.value - half, self.value + half)

    def shifted(self, by: float) -> Self:
        """Return the effect plus `by`."""
        return Mean(self.values + by, self.resolution)

    @property
    def reversed(self) -> Self:
        """The effect in the other direction."""
        return Mean(-self.values, self.resolution)


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """A statistic of samples with its percentile interval, which is often too short for few trials.

    At a confidence that the trials cannot give, the interval is the whole line.

    Args:
        value: The statistic of the samples.
        draws: The statistic of each resample, an array of shape (RESAMPLES,).
        trials: The size of the smaller sample.
    """

    value: float
    draws: np.ndarray
    trials: int

    def interval(self, confidence: float) -> Interval:
        """Return the two-sided interval at a confidence in (0, 1)."""
        # With the probability 2^(1 - trials), all trials lie on one side of the true median.
        if 1 - confidence < 2.0 ** (1 - self.trials):
            return Interval(-math.inf, math.inf)
        low, high = np.quantile(self.draws, [(1 - confidence) / 2, (1 + confidence) / 2])
        return Interval(float(low), float(high))


# An effect is a number that a comparison tests, with an interval at any confidence.
Effect = Mean | Bootstrap


def words(effect: Effect, confidence: float = SHOWN) -> str:
    """Format the estimate with an interval and its confidence: "0.012 [95%: 0.004, 0.02]"."""
    low, high = effect.interval(confidence)
    return f"{effect.value:.4g} [{_percent(confidence)}: {low:.4g}, {high:.4g}]"


def ratio_words(logarithm: Effect, confidence: float) -> str:
    """Format a ratio, given as the effect of its logarithm: "0.95 [95%: 0.91, 0.98] times"."""
    ratio, low, high = map(math.exp, (logarithm.value, *logarithm.interval(confidence)))
    return f"{ratio:.3g} [{_percent(confidence)}: {low:.3g}, {high:.3g}] times"


def _percent(confidence: float) -> str:
    """Format a confidence, rounded down except for rounding errors of 1 - (1 - confidence)."""
    return f"{rounded_down(100 * confidence + 1e-9, 4)}%"


def paired(larger: pd.DataFrame, smaller: pd.DataFrame, *, resolution: float = 0.0) -> Mean:
    """Return the mean of `larger` - `smaller` over the trials that both have.

    Args:
        larger: A frame with the columns trial and value.
        smaller: A frame with the same columns.
        resolution: The least standard error.
    """
    difference = larger.set_index("trial")["value"] - smaller.set_index("trial")["value"]
    return Mean(difference.dropna().to_numpy(float), resolution)


def bootstrapped(
    over: np.ndarray, under: np.ndarray, statistic: Callable[..., np.ndarray]
) -> Bootstrap:
    """Return the difference between the statistics of two independent samples.

    Args:
        over: The sample whose statistic comes first.
        under: The sample whose statistic is subtracted.
        statistic: A function of an array and an `axis`, such as `np.median`.
    """
    rng = np.random.default_rng(0)
    samples = [np.asarray(values, float) for values in (over, under)]
    resampled = [
        statistic(values[rng.integers(0, len(values), (RESAMPLES, len(values)))], axis=1)
        for values in samples
    ]
    value = float(statistic(samples[0]) - statistic(samples[1]))
    return Bootstrap(value, resampled[0] - resampled[1], min(map(len, samples)))


def log_mean(values: np.ndarray, axis: int | None = None) -> np.ndarray:
    """Return the logarithm of the mean; differences of it are logarithms of ratios of means."""
    return np.log(np.mean(values, axis))
