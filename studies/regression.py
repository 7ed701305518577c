"""mvg2018 Experiment I: kernel ridge regression on privately released records.

The query is f(X) = X, m x N. Its columns are N patients with values in [-1, 1]; its rows are their
features and the target. One record, which is a column, is replaced, so the l2 sensitivity is
2 sqrt(m). The paper does not state gamma; we use its largest value, sqrt(m N). A kernel ridge
regression is fitted to the released records and predicts the targets of the other patients from
their exact features, which gives a root mean squared error (RMSE). Every trial splits the patients
anew, in the same way for all mechanisms.

The paper does not specify:
- The kernel. Every release is scored with every kernel in the config (column `kernel`), so that the
  scores of two kernels differ in nothing else. The ridge and the kernel's scale are cross-validated
  without noise; no budget pays for this choice on private records.
- The scaling into [-1, 1]. `largest` divides all data by their largest absolute value; `columns`
  maps every feature onto the whole range. Both use the data and are not private. Records are
  released at one scaling; at the other, only the error without noise is measured. With `columns`
  that error is 25 times the paper's, which drowns all differences that the paper reports.

This study adds two treatments to those of `studies.base.treatments`. `PCA` spends 20% of epsilon
and of delta on private principal directions (MOD-SULQ on X X^T / N). It spends the rest on MVG
along these directions, with the share tau on the first two. Basic composition gives the total. This
also holds at the exact calibration, where each part is exact on its own. `SUBSPACE` runs any other
mechanism on the right features alone (Section 9.3), with the sensitivity of that smaller query.

JL releases linear combinations of records. We treat them as records; the paper does not say how it
uses them.

The non-private control also reports the errors without noise under every kernel and scaling
(`rmse_without_noise`), and the errors of two predictions that use no features: zero, and the mean
of the private targets.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from datasets import load as load_dataset
from learning.kernel_ridge import KERNELS, predict
from mechanisms import Budget
from mechanisms.catalogue.gram.added_noise import ModSulq
from papers.mvg2018 import (
    DIRECTIONS_BUDGET_SHARE,
    INFORMATIVE_DIRECTIONS,
    binary_allocation,
    record_covariance,
    scaled_records,
)
from studies.base import (
    Case,
    Coordinate,
    Disallowed,
    Metric,
    MissingEntry,
    Point,
    Positive,
    Section,
    Setup,
    Study,
    Value,
    treatments,
)
from studies.base.families import REGRESSION
from studies.base.principal_components import principal_directions, scale_by_largest, scale_columns
from studies.base.treatments import (
    PCA,
    SUBSPACE,
    feature_names,
    is_directional,
    measure_releases,
    measure_treatments,
    treatments_of,
)

SCALING = Coordinate("scaling", str, "how all data were scaled into [-1, 1]", choice="Scaling")
KERNEL = Coordinate(
    "kernel", str, "kernel of the ridge regression: " + ", ".join(KERNELS), choice="Kernel"
)
TARGETS = {"liver_disorders": "drinks", "diabetes": "progression"}
SCALINGS = {"largest": scale_by_largest, "columns": scale_columns}


class Kernel(Section):
    """Hyperparameters of a kernel ridge regression; see `learning.kernel_ridge.predict`."""

    ridge: Positive = Field(description="added to the diagonal of the kernel matrix")
    gamma: Positive | None = Field(None, description="scale of the kernel; the linear one has none")


KernelName = Literal[KERNELS]
Scaling = Literal[tuple(SCALINGS)]


class Settings(treatments.TreatmentSettings):
    """Settings of this study."""

    scaling: Scaling = Field(description="how the records are brought into [-1, 1]")
    kernels: dict[KernelName, dict[Scaling, Kernel]] = Field(
        min_length=1,
        description="every release is scored with each kernel; at other scalings than `scaling` "
        "only the error without noise is measured",
    )

    def check(self) -> None:
        """Raise ConfigError for unknown features, an unusable first set or an incomplete kernel."""
        self.check_directions(all_names)
        for dataset in self.datasets:
            name, right = self.right_features(dataset)
            if TARGETS[dataset] not in right or len(right) < 2:
                allowed = (
                    f"a list with {TARGETS[dataset]} and a feature, as the first set, whose "
                    "features are the subspace"
                )
                raise Disallowed(f"directions.{dataset}.{name}", allowed, right)
        for name, at_scalings in self.kernels.items():
            if self.scaling not in at_scalings:
                raise MissingEntry(f"kernels.{name}", f"the scaling {self.scaling}")
            for scaling, kernel in at_scalings.items():
                if (kernel.gamma is None) != (name == "linear"):
                    allowed = "absent" if name == "linear" else "a number > 0"
                    raise Disallowed(f"kernels.{name}.{scaling}.gamma", allowed, kernel.gamma)


@dataclass(frozen=True)
class SplitRecords:
    """The scaled records, and how every trial splits them into private and test records.

    Args:
        records: (total, m) for every scaling; the target is the last column.
        splits: (trials, total), a permutation of the records per trial; the first N are private,
            the others are test records.
        settings: The settings of the study.
    """

    records: dict[str, np.ndarray]
    splits: np.ndarray
    settings: Settings

    def private(self, trial: int) -> np.ndarray:
        """Return the X of a trial, (m, N)."""
        chosen = self.splits[trial, : self.settings.records]
        return self.records[self.settings.scaling][chosen].T

    def tests(self, trial: int, scaling: str) -> np.ndarray:
        """Return the test records of a trial, (total - N, m)."""
        return self.records[scaling][self.splits[trial, self.settings.records :]]

    def rmse(
        self, trial: int, released: np.ndarray, kernel: str, scaling: str, features: np.ndarray
    ) -> float:
        """Return the RMSE on the test records after a fit to `released`.

        Args:
            released: A row for each of `features`, then the target's row.
            features: The indices of the features to predict from.
        """
        tests = self.tests(trial, scaling)
        predicted = predict(
            kernel,
            released[:-1].T,
            released[-1],
            tests[:, features],
            **self.settings.kernels[kernel][scaling].model_dump(),
        )
        return root_mean_square(predicted - tests[:, -1])

    def scores(self, trial: int, released: np.ndarray, features: np.ndarray) -> Iterator[Value]:
        """Yield the error with every kernel, at the scaling of the releases."""
        for kernel in self.settings.kernels:
            error = self.rmse(trial, released, kernel, self.settings.scaling, features)
            yield Value("rmse", error, at={"kernel": kernel})


def root_mean_square(errors: np.ndarray) -> float:
    """Return the square root of the mean square."""
    return np.sqrt(np.mean(errors**2))


def all_names(dataset: str) -> tuple[str, ...]:
    """Return the names of the features and the target, in the order of the rows of X."""
    return (*feature_names(dataset), TARGETS[dataset])


class Regression(Study):
    """The study of this module."""

    name = "regression"
    paper = "mvg2018"
    datasets = {"liver_disorders": "official", "diabetes": "bundled"}
    coordinates = (*treatments.COORDINATES, KERNEL, SCALING)
    slow_imports = ("sklearn.datasets", "sklearn.kernel_ridge", "sklearn.linear_model")
    Settings = Settings
    metrics = (
        *treatments.METRICS,
        Metric(
            "rmse",
            "root mean squared error on the test records, in units of the scaled target",
            title="root mean squared error on test records",
        ),
        Metric(
            "rmse_without_noise",
            "the same after a fit to the exact records, at each scaling and kernel",
        ),
        Metric("rmse_of_zero", "the same when zero is predicted"),
        Metric("rmse_of_mean", "the same when the mean of the private targets is predicted"),
    )
    family = REGRESSION
    query = "The records themselves, scaled into [-1, 1]; one of them is replaced."

    def points(self, settings: Settings, variant: str, dataset: str) -> list[Point]:
        """Return one point: m x N at epsilon and delta = 1/N."""
        return [settings.point_at((len(all_names(dataset)), settings.records))]

    def load(self, setup: Setup, folder: Path) -> SplitRecords:
        """Load and scale the records, and draw the split of each trial.

        Raises:
            ValueError: The config leaves no record for the test.
        """
        settings, dataset = setup.settings, setup.dataset
        data = load_dataset(dataset, folder)
        values = np.column_stack([data.features, data.targets])
        if settings.records >= len(values):
            raise ValueError(
                f"records must be less than {len(values)}, the number of records in the data, to "
                f"leave some for the test; got {settings.records}"
            )
        scaled = {name: scale(values) for name, scale in SCALINGS.items()}
        rng = np.random.default_rng(setup.shared_seed("splits"))
        splits = rng.permuted(np.tile(np.arange(len(values)), (settings.trials, 1)), axis=1)
        return SplitRecords(scaled, splits, settings)

    def measure(self, problem: SplitRecords, case: Case, point: Point) -> Iterator[Value]:
        """Yield the RMSE of every treatment and trial."""
        features = all_names(case.dataset)
        everything = np.arange(len(features) - 1)
        query = scaled_records(*point.shape)
        if case.mechanism.guarantee == "none":
            yield from _controls(problem, everything)

        score = partial(problem.scores, features=everything)
        ways = treatments_of(case, "unimodal", features)
        yield from measure_treatments(ways, query, problem.private, score, case, point)
        if is_directional(case):
            for share in case.settings.shares:
                release = _along_private_directions(problem, case, point, share)
                at = {"treatment": PCA, "share": share}
                yield from measure_releases(release, score, at, case, point)
        else:
            yield from _subspace(problem, case, point)


def _controls(problem: SplitRecords, everything: np.ndarray) -> Iterator[Value]:
    """Yield errors without noise, which belong to no mechanism."""
    settings = problem.settings
    for trial, split in enumerate(problem.splits):
        private = split[: settings.records]
        for kernel, scalings in settings.kernels.items():
            for scaling in scalings:
                exact = problem.records[scaling][private].T
                error = problem.rmse(trial, exact, kernel, scaling, everything)
                at = {"kernel": kernel, "scaling": scaling}
                yield Value("rmse_without_noise", error, trial, at)
        targets = problem.tests(trial, settings.scaling)[:, -1]
        yield Value("rmse_of_zero", root_mean_square(targets), trial)
        errors = targets - problem.private(trial)[-1].mean()
        yield Value("rmse_of_mean", root_mean_square(errors), trial)


def _along_private_directions(
    problem: SplitRecords, case: Case, point: Point, share: float
) -> treatments.Release:
    """Return a release by MVG along private principal directions; both parts share the budget."""
    rows, records = point.shape
    for_directions, for_records = (
        Budget.of_part(epsilon=part * point.epsilon, delta=part * point.delta)
        for part in (DIRECTIONS_BUDGET_SHARE, 1 - DIRECTIONS_BUDGET_SHARE)
    )
    directions = ModSulq.calibrate_only(
        record_covariance(rows, records), for_directions, case.calibration
    )
    theta = binary_allocation(rows, list(range(INFORMATIVE_DIRECTIONS)), share)
    options = {"mode": "unimodal"} | case.variant.options | {"precision": theta}

    def release(trial: int, rng: np.random.Generator):
        private = problem.private(trial)
        covariance, _, before = directions.timed_release(private @ private.T / records, rng)
        along = principal_directions(covariance)[1]
        mechanism = case.calibrate(
            scaled_records(rows, records), for_records, **options, directions=along
        )
        answer, diagnostics, seconds = mechanism.timed_release(private, rng)
        return answer, diagnostics, before + seconds

    return release


def _subspace(problem: SplitRecords, case: Case, point: Point) -> Iterator[Value]:
    """Measure the mechanism on the right features and the target alone."""
    _, right = case.settings.right_features(case.dataset)
    features = feature_names(case.dataset)
    kept = np.flatnonzero(np.isin(features, right))
    rows = [*kept, len(features)]
    yield from measure_treatments(
        [({"treatment": SUBSPACE}, {})],
        scaled_records(len(rows), point.shape[1]),
        lambda trial: problem.private(trial)[rows],
        partial(problem.scores, features=kept),
        case,
        point,
    )
