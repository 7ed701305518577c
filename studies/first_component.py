"""mvg2018 Experiment II: the first principal component from a private covariance.

The query is f(X) = X X^T / N, not centred, for N records in [-1, 1]^m; one record is replaced. The
published noise is for the paper's l2 sensitivity, 2 m / N. The exact calibration uses the
sensitivity if records may lie anywhere in the ball around the box, as mechanisms for Gram matrices
assume: sqrt(2) m / N. The paper does not state gamma; we use its largest value, m. MVG is
Algorithm 2 with the axes as directions. The component v is the first eigenvector of the symmetric
part of the released matrix, and the error is lambda_1 - v^T C v on the exact covariance C (eq. 4).

The paper takes 2,021 of the 13,197 steps of the Movement data and does not say which. The study
takes the first 2,021 in the order of the file, which are exactly the first 80 sequences. The file
counts anchors from 1: the paper's ANC0 is anchor1.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from datasets import load as load_dataset
from papers.mvg2018 import record_covariance
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


class FirstComponent(Study):
    """The study of this module."""

    name = "first_component"
    paper = "mvg2018"
    datasets = {"movement_aal": "official", "wine": "bundled"}
    coordinates = treatments.COORDINATES
    slow_imports = ("sklearn.datasets",)
    Settings = TreatmentSettings
    metrics = (
        *treatments.METRICS,
        Metric(
            "error",
            "exact variance that the private component misses, lambda_1 - v^T C v",
            tolerance=ROUNDED,
            title="variance that the first component misses",
        ),
        Metric("largest_eigenvalue", "largest eigenvalue of the exact covariance"),
    )
    family = COMPONENTS
    query = "The covariance of records in [-1, 1], one of which is replaced."

    def points(self, settings: TreatmentSettings, variant: str, dataset: str) -> list[Point]:
        """Return one point: m x m at epsilon and delta = 1/N."""
        features = len(feature_names(dataset))
        return [settings.point_at((features, features))]

    def load(self, setup: Setup, folder: Path) -> np.ndarray:
        """Load the covariance C of the first N records, (m, m).

        The columns of Wine are scaled by their extremes, which uses the data and is not private.
        """
        settings, dataset = setup.settings, setup.dataset
        data = load_dataset(dataset, folder)
        # The values in the file of movement_aal are already in [-1, 1].
        walks = dataset == "movement_aal"
        values = np.concatenate(data) if walks else scale_columns(data.features)
        values = first_records(values, settings.records)
        return values.T @ values / len(values)

    def measure(self, problem: np.ndarray, case: Case, point: Point) -> Iterator[Value]:
        """Yield the error of every treatment and trial."""
        largest = principal_directions(problem)[0][0]

        def score(trial: int, answer: np.ndarray) -> Iterator[Value]:
            directions = principal_directions(answer)[1][:, :1]
            captured = captured_variance(problem, directions)[0]
            yield Value("error", abs(largest - captured))

        yield Value("largest_eigenvalue", largest)
        query = record_covariance(len(problem), case.settings.records)
        yield from measure_one_answer(problem, "equimodal", query, score, case, point)
