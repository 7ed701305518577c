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


class TooFewTrials(ValueError):
    """There are fewer than the two trials that an interval needs."""


class Interval(NamedTuple):
    """The two ends of an interval, the lower one first."""

    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Mean:
    """The mean over independent trials, with Student's interval.

    The interval is right for numbers that are close to normal, such as differences of accuracies.
    Heavy-tailed ones, such as squared losses, are compared on a logarithmic scale.

    Args:
        values: One number per trial, at least two.
        resolution: The least standard error. Numbers on a grid (an accuracy over n test records has
            steps of 1/n) may agree by chance in all trials.

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
        """The estimate."""
        return float(self.values.mean())

    @property
    def trials(self) -> int:
        """The number of independent repetitions."""
        return len(self.values)

    @functools.cached_property
    def standard_error(self) -> float:
        """The standard error of the mean, at least the resolution."""
        return max(float(self.values.std(ddof=1)) / math.sqrt(self.trials), self.resolution)

    def interval(self, confidence: float) -> Interval:
        """Return the two-sided interval at a confidence in (0, 1)."""
        # scipy.stats has this quantile of Student's t too, but takes nearly a second to import.
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
    """A statistic of samples with its percentile interval, often too short for few trials.

    At a confidence that so few trials cannot give, it is the whole line.

    Args:
        value: The statistic of the samples.
        draws: The statistic of each resample, of shape (draws,).
        trials: The size of the smaller sample.
    """

    value: float
    draws: np.ndarray
    trials: int

    def interval(self, confidence: float) -> Interval:
        """Return the two-sided interval at a confidence in (0, 1)."""
        # All trials lie on one side of the true median with this probability.
        if 1 - confidence < 2.0 ** (1 - self.trials):
            return Interval(-math.inf, math.inf)
        low, high = np.quantile(self.draws, [(1 - confidence) / 2, (1 + confidence) / 2])
        return Interval(float(low), float(high))


# A number that a comparison tests, with an interval at any confidence.
Effect = Mean | Bootstrap


def words(effect: Effect, confidence: float = SHOWN) -> str:
    """Format the estimate with an interval and its confidence: "0.012 [95%: 0.004, 0.02]"."""
    low, high = effect.interval(confidence)
    return f"{effect.value:.4g} [{_percent(confidence)}: {low:.4g}, {high:.4g}]"


def ratio_words(logarithm: Effect, confidence: float) -> str:
    """Format the ratio whose logarithm the effect is: "0.95 [95%: 0.91, 0.98] times"."""
    ratio, low, high = map(math.exp, (logarithm.value, *logarithm.interval(confidence)))
    return f"{ratio:.3g} [{_percent(confidence)}: {low:.3g}, {high:.3g}] times"


def _percent(confidence: float) -> str:
    """Format a confidence, rounded down; rounding errors of 1 - (1 - confidence) do not count."""
    return f"{rounded_down(100 * confidence + 1e-9, 4)}%"


def paired(larger: pd.DataFrame, smaller: pd.DataFrame, *, resolution: float = 0.0) -> Mean:
    """Return the effect `larger` - `smaller` over the trials that both have.

    Both frames have the columns trial and value.
    """
    difference = larger.set_index("trial")["value"] - smaller.set_index("trial")["value"]
    return Mean(difference.dropna().to_numpy(float), resolution)


def bootstrapped(
    over: np.ndarray, under: np.ndarray, statistic: Callable[..., np.ndarray], draws: int = 40_000
) -> Bootstrap:
    """Return the difference between a statistic of two independent samples.

    Args:
        over: The sample whose statistic comes first.
        under: The sample whose statistic is subtracted.
        statistic: A function from an array and `axis` to an array.
        draws: The number of resamples, which have a fixed seed.
    """
    rng = np.random.default_rng(0)
    samples = [np.asarray(values, float) for values in (over, under)]
    resampled = [
        statistic(values[rng.integers(0, len(values), (draws, len(values)))], axis=1)
        for values in samples
    ]
    value = float(statistic(samples[0]) - statistic(samples[1]))
    return Bootstrap(value, resampled[0] - resampled[1], min(map(len, samples)))


def log_mean(values: np.ndarray, axis: int | None = None) -> np.ndarray:
    """Return the logarithm of the mean, whose differences are log ratios of means."""
    return np.log(np.mean(values, axis))
