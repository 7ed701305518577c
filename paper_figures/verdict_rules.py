"""From numbers to verdicts: the selections, intervals and rules that all measurements share."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from mechanisms import (
    AdditiveMechanism,
    Budget,
    OutOfRangeWarning,
    Query,
    get_mechanism,
)
from paper_figures.ledger import CONTRADICTED, NOT_REPRODUCED, NOT_RUN, REPRODUCED, CannotJudge
from runs.rows import OK

CONFIDENCE = 0.95


class Interval(NamedTuple):
    """A mean with its confidence interval, and the trials behind it."""

    mean: float
    low: float
    high: float
    trials: int

    def __str__(self) -> str:
        return f"{self.mean:.4g} [{self.low:.4g}, {self.high:.4g}]"

    def negative(self, comparisons: int) -> bool:
        """Whether it lies below zero even as one of several that are looked at together.

        Its upper half is stretched to that of Student's interval at confidence 1 - (1 - CONFIDENCE)
        / comparisons (Bonferroni), so that chance puts any of them below zero in at most (1 -
        CONFIDENCE) / 2 of all cases.
        """
        tails = (1 - CONFIDENCE) / 2 / np.array([1, comparisons])
        usual, wider = stats.t.isf(tails, self.trials - 1)
        return bool(self.mean + (self.high - self.mean) * wider / usual < 0)


def pick(rows: pd.DataFrame, **values) -> pd.DataFrame:
    """Rows with status ok and these column values.

    Raises:
        CannotJudge: There are none; the message names what is missing.
    """
    chosen = rows["status"] == OK
    for column, value in values.items():
        chosen &= rows[column] == value
    if not chosen.any():
        wanted = ", ".join(f"{column} {value}" for column, value in values.items())
        raise CannotJudge(f"The results have no rows with {wanted}")
    return rows[chosen]


def official_study(
    rows: pd.DataFrame, experiment: str, *, about: str, shape: str, delta: float
) -> pd.DataFrame:
    """Rows of an experiment on official data, at the shape and the delta of the paper's study.

    Raises:
        CannotJudge: The run has no such rows, and other data say nothing about the paper's
            numbers; the message names `about`, what the claim is about, and what the run has.
    """
    found = pick(rows, experiment=experiment)
    own = (found["shape"] == shape) & ((found["delta"] - delta).abs() <= 1e-9 * delta)
    chosen = found[own & (found["data_source"] == "official")]
    if chosen.empty:
        present = found[["data_source", "shape", "delta"]].drop_duplicates()
        words = listed(
            f"{source} data of shape {size} at delta {value:.3g}"
            for source, size, value in present.itertuples(index=False)
        )
        raise CannotJudge(
            f"A claim about {about} of shape {shape} at delta {delta:.3g}; this run has {words}"
        )
    return chosen


def mean_interval(values: pd.Series) -> Interval:
    """Student's interval of a mean over independent trials.

    Raises:
        CannotJudge: Fewer than two trials.
    """
    count = len(values)
    if count < 2:
        raise CannotJudge(f"An interval needs two trials, there are {count}")
    mean = float(values.mean())
    half = stats.t.ppf((1 + CONFIDENCE) / 2, count - 1) * float(values.std()) / math.sqrt(count)
    return Interval(mean, mean - half, mean + half, count)


def paired_difference(larger: pd.DataFrame, smaller: pd.DataFrame) -> Interval:
    """Interval of the mean of `larger` - `smaller` over the trials that both have."""
    values = larger.set_index("trial")["value"] - smaller.set_index("trial")["value"]
    return mean_interval(values.dropna().astype(float))


def bootstrap_difference(
    larger: np.ndarray, smaller: np.ndarray, statistic: Callable[..., np.ndarray]
) -> Interval:
    """Percentile interval of the difference of a statistic of two independent samples."""
    rng = np.random.default_rng(0)
    draws = [
        statistic(rng.choice(values, (2000, len(values))), axis=1) for values in (larger, smaller)
    ]
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(draws[0] - draws[1], (tail, 1 - tail))
    difference = float(statistic(larger) - statistic(smaller))
    return Interval(difference, float(low), float(high), min(len(larger), len(smaller)))


def verdict_on_order(*differences: Interval) -> str:
    """The verdict on an order, given intervals of what it says is positive.

    Reproduced only if every whole interval supports it, contradicted if any opposes it by more than
    chance does among so many, otherwise not reproduced.
    """
    if any(difference.negative(len(differences)) for difference in differences):
        return CONTRADICTED
    supported = all(difference.low > 0 for difference in differences)
    return REPRODUCED if supported else NOT_REPRODUCED


def close(ours: float, stated: float, tolerance: float) -> bool:
    """Whether `ours` is within a relative tolerance of the stated number."""
    return abs(ours - stated) <= tolerance * abs(stated)


def verdict_on_numbers(pairs: Iterable[tuple[float, float]], tolerance: float) -> str:
    """The verdict on reported numbers, (ours, stated) each: reproduced or not reproduced."""
    agree = all(close(ours, stated, tolerance) for ours, stated in pairs)
    return REPRODUCED if agree else NOT_REPRODUCED


def verdict_on_statement(holds: bool) -> str:
    """The verdict on a mathematical statement, from exact numbers."""
    return REPRODUCED if holds else CONTRADICTED


def verdict_of_parts(*verdicts: str) -> str:
    """The verdict on a claim of several parts: the worst part decides, then what is not run."""
    return next(v for v in (CONTRADICTED, NOT_REPRODUCED, NOT_RUN, REPRODUCED) if v in verdicts)


def calibrated(
    key: str, query: Query, budget: Budget, calibration: str = "published", **options
) -> AdditiveMechanism:
    """A mechanism at a budget that may lie outside its theorem's range, without the warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutOfRangeWarning)
        return get_mechanism(key).calibrate(query, budget, calibration, **options)


def listed(words: Iterable[str]) -> str:
    """ "a, b and c"."""
    words = list(words)
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def at_least(probability: float) -> str:
    """A lower bound on a probability as text that rounding does not carry up to 1."""
    return f"{min(probability, 0.999999):.6g}"
