"""mvg2018 Experiment I: kernel ridge regression on privately released records.

The query is f(X) = X, m x N: the features and, as one more of them, the target, of N patients in
[-1, 1]; one record, a column, is replaced, l2 sensitivity 2 sqrt(m). gamma is not stated:
sqrt(m N), its largest value. A Gaussian-kernel ridge regression is fitted to the released records,
and its root mean squared error is taken on the exact records of the patients left out. Every trial
leaves out others, the same for all mechanisms.

The paper leaves open:
- The scaling into [-1, 1]: `largest` divides all data by their largest absolute value, `columns`
  takes every feature onto the whole range. Both use the data and are not private.
- The kernel's width and the ridge: cross-validated without noise, see the config.

Treatments beside those of `treatments`: "pca", where 20% of epsilon and of delta pay for
private principal directions (MOD-SULQ on X X^T / N, symmetric Gaussian noise) and the rest for
MVG along them, tau to the first two; the total is basic composition, also at the exact calibration,
where each part is exact by itself. "subspace" is any other mechanism on the right features alone
(Section 9.3), with the sensitivity of that smaller query.

JL's answer is made of combinations of records; they are taken for records here, as the paper
says nothing else.

With the control that adds no noise come its errors under every scaling (`rmse_without_noise`),
and those of two predictions without features: zero, and the mean of the private targets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from datasets import load as load_dataset
from experiments.contract import treatments
from experiments.contract.columns import Coordinate
from experiments.contract.settings import (
    Disallowed,
    MissingEntry,
    Positive,
    Section,
    Words,
)
from experiments.contract.study import (
    Names,
    Point,
    Value,
    Variant,
)
from experiments.contract.treatments import (
    Treatment,
    binary_allocation,
    feature_names,
    is_directional,
    measure_treatments,
    point_at,
    principal_directions,
    run_trials,
    scale_by_largest,
    scale_columns,
    treatments_of,
)
from experiments.kernel_ridge import predict
from mechanisms import Budget
from mechanisms.symmetric import ModSulq
from papers.mvg2018 import record_covariance, scaled_records

NAME = "regression"
PAPER = "mvg2018"
DATASETS = {"liver_disorders": "official", "diabetes": "bundled"}
SCALING = Coordinate("scaling", str, "how all data were scaled into [-1, 1]")
COORDINATES = (*treatments.COORDINATES, SCALING)
METRICS = treatments.METRICS | {
    "rmse": "root mean squared error on the records left out, in units of the scaled target",
    "rmse_without_noise": "the same for a fit to the exact records, at each scaling",
    "rmse_of_zero": "error of predicting zero",
    "rmse_of_mean": "error of predicting the mean of the private targets",
}
TARGETS = {"liver_disorders": "drinks", "diabetes": "progression"}
SCALINGS = {"largest": scale_by_largest, "columns": scale_columns}

PCA, SUBSPACE = "pca", "subspace"
# Of epsilon and of delta, for the private principal directions (Section 7.1.3 b).
PCA_SHARE = 0.2
PCA_DIRECTIONS = 2


class Kernel(Section):
    """Hyperparameters of a kernel ridge regression."""

    gamma: Positive = Field(description="in exp(-gamma ||x - y||^2)")
    ridge: Positive = Field(description="added to the diagonal of the kernel matrix")


Scaling = Annotated[Literal[tuple(SCALINGS)], Words(" or ".join(SCALINGS), "scalings")]


class Settings(treatments.TreatmentSettings):
    """Settings of this study."""

    scaling: Scaling = Field(description="how the records are brought into [-1, 1]")
    kernels: dict[Scaling, Kernel] = Field(
        description="the regression; of other scalings only the error without noise is measured"
    )

    def check(self) -> None:
        """Raise for unknown features, a first set of no use, a scaling without a kernel."""
        self.check_directions({dataset: all_names(dataset) for dataset in self.datasets})
        for dataset in self.datasets:
            name, right = next(iter(self.directions[dataset].items()))
            if TARGETS[dataset] not in right or len(right) < 2:
                allowed = (
                    f"a list with {TARGETS[dataset]} and a feature, as the first set, whose "
                    "features are the subspace"
                )
                raise Disallowed(f"directions.{dataset}.{name}", allowed, right)
        if self.scaling not in self.kernels:
            raise MissingEntry("kernels", f"the scaling {self.scaling}")


@dataclass(frozen=True)
class Problem:
    """What all mechanisms share.

    records: (total, m) for every scaling, the target last. splits: (trials, total), a permutation
    of the records per trial; its first N are private, the rest are for the test.
    """

    records: dict[str, np.ndarray]
    splits: np.ndarray
    dataset: str
    settings: dict

    def private(self, trial: int) -> np.ndarray:
        """X of a trial, (m, N)."""
        chosen = self.splits[trial, : self.settings["records"]]
        return self.records[self.settings["scaling"]][chosen].T

    def rmse(self, trial: int, released: np.ndarray, scaling: str, features: np.ndarray) -> float:
        """Error on the records left out of a fit to `released`: `features`, then the target."""
        tests = self.records[scaling][self.splits[trial, self.settings["records"] :]]
        kernel = self.settings["kernels"][scaling]
        fitted = predict(released[:-1].T, released[-1], tests[:, features], **kernel)
        return root_mean_square(fitted - tests[:, -1])


def root_mean_square(errors: np.ndarray) -> float:
    """sqrt of the mean of squares."""
    return float(np.sqrt(np.mean(errors**2)))


def all_names(dataset: str) -> tuple[str, ...]:
    """The features and the target, in the order of the rows of X."""
    return (*feature_names(dataset), TARGETS[dataset])


def points(settings: dict, variant: str, dataset: str) -> list[Point]:
    """One point: epsilon, and delta = 1/N."""
    return [point_at((len(all_names(dataset)), settings["records"]), settings)]


def load(settings: dict, dataset: str, folder: Path, names: Names) -> Problem:
    """The scaled records, and which of them each trial leaves out."""
    data = load_dataset(dataset, folder)
    values = np.column_stack([data.features, getattr(data, TARGETS[dataset])])
    if settings["records"] >= len(values):
        raise ValueError(
            f"records must be less than {len(values)}, those of the data, so that some are left "
            f"out for the test; got {settings['records']}"
        )
    scaled = {name: SCALINGS[name](values) for name in settings["kernels"]}
    rng = np.random.default_rng(names.shared_seed("splits"))
    splits = rng.permuted(np.tile(np.arange(len(values)), (settings["trials"], 1)), axis=1)
    return Problem(scaled, splits, dataset, settings)


def measure(
    problem: Problem, variant: Variant, calibration: str, point: Point, names: Names
) -> Iterator[Value]:
    """RMSE of every treatment and trial."""
    settings, features = problem.settings, all_names(problem.dataset)
    trials, scaling = settings["trials"], settings["scaling"]
    everything = np.arange(len(features) - 1)
    query = scaled_records(*point.shape)
    if variant.mechanism.guarantee == "none":
        yield from _controls(problem, everything)

    def score(trial: int, answer: np.ndarray) -> dict[str, float]:
        return {"rmse": problem.rmse(trial, answer, scaling, everything)}

    ways = treatments_of(variant, "unimodal", settings, problem.dataset, features)
    yield from measure_treatments(
        variant, ways, calibration, query, problem.private, score, point, names, trials
    )
    if is_directional(variant):
        for share in settings["shares"]:
            release = _along_private_directions(problem, variant, calibration, point, share)
            yield from run_trials(release, score, Treatment(PCA, share), point, names, trials)
    else:
        yield from _subspace(problem, variant, calibration, point, names)


def _controls(problem: Problem, everything: np.ndarray) -> Iterator[Value]:
    """Errors without noise that belong to no mechanism."""
    settings = problem.settings
    for trial, split in enumerate(problem.splits):
        private, left_out = split[: settings["records"]], split[settings["records"] :]
        for scaling, records in problem.records.items():
            exact = problem.rmse(trial, records[private].T, scaling, everything)
            yield Value("rmse_without_noise", exact, trial, {"scaling": scaling})
        targets = problem.records[settings["scaling"]][:, -1]
        yield Value("rmse_of_zero", root_mean_square(targets[left_out]), trial)
        errors = targets[left_out] - targets[private].mean()
        yield Value("rmse_of_mean", root_mean_square(errors), trial)


def _along_private_directions(
    problem: Problem, variant: Variant, calibration: str, point: Point, share: float
) -> treatments.Release:
    """MVG along private principal directions, each part with its share of the budget."""
    rows, records = point.shape
    budgets = [
        Budget(epsilon=part * point.epsilon, delta=part * point.delta)
        for part in (PCA_SHARE, 1 - PCA_SHARE)
    ]
    directions = ModSulq.calibrate(record_covariance(rows, records), budgets[0], calibration)
    theta = binary_allocation(rows, list(range(PCA_DIRECTIONS)), share)
    options = {"mode": "unimodal"} | variant.options | {"precision": theta}

    def release(trial: int, rng: np.random.Generator):
        private = problem.private(trial)
        covariance = directions.release(private @ private.T / records, rng)
        along = principal_directions(covariance)[1]
        mechanism = variant.mechanism.calibrate(
            scaled_records(rows, records), budgets[1], calibration, **options, directions=along
        )
        return mechanism.release_with_diagnostics(private, rng)

    return release


def _subspace(
    problem: Problem, variant: Variant, calibration: str, point: Point, names: Names
) -> Iterator[Value]:
    """The mechanism on the right features and the target alone."""
    settings = problem.settings
    right = next(iter(settings["directions"][problem.dataset].values()))
    features = feature_names(problem.dataset)
    kept = np.array([i for i, feature in enumerate(features) if feature in right])
    rows = [*kept, len(features)]

    def score(trial: int, answer: np.ndarray) -> dict[str, float]:
        return {"rmse": problem.rmse(trial, answer, settings["scaling"], kept)}

    yield from measure_treatments(
        variant,
        {Treatment(SUBSPACE): variant.options},
        calibration,
        scaled_records(len(rows), point.shape[1]),
        lambda trial: problem.private(trial)[rows],
        score,
        point,
        names,
        settings["trials"],
    )
