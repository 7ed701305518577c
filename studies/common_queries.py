"""Which mechanism for a common query? The error and the true privacy of every mechanism.

Every data set is a query that practitioners ask, with a budget; no data are read. The numbers come
from `mechanisms.comparison`. Figures, tables and the site rank the rows of this study as that
package does. `QUERIES` states adjacency, sensitivities and budgets.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mechanisms import Budget, Query, Unsupported
from mechanisms.comparison.assessment import Task, assessment, known_options
from mechanisms.strategies.workload_options import workload_factors
from studies.base import (
    Case,
    Coordinate,
    Metric,
    Point,
    Study,
    StudySettings,
    Tolerance,
    Value,
)
from studies.guarantee import VERDICT


@dataclass(frozen=True)
class CommonQuery:
    """A query and the workload that its answer serves.

    Args:
        title: The title shown to readers.
        about: The question, how neighbours differ, and how much one record changes.
        stated: The arguments of `Query`.
        budget: (epsilon, delta).
        workload: The name of the workload on every axis; "identity" asks for every element.
    """

    title: str
    about: str
    stated: dict[str, Any]
    budget: Budget
    workload: str = "identity"

    @cached_property
    def query(self) -> Query:
        """The query, with its shape and sensitivities."""
        return Query(**self.stated)

    @property
    def per(self) -> str:
        """The unit that the error is stated for: "element" or "query"."""
        return "element" if self.workload == "identity" else "query"

    @property
    def command(self) -> str:
        """The command line that computes the answer."""
        words = {**self.stated, "shape": "x".join(map(str, self.query.shape))}
        words |= {"workload": self.workload} if self.workload != "identity" else {}
        words |= {"epsilon": self.budget.epsilon}
        words |= {"delta": self.budget.delta} if self.budget.delta else {}
        options = (f"--{name.replace('_', '-')} {_written(each)}" for name, each in words.items())
        return " ".join(("python -m mechanisms compare", *options))

    def task(self, calibration: str) -> Task:
        """Return the task that every mechanism is given, at one calibration."""
        return Task(
            query=self.query,
            budgets=(self.budget,),
            calibrations=(calibration,),
            factors=workload_factors(self.query, workload=self.workload),
        )


def _written(value: object) -> str:
    """Format a value for the command line, with all of its digits."""
    if isinstance(value, tuple):
        return ",".join(map(_written, value))
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return str(value)


_PURE, _USUAL = Budget(epsilon=1.0), Budget(epsilon=1.0, delta=1e-5)


def _histogram(*shape: int) -> dict[str, Any]:
    return {"shape": shape, "l2_sensitivity": 1.0, "structure": "histogram", "record_bound": 1.0}


QUERIES = {
    "gradient": CommonQuery(
        "The gradient of a layer, 120 by 400",
        "The sum of gradients that are clipped to l2 norm 1. One record is added or removed.",
        {"shape": (120, 400), "l2_sensitivity": 1.0},
        _USUAL,
    ),
    "small-matrix": CommonQuery(
        "A matrix of 20 by 14, at pure privacy",
        "A sum of matrices that are clipped to Frobenius norm 1. One record is added or removed.",
        {"shape": (20, 14), "l2_sensitivity": 1.0},
        _PURE,
    ),
    "attributes": CommonQuery(
        "Sums of ten attributes, at pure privacy",
        "Every attribute lies in [-1, 1]. One record is added or removed, which changes every sum "
        "by 1 at most.",
        {
            "shape": (10,),
            "l2_sensitivity": math.sqrt(10),
            "l1_sensitivity": 10.0,
            "linf_sensitivity": 1.0,
        },
        _PURE,
    ),
    "histogram": CommonQuery(
        "A histogram of 256 cells",
        "How many records are in every cell. One record is added or removed, in one cell.",
        _histogram(256),
        _USUAL,
    ),
    "map": CommonQuery(
        "A map of 89 by 89 counts",
        "How many pickups fall into every cell. One pickup is replaced by another, which changes "
        "two cells by 1.",
        {**_histogram(89, 89), "l2_sensitivity": math.sqrt(2), "adjacency": "replace"},
        _USUAL,
    ),
    "prefix": CommonQuery(
        "Prefix sums over 256 cells",
        "How many records are in every range that begins at the first cell. One record is added or "
        "removed, in one cell.",
        _histogram(256),
        _USUAL,
        "prefix",
    ),
    "ranges": CommonQuery(
        "All ranges over 256 cells",
        "How many records are in each of the 32,896 ranges of cells. One record is added or "
        "removed, in one cell.",
        _histogram(256),
        _USUAL,
        "all-range",
    ),
    "rectangles": CommonQuery(
        "All rectangles on a map of 32 by 32",
        "How many records are in each of the 278,784 rectangles of cells. One record is added or "
        "removed, in one cell.",
        _histogram(32, 32),
        _USUAL,
        "all-range",
    ),
    "covariance": CommonQuery(
        "A covariance of 20 features",
        "The sum of x x^T over records x of l2 norm 1 at most. One record is added or removed.",
        {"shape": (20, 20), "l2_sensitivity": 1.0, "structure": "gram", "record_bound": 1.0},
        _USUAL,
    ),
    "image": CommonQuery(
        "An image of 28 by 28, at local privacy",
        "Every user sends one image with pixels in [0, 1]. Any image may become any other.",
        {
            "shape": (28, 28),
            "l2_sensitivity": 28.0,
            "element_range": (0.0, 1.0),
            "frobenius_bound": 28.0,
            "adjacency": "local",
        },
        Budget(epsilon=8.0, delta=1e-5),
    ),
}
NOTE = Coordinate("note", str, "what limits the numbers of the mechanism, such as a bound")


# For numbers computed by a search or by a sum over a grid.
COMPUTED = Tolerance(relative=0.001, absolute=1e-14)


class CommonQueries(Study):
    """The study of this module."""

    name = "common_queries"
    paper = "suite"
    datasets = dict.fromkeys(QUERIES, "none")
    coordinates = (VERDICT, NOTE)
    Settings = StudySettings
    metrics = (
        Metric(
            "rmse",
            "root mean square error of an element or, where a workload is asked, of a query",
            tolerance=COMPUTED,
        ),
        Metric(
            "rmse_error",
            "relative standard error of rmse; 0 in closed form",
            tolerance=COMPUTED,
        ),
        Metric(
            "true_epsilon",
            "true epsilon at the claimed delta, where it is finite",
            tolerance=COMPUTED,
        ),
        Metric(
            "true_delta",
            "true delta at the claimed epsilon; its row has the verdict and the note",
            tolerance=COMPUTED,
        ),
        Metric("seconds_per_draw", "wall-clock seconds of one draw of the noise"),
    )

    def points(self, settings: StudySettings, variant: str, dataset: str) -> list[Point]:
        """Return the only point of a query."""
        asked = QUERIES[dataset]
        return [Point.at(asked.query.shape, asked.budget)]

    def measure(self, problem: None, case: Case, point: Point) -> Iterator[Value]:
        """Yield the error and the privacy that `mechanisms.comparison` finds.

        Raises:
            Unsupported: The mechanism refuses the query, claims no privacy or has an unknown error.
        """
        asked = QUERIES[case.dataset]
        task = asked.task(case.calibration)
        options = known_options(task, case.mechanism)
        mechanism = case.calibrate(asked.query, asked.budget, **options)
        # No check here: `calibrate` has already checked the mechanism.
        found = assessment(mechanism, task, effort=None)
        note = found.pop("note")
        if not found:
            raise Unsupported(note)
        verdict = {"verdict": found.pop("verdict")} if "verdict" in found else {}
        seconds = found.pop("seconds_per_draw", math.nan)
        if math.isfinite(seconds):
            yield Value("seconds_per_draw", seconds, timing=True)
        known = {metric: value for metric, value in found.items() if math.isfinite(value)}
        # The note appears once: with the verdict, or with the first metric if there is no verdict.
        noted = "true_delta" if verdict else next(iter(known), None)
        for metric, value in known.items():
            at = verdict | ({"note": note} if note else {}) if metric == noted else {}
            yield Value(metric, value, at=at)
