"""Template of a study: copy this file to `studies/<name>.py` and edit it.

Then give it an entry in a config, and it runs: `python -m runs run <name> ...` or Snakemake. Its
figures, tables and verdicts go into `paper_figures/<paper>/<name>.py` (extend/claim.py).

Replace this text with the question, the query, its sensitivities, the adjacency, and what the paper
leaves open.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import Field
from studies.base.tolerances import Tolerance

from mechanisms import AdditiveMechanism, Budget, Query
from studies.base.coordinates import Coordinate
from studies.base.grid import EpsilonGrid, points_over
from studies.base.settings import MOST_TRIALS, Count, Disallowed
from studies.base.study import Names, Point, Value, Variant

NAME = "my_study"  # the name of this file; seeds are made of it, so it must never change
PAPER = "my_paper2026"  # the paper whose study this is, or "suite"
# Its data sets with their source: official, bundled, simulated or none.
DATASETS = {"coins": "simulated"}
# What a mechanism must offer to be in "all" here: "any" (a release) or "additive" (noise).
NEEDS = "any"
# Columns of its own: what it varies beside mechanism, calibration, shape, epsilon, delta and trial.
COORDINATES = (Coordinate("half", int, "0: the first half of the answer, 1: the second"),)
# Every number that it measures, with its unit.
METRICS = {
    "squared_error": "mean squared error of one half of the answer",
    "expected_loss": "E||noise||^2 in closed form",
}
# How far a metric may lie from its value on another machine. Without an entry, as here, it has to
# repeat to 1e-9 of its value; scores after training do not: {"accuracy": SCORE}.
TOLERANCES: dict[str, Tolerance] = {}


class Settings(EpsilonGrid):
    """Settings in a config; types and limits are checked. See studies/base/settings.py."""

    size: Count = Field(10, ge=2, le=1000, description="elements of the answer")
    records: Count = Field(100, description="simulated records")
    trials: Count = Field(3, le=MOST_TRIALS, description="releases per grid point")

    def check(self) -> None:
        """Raise Disallowed where settings do not fit each other. Leave it out if all do."""
        if self.size % 2:
            raise Disallowed("size", "even, to have two halves", self.size)


@dataclass(frozen=True)
class Coins:
    """What all mechanisms share: the exact answer (size,) and the settings."""

    answer: np.ndarray
    settings: dict


def points(settings: dict, variant: str, dataset: str) -> list[Point]:
    """The grid of one mechanism on one data set, in order."""
    return points_over([(settings["size"],)], settings, variant)


def load(settings: dict, dataset: str, folder: Path, names: Names) -> Coins:
    """The data. Random numbers that all mechanisms share come from `names.shared_seed`.

    Downloaded data are read by `datasets.load(dataset, folder)`.
    """
    rng = np.random.default_rng(names.shared_seed("coins"))
    coins = rng.integers(0, 2, (settings["records"], settings["size"]))
    return Coins(coins.mean(axis=0), settings)


def coin_query(answer: np.ndarray, records: int) -> Query:
    """The mean of vectors of coins, one of which is replaced."""
    return Query(
        shape=answer.shape,
        l2_sensitivity=math.sqrt(answer.size) / records,
        l1_sensitivity=answer.size / records,
        element_range=(0.0, 1.0),
        adjacency="replace",
    )


def measure(
    problem: Coins, variant: Variant, calibration: str, point: Point, names: Names
) -> Iterator[Value]:
    """One grid point. An `Unsupported` becomes a row that gives the reason, any other error too."""
    budget = Budget(epsilon=point.epsilon, delta=point.delta)
    query = coin_query(problem.answer, problem.settings["records"])
    mechanism = variant.calibrate(query, budget, calibration)
    if isinstance(mechanism, AdditiveMechanism):
        yield Value("expected_loss", mechanism.expected_loss())
    for trial in range(problem.settings["trials"]):
        # One named seed per trial: adding a mechanism changes no other's numbers.
        seed = names.seed(point, trial)
        released = mechanism.release(problem.answer, np.random.default_rng(seed))
        errors = ((released - problem.answer) ** 2).reshape(2, -1).mean(axis=1)
        for half, error in enumerate(errors):
            yield Value("squared_error", float(error), trial, {"half": half}, seed)
