"""Principal components of a private covariance matrix: r1smg2024, Section 7.2, Figure 6.

The query is C = D^T D / N for N records of d features in [-1, 1], not centred
(`papers.r1smg2024.covariance_query`). Adjacency: one record is replaced by another. C is a Gram
matrix of records of norm at most sqrt(d / N), which mechanisms for Gram matrices use.

As in the paper, a release is made symmetric and decomposed. The metrics are:

total_deviation
    The sum over i of |lambda_i - v_i^T C v_i|, where lambda_i is the i-th largest eigenvalue of C
    and v_i the eigenvector of the release with its i-th largest eigenvalue. It has the first 2041
    of 2400 terms, as in the paper, which does not say why, or all terms if there are fewer.
leading_deviation
    sum_{i <= k} lambda_i - tr(V^T C V) for the first k components V: how much less variance they
    capture than the best k. This is the smallest deviation of any orthonormal basis of their span,
    so it depends on the span alone. It is the only deviation defined for PPCA, which releases a
    span without an order.
accuracy
    The accuracy of a linear support vector machine on the records projected on the first k
    components, trained on 60% of the records and tested on 40%. All mechanisms share one split. The
    paper does not specify the loss or the penalty; we use the squared hinge loss and penalty 1.

On Swarm Behaviour, each feature is scaled to [-1, 1] by its extremes, as in the paper; this is not
private. Records with an empty cell are left out and counted. Simulated boids have the same
features, scaled by bounds that hold for every snapshot.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from pydantic import Field

from datasets import load as load_dataset
from datasets.loaders import boids, swarm
from mechanisms import AdditiveMechanism
from papers.r1smg2024 import DEVIATION_COMPONENTS, covariance_query
from studies.base import (
    ROUNDED,
    SCORE,
    Case,
    Count,
    Disallowed,
    EpsilonGrid,
    Metric,
    Point,
    ReleaseSettings,
    Setup,
    Study,
    Trials,
    Value,
)
from studies.base.families import COMPONENTS
from studies.base.principal_components import principal_directions, scale_columns

TRAINING_SHARE = 0.6


class Settings(EpsilonGrid, ReleaseSettings):
    """Settings of this study."""

    components: Count = Field(20, description="first components that the classifier sees")
    trials: Trials = Field(10, description="releases per grid point")
    boids: Count = Field(
        20, ge=2, le=1000, description="boids of a simulated group, 12 features each"
    )
    groups: Count = Field(2000, ge=10, description="simulated groups")

    def check(self) -> None:
        """Raise Disallowed if there are more components than features."""
        for dataset in self.datasets:
            if self.components > (features := self.features(dataset)):
                allowed = f"at most {features}, the features of {dataset}"
                raise Disallowed("components", allowed, self.components)

    def features(self, dataset: str) -> int:
        """Return the number of features of a record."""
        return swarm.COLUMNS if dataset == "swarm" else boids.FEATURES * self.boids


@dataclass(frozen=True)
class ScaledRecords:
    """The scaled records and their split, shared by all mechanisms.

    Args:
        features: (N, d), in [-1, 1].
        labels: (N,), 0 or 1.
        training: Boolean (N,): the records that train the classifier.
        dropped: The number of records left out.
    """

    features: np.ndarray
    labels: np.ndarray
    training: np.ndarray
    dropped: int

    @cached_property
    def covariance(self) -> np.ndarray:
        """C = D^T D / N, (d, d)."""
        return self.features.T @ self.features / len(self.features)

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """The eigenvalues (d,) of C, in decreasing order."""
        return np.linalg.eigvalsh(self.covariance)[::-1]


class PrincipalComponents(Study):
    """The study of this module."""

    name = "pca"
    paper = "r1smg2024"
    datasets = {"swarm": "official", "boids": "simulated"}
    coordinates = ()
    slow_imports = ("sklearn.svm",)
    Settings = Settings
    metrics = (
        Metric(
            "accuracy",
            "accuracy of a linear SVM on the leading private components, in [0, 1]",
            tolerance=SCORE,
            title="accuracy of a linear SVM on the first components",
            better="larger",
            largest=1.0,
        ),
        Metric("components", "leading components kept"),
        Metric("leading_variance", "exact variance along the exact leading components"),
        Metric(
            "leading_deviation",
            "leading_variance minus the exact variance along the private components",
            tolerance=ROUNDED,
            title="variance that the first components lose",
        ),
        Metric("variance", "exact total variance"),
        Metric(
            "total_deviation",
            f"sum over the first {DEVIATION_COMPONENTS} components of |private - exact variance|",
            tolerance=ROUNDED,
            title="total deviation of all components",
        ),
        Metric("expected_loss", "E||noise||^2 in closed form"),
        Metric("records", "records"),
        Metric("records_dropped", "records left out because a cell is empty"),
        Metric("r_hat", "split R-hat of a mechanism that samples by a Markov chain"),
        Metric("sweeps", "sweeps of that chain"),
        Metric("calibrate_seconds", "wall-clock seconds to calibrate"),
        Metric(
            "release_seconds", "wall-clock seconds of one release, without the checks around it"
        ),
    )
    family = COMPONENTS
    query = "The covariance of records in [-1, 1], one of which is replaced."

    def points(self, settings: Settings, variant: str, dataset: str) -> list[Point]:
        """Return the grid over epsilon at the shape of the covariance."""
        size = settings.features(dataset)
        return settings.points_over([(size, size)], variant, dataset)

    def load(self, setup: Setup, folder: Path) -> ScaledRecords:
        """Load and scale the records, and draw the split that all mechanisms share."""
        settings, dataset = setup.settings, setup.dataset
        if dataset == "swarm":
            data = load_dataset("swarm", folder)
            complete = np.isfinite(data.features).all(axis=1)
            features = scale_columns(data.features[complete])
            labels = data.targets[complete]
        else:
            seed = setup.shared_seed("boids")
            data = boids.load(seed=seed, groups=settings.groups, boids=settings.boids)
            features, labels = data.features, data.targets
        training = np.zeros(len(labels), dtype=bool)
        order = np.random.default_rng(setup.shared_seed("split")).permutation(len(labels))
        training[order[: round(TRAINING_SHARE * len(labels))]] = True
        return ScaledRecords(features, labels, training, len(data.targets) - len(labels))

    def measure(self, problem: ScaledRecords, case: Case, point: Point) -> Iterator[Value]:
        """Yield the deviations, accuracy and diagnostics of every release."""
        components = case.settings.components
        own = {"components": components} if "components" in case.mechanism.options else {}
        mechanism, seconds = case.timed_calibration(
            covariance_query(*problem.features.shape),
            point.budget,
            **(own | case.variant.options),
        )
        yield Value("calibrate_seconds", seconds, timing=True)
        if isinstance(mechanism, AdditiveMechanism):
            yield Value("expected_loss", mechanism.expected_loss())
        yield Value("components", components)
        yield Value("records", len(problem.features))
        yield Value("records_dropped", problem.dropped)
        yield Value("variance", problem.eigenvalues.sum())
        yield Value("leading_variance", problem.eigenvalues[:components].sum())

        for trial in case.trials:
            seed = case.seed(point, trial)
            released, diagnostics, seconds = mechanism.timed_release(
                problem.covariance, np.random.default_rng(seed)
            )
            yield Value("release_seconds", seconds, trial, timing=True)
            _, vectors = principal_directions(released)
            held = np.vecdot(vectors, problem.covariance @ vectors, axis=0)
            numbers = {
                "leading_deviation": (problem.eigenvalues - held)[:components].sum(),
                "accuracy": projected_accuracy(problem, vectors[:, :components]),
            } | diagnostics
            if "components" not in mechanism.settings:
                deviations = np.abs(problem.eigenvalues - held)
                numbers["total_deviation"] = deviations[:DEVIATION_COMPONENTS].sum()
            for metric, value in numbers.items():
                yield Value(metric, value, trial, seed=seed)


def projected_accuracy(problem: ScaledRecords, vectors: np.ndarray) -> float:
    """Return the test accuracy of a linear SVM on the records projected on `vectors` (d, k)."""
    # scikit-learn is slow to load, and reading a config imports this module.
    from sklearn.svm import LinearSVC

    projected, training = problem.features @ vectors, problem.training
    # The primal solver uses no random numbers and finds the minimum.
    classifier = LinearSVC(dual=False, tol=1e-8, max_iter=10_000)
    classifier.fit(projected[training], problem.labels[training])
    return classifier.score(projected[~training], problem.labels[~training])
