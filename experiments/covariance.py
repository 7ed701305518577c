"""mvg2018 Experiment III: the principal components from privately released records.

The query is f(X) = X of N records in [-1, 1]^m; one record, a column, is replaced: the l2
sensitivity is 2 sqrt(m). Every feature is mapped onto [-1, 1] by its least and largest value in the
data, which is not private. The paper does not state gamma; its largest value, sqrt(m N), is used.
MVG is Algorithm 1 with the axes as directions. Let lambda_i be the eigenvalues of the exact
covariance C = X X^T / N, not centred, and v_i the eigenvectors of the released records' covariance,
both in decreasing order. The error is RSS = sum_i (lambda_i - v_i^T C v_i)^2 (eq. 5).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from datasets import load as load_dataset
from experiments.contract import treatments
from experiments.contract.principal_components import captured_variance, principal_directions
from experiments.contract.scaling import first_records, scale_columns
from experiments.contract.study import (
    Names,
    Point,
    Value,
    Variant,
)
from experiments.contract.tolerances import ROUNDED, tolerances
from experiments.contract.treatments import (
    feature_names,
    measure_treatments,
    point_at,
    treatments_of,
)
from papers.mvg2018 import scaled_records

NAME = "covariance"
PAPER = "mvg2018"
DATASETS = {"cardiotocography": "official", "breast_cancer": "bundled"}
COORDINATES = treatments.COORDINATES
METRICS = treatments.METRICS | {
    "rss": "sum over all components of (lambda_i - v_i^T C v_i)^2",
    "largest_eigenvalue": "largest eigenvalue of the exact covariance",
}
TOLERANCES = tolerances(ROUNDED, "rss")


class Settings(treatments.TreatmentSettings):
    """Settings of this study."""


@dataclass(frozen=True)
class ScaledRecords:
    """The records, the columns of (m, N), with the name of the data set and the settings."""

    records: np.ndarray
    dataset: str
    settings: dict


def points(settings: dict, variant: str, dataset: str) -> list[Point]:
    """One point: m x N at epsilon and delta = 1/N."""
    return [point_at((len(feature_names(dataset)), settings["records"]), settings)]


def load(settings: dict, dataset: str, folder: Path, names: Names) -> ScaledRecords:
    """The first N records, scaled."""
    values = scale_columns(load_dataset(dataset, folder).features)
    return ScaledRecords(first_records(values, settings["records"]).T.copy(), dataset, settings)


def measure(
    problem: ScaledRecords, variant: Variant, calibration: str, point: Point, names: Names
) -> Iterator[Value]:
    """RSS of every treatment and trial."""
    settings, features = problem.settings, feature_names(problem.dataset)
    query = scaled_records(*problem.records.shape)
    covariance = problem.records @ problem.records.T / problem.records.shape[1]
    eigenvalues = principal_directions(covariance)[0]

    def score(trial: int, answer: np.ndarray) -> Iterator[Value]:
        directions = principal_directions(answer @ answer.T / answer.shape[1])[1]
        residuals = eigenvalues - captured_variance(covariance, directions)
        yield Value("rss", float(residuals @ residuals))

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
