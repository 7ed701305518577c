"""Selections of rows and texts for findings that judges share."""

import math
import warnings
from collections.abc import Iterable, Sized
from typing import TypeVar

import pandas as pd

from claims.judges import CannotJudge
from claims.mechanism_titles import OWN
from mechanisms import (
    AdditiveMechanism,
    Budget,
    OutOfRangeWarning,
    Query,
    get_mechanism,
)
from mechanisms.query.words import rounded_down
from runs.result_table import OK

# The controls ignore epsilon, so each has the same level at all budgets.
LEVELS = ("non-private", "random-answer")

Found = TypeVar("Found", bound=Sized)


def required(found: Found, missing: Exception) -> Found:
    """Return what was found, or raise `missing` if it is empty."""
    if not len(found):
        raise missing
    return found


def select(rows: pd.DataFrame, **values) -> pd.DataFrame:
    """Return the rows with these values in the given columns; there may be none."""
    chosen = pd.Series(True, rows.index)
    for column, value in values.items():
        chosen &= rows[column] == value
    return rows[chosen]


def ok_rows(
    rows: pd.DataFrame, study: str, metric: str, dataset: str | None = None
) -> pd.DataFrame:
    """Return rows with status ok of one metric of one study (and data set)."""
    own = {} if dataset is None else {"dataset": dataset}
    return select(rows, status=OK, study=study, metric=metric, **own)


def pick(rows: pd.DataFrame, **values) -> pd.DataFrame:
    """Return rows with status ok and these column values.

    Raises:
        CannotJudge: There are none; the message names the missing values.
    """
    wanted = ", ".join(f"{column} {value}" for column, value in values.items())
    missing = CannotJudge(f"The results have no rows with {wanted}")
    return required(select(rows, status=OK, **values), missing)


def number_of(rows: pd.DataFrame, **values) -> float:
    """Return the number that all rows with status ok and these column values have in common.

    Raises:
        CannotJudge: There are no such rows.
    """
    return float(pick(rows, **values)["value"].iloc[0])


def official_study(
    rows: pd.DataFrame, study: str, *, about: str, shape: str, delta: float
) -> pd.DataFrame:
    """Return rows of a study on official data, at the shape and the delta of the paper's study.

    Raises:
        CannotJudge: The run has no such rows, and other data say nothing about the paper's
            numbers. The message names the subject of the claim, `about`, and the data that the run
            has.
    """
    found = pick(rows, study=study)
    own = (found["shape"] == shape) & ((found["delta"] - delta).abs() <= 1e-9 * delta)
    chosen = found[own & (found["data_source"] == "official")]
    if chosen.empty:
        present = found[["data_source", "shape", "delta"]].drop_duplicates()
        words = listed(
            f"{source} data of shape {size} at delta {value:.3g}"
            for source, size, value in present.itertuples(index=False)
        )
        raise CannotJudge(
            f"The claim is about {about} of shape {shape} at delta {delta:.3g}; this run has "
            f"{words}"
        )
    return chosen


def calibrated(
    key: str, query: Query, budget: Budget, calibration: str = "published", **options
) -> AdditiveMechanism:
    """Calibrate a mechanism without the warning that a budget is outside its theorem's range."""
    mechanism = OWN.get(key) or get_mechanism(key)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutOfRangeWarning)
        return mechanism.calibrate_only(query, budget, calibration, **options)


def listed(words: Iterable[str]) -> str:
    """Join words as "a, b and c"."""
    words = list(words)
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def range_text(low: str, high: str) -> str:
    """Join the ends of a range as "a to b", or as one word if they are equal."""
    return low if low == high else f"{low} to {high}"


def listed_numbers(numbers: Iterable[float]) -> str:
    """Join numbers as "0.1, 1 and 10"."""
    return listed(f"{number:g}" for number in numbers)


def at_least(probability: float) -> str:
    """Format a lower bound on a probability below 1, which rounding never turns into 1."""
    return rounded_down(min(probability, math.nextafter(1, 0)), 6)
