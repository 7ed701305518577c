"""Template of a study: copy this file to `studies/<name>.py` and edit it.

Then give the study a section in a config, and run `python -m runs run <name> ...` or Snakemake. Its
figures, tables and judges go into `paper_figures/<paper>/<name>.py` (extend/claim.py).

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
    """The settings in a config; types and limits are checked. See studies/base/settings.py."""

    size: Count = Field(10, ge=2, le=1000, description="elements of the answer")
    records: Count = Field(100, description="simulated records")

    def check(self) -> None:
        """Raise Disallowed if settings do not fit each other. Leave this out if all do."""
        if self.size % 2:
            raise Disallowed("size", "even, to have two halves", self.size)


class MyStudy(Study):
    """Replace this text; studies/base/study.py has the attributes and methods that are optional."""

    name = "my_study"  # the name of this file; seeds are made of it, so it must never change
    paper = "my_paper2026"  # the paper whose study this is, or "suite"
    # Its data sets with their source: official, bundled, simulated or none.
    datasets = {"coins": "simulated"}
    Settings = Settings
    # Every number that the study measures, with its unit. On another machine, a number has to agree
    # to 1e-9 of its value. Scores after training do not, and need tolerance=SCORE. A metric with a
    # `title` ranks mechanisms.
    metrics = (
        Metric("squared_error", "mean squared error of one half of the answer"),
        Metric("expected_loss", "E||noise||^2 in closed form"),
    )
    # The study's own columns: what varies beside mechanism, calibration, shape, budget and trial.
    coordinates = (Coordinate("half", int, "0: the first half of the answer, 1: the second"),)

    def points(self, settings: Settings, variant: str, dataset: str) -> list[Point]:
        """Return the grid points of a mechanism on a data set, in order."""
        return settings.points_over([(settings.size,)], variant, dataset)

    def load(self, setup: Setup, folder: Path) -> np.ndarray:
        """Return the data that all mechanisms share, here the exact answer of shape (size,).

        Seed random numbers that mechanisms share with `setup.shared_seed`. Read downloaded data
        with `datasets.load(setup.dataset, folder)`.
        """
        rng = np.random.default_rng(setup.shared_seed("coins"))
        return rng.integers(0, 2, (setup.settings.records, setup.settings.size)).mean(axis=0)

    def measure(self, problem: np.ndarray, case: Case, point: Point) -> Iterator[Value]:
        """Yield the values at a grid point. An exception becomes a row with its message."""
        query = coin_query(problem, case.settings.records)
        mechanism = case.calibrate(query, point.budget)
        if isinstance(mechanism, AdditiveMechanism):
            yield Value("expected_loss", mechanism.expected_loss())
        for trial in case.trials:
            # Each trial has its own named seed, so a new mechanism changes no other's numbers.
            seed = case.seed(point, trial)
            released = mechanism.release(problem, np.random.default_rng(seed))
            errors = ((released - problem) ** 2).reshape(2, -1).mean(axis=1)
            for half, error in enumerate(errors):
                yield Value("squared_error", float(error), trial, {"half": half}, seed)


def coin_query(answer: np.ndarray, records: int) -> Query:
    """Return the query of the mean of vectors of coins, one of which is replaced."""
    return Query(
        shape=answer.shape,
        l2_sensitivity=math.sqrt(answer.size) / records,
        l1_sensitivity=answer.size / records,
        element_range=(0.0, 1.0),
        adjacency="replace",
    )
