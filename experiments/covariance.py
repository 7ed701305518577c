"""mvg2018 Experiment III: the principal components from privately released records.

The query is f(X) = X of N records in [-1, 1]^m (every feature scaled onto the range, by its own
least and largest value in the data, which is not private); one record, a column, is replaced, l2
sensitivity 2 sqrt(m). gamma is not stated: sqrt(m N), its largest value. MVG is Algorithm 1 with
the axes as directions. With the eigenvalues lambda_i of the exact covariance C = X X^T / N, not
centred, and the eigenvectors v_i of the released records' covariance, both in falling order, the
error is RSS = sum_i (lambda_i - v_i^T C v_i)^2 (eq. 5).
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
from papers.mvg2018 import scaled_records

NAME = "covariance"
PAPER = "mvg2018"
DATASETS = {"cardiotocography": "official", "breast_cancer": "bundled"}
COORDINATES = treatments.COORDINATES
METRICS = treatments.METRICS | {
    "rss": "residual sum of squares of the leading components",
    "largest_eigenvalue": "largest exact eigenvalue of the covariance",
}


class Settings(treatments.TreatmentSettings):
    """Settings of this study."""

    def check(self) -> None:
        """Raise UnknownName or Disallowed for features that the data sets do not have."""
        self.check_directions({dataset: feature_names(dataset) for dataset in self.datasets})


@dataclass(frozen=True)
class Problem:
    """The records (m, N), one per column, their data set and the settings."""

    records: np.ndarray
    dataset: str
    settings: dict


def points(settings: dict, variant: str, dataset: str) -> list[Point]:
    """One point: epsilon, and delta = 1/N."""
    return [point_at((len(feature_names(dataset)), settings["records"]), settings)]


def load(settings: dict, dataset: str, folder: Path, names: Names) -> Problem:
    """The first N records, scaled."""
    values = scale_columns(load_dataset(dataset, folder).features)
    return Problem(first_records(values, settings["records"]).T.copy(), dataset, settings)


def measure(
    problem: Problem, variant: Variant, calibration: str, point: Point, names: Names
) -> Iterator[Value]:
    """RSS of every treatment and trial."""
    settings, features = problem.settings, feature_names(problem.dataset)
    query = scaled_records(*problem.records.shape)
    covariance = problem.records @ problem.records.T / problem.records.shape[1]
    eigenvalues = principal_directions(covariance)[0]

    def score(trial: int, answer: np.ndarray) -> dict[str, float]:
        directions = principal_directions(answer @ answer.T / answer.shape[1])[1]
        residuals = eigenvalues - captured_variance(covariance, directions)
        return {"rss": float(residuals @ residuals)}

    yield Value("largest_eigenvalue", float(eigenvalues[0]))
    ways = treatments_of(variant, "unimodal", settings, problem.dataset, features)
    yield from measure_treatments(
        variant,
        ways,
        calibration,
        query,
        lambda trial: problem.records,
        score,
        point,
        names,
        settings["trials"],
    )
