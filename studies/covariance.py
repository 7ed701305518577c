"""mvg2018 Experiment III: the principal components from privately released records.

The query is f(X) = X for N records in [-1, 1]^m. One record, which is a column, is replaced, so the
l2 sensitivity is 2 sqrt(m). Every feature is mapped onto [-1, 1] by its least and largest value in
the data, which is not private. The paper does not state gamma; we use its largest value, sqrt(m N).
MVG is Algorithm 1 with the axes as directions. Let lambda_i be the eigenvalues of the exact
covariance C = X X^T / N, not centred, and v_i the eigenvectors of the released records' covariance,
both in decreasing order. The error is RSS = sum_i (lambda_i - v_i^T C v_i)^2 (eq. 5).
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from datasets import load as load_dataset
from papers.mvg2018 import scaled_records
from studies.base import ROUNDED, Case, Metric, Point, Setup, Study, Value, treatments
from studies.base.families import COMPONENTS
from studies.base.principal_components import (
    captured_variance,
    first_records,
    principal_directions,
    scale_columns,
)
from studies.base.treatments import (
    TreatmentSettings,
    feature_names,
    measure_one_answer,
)


class Covariance(Study):
    """The study of this module."""

    name = "covariance"
    paper = "mvg2018"
    datasets = {"cardiotocography": "official", "breast_cancer": "bundled"}
    coordinates = treatments.COORDINATES
    slow_imports = ("sklearn.datasets",)
    Settings = TreatmentSettings
    metrics = (
        *treatments.METRICS,
        Metric(
            "rss",
            "sum over all components of (lambda_i - v_i^T C v_i)^2",
            tolerance=ROUNDED,
            title="residual sum of squares of the eigenvalues",
        ),
        Metric("largest_eigenvalue", "largest eigenvalue of the exact covariance"),
    )
    family = COMPONENTS
    query = "The records themselves, scaled into [-1, 1]; one of them is replaced."

    def points(self, settings: TreatmentSettings, variant: str, dataset: str) -> list[Point]:
        """Return one point: m x N at epsilon and delta = 1/N."""
        return [settings.point_at((len(feature_names(dataset)), settings.records))]

    def load(self, setup: Setup, folder: Path) -> np.ndarray:
        """Load the first N records, scaled, as the columns of an array (m, N)."""
        settings, dataset = setup.settings, setup.dataset
        values = scale_columns(load_dataset(dataset, folder).features)
        return first_records(values, settings.records).T.copy()

    def measure(self, problem: np.ndarray, case: Case, point: Point) -> Iterator[Value]:
        """Yield the RSS of every treatment and trial."""
        covariance = problem @ problem.T / problem.shape[1]
        eigenvalues = principal_directions(covariance)[0]

        def score(trial: int, answer: np.ndarray) -> Iterator[Value]:
            directions = principal_directions(answer @ answer.T / answer.shape[1])[1]
            residuals = eigenvalues - captured_variance(covariance, directions)
            yield Value("rss", residuals @ residuals)

        yield Value("largest_eigenvalue", eigenvalues[0])
        query = scaled_records(*point.shape)
        yield from measure_one_answer(problem, "unimodal", query, score, case, point)
