"""Template of a study: copy this file to `studies/<name>.py` and edit it.

Then give it an entry in a config, and it runs: `python -m runs run <name> ...` or Snakemake. Its
figures, tables and verdicts go into `paper_figures/<paper>/<name>.py` (extend/claim.py).

Replace this text with the question, the query, its sensitivities, the adjacency, and what the paper
leaves open.
"""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from pydantic import Field

from mechanisms import AdditiveMechanism, Query
from studies.base import (
    Case,
    Coordinate,
    Count,
    Disallowed,
    EpsilonGrid,
    Metric,
    Point,
    ReleaseSettings,
    Setup,
    Study,
    Value,
)


class Settings(EpsilonGrid, ReleaseSettings):
    """Settings in a config; types and limits are checked. See studies/base/settings.py."""

    size: Count = Field(10, ge=2, le=1000, description="elements of the answer")
    records: Count = Field(100, description="simulated records")

    def check(self) -> None:
        """Raise Disallowed where settings do not fit each other. Leave it out if all do."""
        if self.size % 2:
            raise Disallowed("size", "even, to have two halves", self.size)


class MyStudy(Study):
    """The attributes and methods that may be left out are in studies/base/study.py."""

    name = "my_study"  # the name of this file; seeds are made of it, so it must never change
    paper = "my_paper2026"  # the paper whose study this is, or "suite"
    # Its data sets with their source: official, bundled, simulated or none.
    datasets = {"coins": "simulated"}
    Settings = Settings
    # Every number that it measures, with its unit. It has to repeat to 1e-9 of its value on another
    # machine; scores after training do not: tolerance=SCORE. A metric with a `title` is used to
    # rank mechanisms.
    metrics = (
        Metric("squared_error", "mean squared error of one half of the answer"),
        Metric("expected_loss", "E||noise||^2 in closed form"),
    )
    # Columns of its own: what it varies beside mechanism, calibration, shape, budget and trial.
    coordinates = (Coordinate("half", int, "0: the first half of the answer, 1: the second"),)

    def points(self, settings: Settings, variant: str, dataset: str) -> list[Point]:
        """The grid of one mechanism on one data set, in order."""
        return settings.points_over([(settings.size,)], variant, dataset)

    def load(self, setup: Setup, folder: Path) -> np.ndarray:
        """The data that all mechanisms share, here the exact answer (size,).

        Random numbers that they share come from `setup.shared_seed`, and downloaded data from
        `datasets.load(setup.dataset, folder)`.
        """
        rng = np.random.default_rng(setup.shared_seed("coins"))
        return rng.integers(0, 2, (setup.settings.records, setup.settings.size)).mean(axis=0)

    def measure(self, problem: np.ndarray, case: Case, point: Point) -> Iterator[Value]:
        """One grid point. An `Unsupported` becomes a row with the reason, any other error too."""
        query = coin_query(problem, case.settings.records)
        mechanism = case.calibrate(query, point.budget)
        if isinstance(mechanism, AdditiveMechanism):
            yield Value("expected_loss", mechanism.expected_loss())
        for trial in case.trials:
            # One named seed per trial: adding a mechanism changes no other's numbers.
            seed = case.seed(point, trial)
            released = mechanism.release(problem, np.random.default_rng(seed))
            errors = ((released - problem) ** 2).reshape(2, -1).mean(axis=1)
            for half, error in enumerate(errors):
                yield Value("squared_error", float(error), trial, {"half": half}, seed)


def coin_query(answer: np.ndarray, records: int) -> Query:
    """The mean of vectors of coins, one of which is replaced."""
    return Query(
        shape=answer.shape,
        l2_sensitivity=math.sqrt(answer.size) / records,
        l1_sensitivity=answer.size / records,
        element_range=(0.0, 1.0),
        adjacency="replace",
    )
