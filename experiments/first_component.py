"""mvg2018 Experiment II: the first principal component from a private covariance.

The query is f(X) = X X^T / N, not centred, of N records in [-1, 1]^m; one record is replaced. The
published noise is for the paper's l2 sensitivity, 2 m / N. What is true, and the exact calibration,
rests on what one record changes, sqrt(2) m / N, for all records of the ball around the box, which
mechanisms for Gram matrices presume. gamma is not stated: m, its largest value. MVG is Algorithm 2
with the axes as directions. The component v is the first eigenvector of the released matrix's
symmetric part, and the error is lambda_1 - v^T C v on the exact covariance C (eq. 4).

The paper takes 2,021 of the 13,197 steps of the Movement data and does not say which. Here it is
the first ones of the file's order, which are the first 80 sequences exactly. Their anchors count
from 1: the paper's ANC0 is anchor1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from datasets import load as load_dataset
from experiments.contract import treatments
from experiments.contract.study import (
    Names,
    Point,
    Value,
    Variant,
)
from experiments.contract.treatments import (
    captured_variance,
    feature_names,
    first_records,
    measure_treatments,
    point_at,
    principal_directions,
    scale_columns,
    treatments_of,
)
from papers.mvg2018 import record_covariance

NAME = "first_component"
PAPER = "mvg2018"
DATASETS = {"movement_aal": "official", "wine": "bundled"}
COORDINATES = treatments.COORDINATES
METRICS = treatments.METRICS | {
    "error": "exact variance that the private component misses",
    "largest_eigenvalue": "largest exact eigenvalue of the covariance",
}


class Settings(treatments.TreatmentSettings):
    """Settings of this study."""

    def check(self) -> None:
        """Raise UnknownName or Disallowed for features that the data sets do not have."""
        self.check_directions({dataset: feature_names(dataset) for dataset in self.datasets})


@dataclass(frozen=True)
class Problem:
    """The covariance C (m, m) of the records, its data set and the settings."""

    covariance: np.ndarray
    dataset: str
    settings: dict


def points(settings: dict, variant: str, dataset: str) -> list[Point]:
    """One point: epsilon, and delta = 1/N."""
    features = len(feature_names(dataset))
    return [point_at((features, features), settings)]


def load(settings: dict, dataset: str, folder: Path, names: Names) -> Problem:
    """The covariance of the first N records."""
    data = load_dataset(dataset, folder)
    if dataset == "movement_aal":
        # In [-1, 1] as published.
        values = np.concatenate(data.sequences)
    else:
        values = scale_columns(data.features)
    values = first_records(values, settings["records"])
    return Problem(values.T @ values / len(values), dataset, settings)


def measure(
    problem: Problem, variant: Variant, calibration: str, point: Point, names: Names
) -> Iterator[Value]:
    """The error of every treatment and trial."""
    settings, features = problem.settings, feature_names(problem.dataset)
    query = record_covariance(len(features), settings["records"])
    largest = principal_directions(problem.covariance)[0][0]

    def score(trial: int, answer: np.ndarray) -> dict[str, float]:
        directions = principal_directions(answer)[1][:, :1]
        return {"error": abs(largest - captured_variance(problem.covariance, directions)[0])}

    yield Value("largest_eigenvalue", float(largest))
    ways = treatments_of(variant, "equimodal", settings, problem.dataset, features)
    yield from measure_treatments(
        variant,
        ways,
        calibration,
        query,
        lambda trial: problem.covariance,
        score,
        point,
        names,
        settings["trials"],
    )
