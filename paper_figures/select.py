"""Selections of result rows that several figures make."""

from __future__ import annotations

import math

import pandas as pd

from experiments.table import OK
from paper_figures.registry import DrawingError

SOURCE_WORDS = {
    "official": "official data",
    "bundled": "data bundled with scikit-learn",
    "simulated": "simulated data",
    "none": "no data",
}
_PREFERENCE = ["official", "bundled", "simulated", "none"]


def ok_rows(rows: pd.DataFrame, experiment: str, metric: str, dataset: str | None = None):
    """Measured rows of one metric of one experiment (and data set)."""
    chosen = (rows["experiment"] == experiment) & (rows["metric"] == metric)
    chosen &= rows["status"] == OK
    if dataset is not None:
        chosen &= rows["dataset"] == dataset
    return rows[chosen]


def main_dataset(rows: pd.DataFrame, experiment: str) -> tuple[str, str]:
    """The data set to draw and its source in words: official data before simulated."""
    pairs = rows[rows["experiment"] == experiment][["dataset", "data_source"]].drop_duplicates()
    if pairs.empty:
        raise DrawingError(f"the results hold no rows of {experiment}; run it first")
    pairs = pairs.sort_values("data_source", key=lambda s: s.map(_PREFERENCE.index), kind="stable")
    dataset, source = pairs.iloc[0]
    return dataset, f"{dataset} ({SOURCE_WORDS[source]})"


def size_of(shape: str) -> int:
    """M, the number of elements of a shape written as 89x89."""
    return math.prod(int(axis) for axis in shape.split("x"))


def failed_mechanisms(rows: pd.DataFrame, experiment: str, dataset: str) -> str:
    """One sentence about mechanisms that have no result at some grid point, or nothing."""
    failed = rows[
        (rows["experiment"] == experiment) & (rows["dataset"] == dataset) & (rows["status"] != OK)
    ]
    reasons = failed.drop_duplicates(["mechanism", "footing", "status"])
    if reasons.empty:
        return ""
    listed = "; ".join(
        f"{row.mechanism} ({row.footing}): {row.status}" for row in reasons.itertuples()
    )
    return f" Without a result at one or more budgets: {listed}."
