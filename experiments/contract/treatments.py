"""What the three experiments of mvg2018 share: data in [-1, 1], treatments, timed releases.

A treatment is one way to use a mechanism. A mechanism that can spread a precision budget over
directions (MVG) is measured once with equal precision, "iid", and once for every named set of
informative features and every share tau: the set's features get tau of the budget in equal parts,
the others the rest in equal parts (the paper's binary allocation; its directions are the axes).
Any other mechanism has one treatment without a name. The columns `treatment` and `share` tell
treatments apart. All treatments of a trial are drawn from the same seed.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from pydantic import Field

from experiments.contract.columns import Coordinate
from experiments.contract.settings import (
    MOST_TRIALS,
    ByDataset,
    Count,
    Disallowed,
    Distinct,
    MissingEntry,
    Name,
    Positive,
    Share,
    Text,
    UnknownName,
)
from experiments.contract.study import (
    Names,
    Point,
    Value,
    Variant,
)
from experiments.contract.study_settings import StudySettings
from mechanisms import AdditiveMechanism, Budget, Query

IID = "iid"


class TreatmentSettings(StudySettings):
    """Settings of the three studies."""

    epsilon: Positive = Field(1.0, description="epsilon")
    records: Count = Field(ge=2, description="private records N; delta is 1/N, as in the paper")
    trials: Count = Field(100, ge=2, le=MOST_TRIALS, description="releases per treatment")
    directions: ByDataset[dict[Name, Distinct[Text]]] = Field(
        description="named sets of informative features; the first is the one taken to be right"
    )
    shares: Distinct[Share] = Field(
        [0.55, 0.65, 0.75, 0.85, 0.95],
        description="tau, the share of the precision budget that the informative directions get",
    )

    def check_directions(self, names_of: Mapping[str, tuple[str, ...]]) -> None:
        """Raise unless every data set of the run has sets of known features, none of all."""
        for dataset in self.datasets:
            known = names_of[dataset]
            if not self.directions[dataset]:
                raise MissingEntry(f"directions.{dataset}", "a set of features")
            for name, features in self.directions[dataset].items():
                where = f"directions.{dataset}.{name}"
                for feature in features:
                    if feature not in known:
                        raise UnknownName(where, feature, known)
                if len(features) == len(known):
                    raise Disallowed(where, "a list that leaves some feature out", features)


COORDINATES = (
    Coordinate("treatment", str, "how a directional mechanism is used; null for any other"),
    Coordinate("share", float, "tau, the informative directions' share of the precision budget"),
)
METRICS = {
    "expected_loss": "E||noise||^2 in closed form, squared units of the answer",
    "r_hat": "split R-hat of a mechanism that samples by a Markov chain, 1 when it has converged",
    "sweeps": "sweeps of that chain",
    "calibrate_seconds": "wall-clock seconds to calibrate",
    "release_seconds": "wall-clock seconds of one release",
}


@dataclass(frozen=True)
class Treatment:
    """One way to use a mechanism: a name, and the share tau where there is one."""

    name: str | None = None
    share: float | None = None

    @property
    def at(self) -> dict[str, object]:
        """Its values in the columns `treatment` and `share`."""
        known = {"treatment": self.name, "share": self.share}
        return {name: value for name, value in known.items() if value is not None}


Release = Callable[[int, np.random.Generator], tuple[np.ndarray, Mapping[str, float]]]
Score = Callable[[int, np.ndarray], Mapping[str, float]]


def feature_names(dataset: str) -> tuple[str, ...]:
    """The names of the data set's features, in the order of its columns."""
    return importlib.import_module(f"datasets.loaders.{dataset}").FEATURES


def point_at(shape: tuple[int, int], settings: dict) -> Point:
    """The one budget: epsilon, and delta = 1/N."""
    return Point(shape=shape, epsilon=settings["epsilon"], delta=1 / settings["records"])


def scale_columns(values: np.ndarray) -> np.ndarray:
    """Every column of (N, m) onto [-1, 1]; the ends are those of the data, so this is not private.

    Raises:
        ValueError: A column holds one value only.
    """
    low, high = values.min(axis=0), values.max(axis=0)
    if not (low < high).all():
        raise ValueError(f"column {int(np.argmin(low < high))} holds one value only: no scale")
    return 2 * (values - low) / (high - low) - 1


def scale_by_largest(values: np.ndarray) -> np.ndarray:
    """All of (N, m) divided by the largest absolute value, again that of the data."""
    return values / np.abs(values).max()


def first_records(values: np.ndarray, records: int) -> np.ndarray:
    """The first `records` rows of (N, m).

    Raises:
        ValueError: There are fewer.
    """
    if len(values) < records:
        raise ValueError(f"records must be at most {len(values)}, those of the data, got {records}")
    return values[:records]


def is_directional(variant: Variant) -> bool:
    """Whether the mechanism spreads a precision budget over directions."""
    return {"directions", "precision"} <= variant.mechanism.options.keys()


def binary_allocation(size: int, informative: list[int], share: float) -> list[float]:
    """`size` weights with sum 1: `share` to the informative in equal parts, the rest likewise."""
    others = size - len(informative)
    return [
        share / len(informative) if i in informative else (1 - share) / others for i in range(size)
    ]


def treatments_of(
    variant: Variant, mode: str, settings: dict, dataset: str, features: tuple[str, ...]
) -> dict[Treatment, dict]:
    """The treatments with the options of the mechanism; one without a name where there is one.

    `mode` is that of MVG ("unimodal" is Algorithm 1, "equimodal" Algorithm 2), where the config
    names no other.
    """
    if not is_directional(variant):
        return {Treatment(): variant.options}
    options = {"mode": mode} | variant.options
    found = {Treatment(IID): options}
    for name, informative in settings["directions"][dataset].items():
        indices = [features.index(feature) for feature in informative]
        for share in settings["shares"]:
            theta = binary_allocation(len(features), indices, share)
            found[Treatment(name, share)] = options | {"precision": theta}
    return found


def measure_treatments(
    variant: Variant,
    ways: dict[Treatment, dict],
    calibration: str,
    query: Query,
    value_of: Callable[[int], np.ndarray],
    score: Score,
    point: Point,
    names: Names,
    trials: int,
) -> Iterator[Value]:
    """Calibrate every treatment and release `value_of(trial)` in every trial."""
    budget = Budget(epsilon=point.epsilon, delta=point.delta)
    for treatment, options in ways.items():
        clock = time.perf_counter()
        mechanism = variant.mechanism.calibrate(query, budget, calibration, **options)
        seconds = time.perf_counter() - clock
        yield Value("calibrate_seconds", seconds, at=treatment.at, timing=True)
        if isinstance(mechanism, AdditiveMechanism):
            yield Value("expected_loss", mechanism.expected_loss(), at=treatment.at)

        def release(trial, rng, mechanism=mechanism):
            return mechanism.release_with_diagnostics(value_of(trial), rng)

        yield from run_trials(release, score, treatment, point, names, trials)


def run_trials(
    release: Release,
    score: Score,
    treatment: Treatment,
    point: Point,
    names: Names,
    trials: int,
) -> Iterator[Value]:
    """Seconds, score and diagnostics of every trial of a treatment."""
    for trial in range(trials):
        seed = names.seed(point, trial)
        rng = np.random.default_rng(seed)
        clock = time.perf_counter()
        answer, diagnostics = release(trial, rng)
        seconds = time.perf_counter() - clock
        yield Value("release_seconds", seconds, trial, treatment.at, timing=True)
        for metric, value in (dict(score(trial, answer)) | dict(diagnostics)).items():
            yield Value(metric, float(value), trial, treatment.at, seed)


def principal_directions(symmetric: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, the largest first, and eigenvectors as columns, of the symmetric part."""
    values, vectors = np.linalg.eigh((symmetric + symmetric.T) / 2)
    return values[::-1], vectors[:, ::-1]


def captured_variance(covariance: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """v^T C v of every column v (mvg2018 eq. 4)."""
    return np.einsum("ij,ik,kj->j", directions, covariance, directions)
