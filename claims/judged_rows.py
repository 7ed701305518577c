"""Selections of rows and formats of findings that judges share."""

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

# The controls. They ignore epsilon, so each has the same level at all budgets.
LEVELS = ("non-private", "random-answer")

Found = TypeVar("Found", bound=Sized)


def required(found: Found, missing: Exception) -> Found:
    """Return what was found, or raise `missing` if it is empty."""
    if not len(found):
        raise missing
    return found


def select(rows: pd.DataFrame, **values) -> pd.DataFrame:
    """Return the rows that have these values in these columns; there may be none."""
    chosen = pd.Series(True, rows.index)
    for column, value in values.items():
        chosen &= rows[column] == value
    return rows[chosen]


def ok_rows(
    rows: pd.DataFrame, study: str, metric: str, dataset: str | None = None
) -> pd.DataFrame:
    """Return the rows with status ok of one metric of a study, on one data set if it is given."""
    own = {} if dataset is None else {"dataset": dataset}
    return select(rows, status=OK, study=study, metric=metric, **own)


def pick(rows: pd.DataFrame, **values) -> pd.DataFrame:
    """Return the rows with status ok that have these values in these columns.

    Raises:
        CannotJudge: There are no such rows; the message names the values.
    """
    wanted = ", ".join(f"{column} {value}" for column, value in values.items())
    missing = CannotJudge(f"The results have no rows with {wanted}")
    return required(select(rows, status=OK, **values), missing)


def number_of(rows: pd.DataFrame, **values) -> float:
    """Return the value of the first row that `pick` returns, for numbers that all such rows share.

    Raises:
        CannotJudge: There are no such rows.
    """
    return float(pick(rows, **values)["value"].iloc[0])


def official_study(
    rows: pd.DataFrame, study: str, *, about: str, shape: str, delta: float
) -> pd.DataFrame:
    """Return the rows of a study on official data, at the shape and the delta of the paper's study.

    Args:
        rows: The rows of a run.
        study: The study.
        about: The subject of the claim, for the error message.
        shape: The paper's shape, such as "89x89".
        delta: The paper's delta.

    Raises:
        CannotJudge: The run has no such rows; other data say nothing about the paper's numbers. The
            message names the data that the run has.
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
    """Calibrate a mechanism, without a warning if the budget is outside its theorem's range."""
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
    """Format a lower bound on a probability below 1; rounding never turns it into 1."""
    return rounded_down(min(probability, math.nextafter(1, 0)), 6)
