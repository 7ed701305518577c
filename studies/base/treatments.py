"""Treatments: the ways in which the three studies of mvg2018 use one mechanism.

A mechanism that spreads a precision budget over directions (MVG) is measured with equal precision
(`IID`) and, for every named set of informative features in the config, with every share tau of the
budget on that set (`papers.mvg2018.binary_allocation`; the directions are the axes). Any other
mechanism has one treatment without a name. The columns `treatment` and `share` tell treatments
apart. All treatments of a trial draw from the same seed.
"""

import importlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np
from pydantic import Field

from mechanisms import AdditiveMechanism, Query
from mechanisms.noise.matrix_gaussian import MatrixGaussian
from papers.mvg2018 import EPSILON, binary_allocation
from studies.base.case import Case, Point, Value
from studies.base.coordinates import Coordinate
from studies.base.grid import ReleaseSettings
from studies.base.metrics import Metric
from studies.base.settings import (
    MOST_TRIALS,
    ByDataset,
    Count,
    Disallowed,
    Distinct,
    MissingEntry,
    Name,
    Share,
    Text,
    refuse_unknown,
)

# The treatments that are not sets of features: equal precision for every direction; private
# principal directions; and, for a mechanism without directions, the right features alone. Only the
# study `regression` has `PCA` and `SUBSPACE`.
IID, PCA, SUBSPACE = "iid", "pca", "subspace"
# SVDs of small covariances are timed for this many seconds, or until this many are done.
SVD_SECONDS, MOST_SVDS = 0.2, 100


class TreatmentSettings(ReleaseSettings):
    """Settings that the three studies of mvg2018 share."""

    records: Count = Field(ge=2, description="private records N; delta is 1/N, as in the paper")
    trials: Count = Field(100, ge=2, le=MOST_TRIALS, description="releases per treatment")
    directions: ByDataset[dict[Name, Distinct[Text]]] = Field(
        description="named sets of informative features; the first is the one taken to be right"
    )
    shares: Distinct[Share] = Field(
        [0.55, 0.65, 0.75, 0.85, 0.95],
        description="tau, the share of the precision budget that the informative directions get",
    )

    def point_at(self, shape: tuple[int, int]) -> Point:
        """Return the study's only grid point: the paper's epsilon, and delta = 1/N."""
        return Point(shape=shape, epsilon=EPSILON, delta=1 / self.records)

    def right_features(self, dataset: str) -> tuple[str, list[str]]:
        """Return the name and the features of the first set, which the paper calls informative."""
        return next(iter(self.directions[dataset].items()))

    def check(self) -> None:
        """Raise ConfigError unless every data set has sets of known features, none with all."""
        self.check_directions(feature_names)

    def check_directions(self, names_of: Callable[[str], tuple[str, ...]]) -> None:
        """Check the sets of features; `names_of` returns the known features of a data set."""
        for dataset in self.datasets:
            known = names_of(dataset)
            if not self.directions[dataset]:
                raise MissingEntry(f"directions.{dataset}", "a set of features")
            for name, features in self.directions[dataset].items():
                if name in (IID, PCA, SUBSPACE):
                    # These names denote other treatments, so rows would have two meanings.
                    raise Disallowed(
                        f"directions.{dataset}",
                        "sets of features with names other than iid, pca and subspace",
                        name,
                    )
                where = f"directions.{dataset}.{name}"
                refuse_unknown(where, features, known)
                if len(features) == len(known):
                    raise Disallowed(where, "a list that leaves some feature out", features)


COORDINATES = (
    Coordinate(
        "treatment",
        str,
        "a set of informative features, or iid, pca, subspace; null where a mechanism has one use",
        is_use=True,
    ),
    Coordinate(
        "share",
        float,
        "tau, the informative directions' share of the precision budget",
        is_use=True,
    ),
)
METRICS = (
    Metric("expected_loss", "E||noise||^2 in closed form, squared units of the answer"),
    Metric(
        "r_hat",
        "split R-hat of a mechanism that samples by a Markov chain, 1 when it has converged",
    ),
    Metric("sweeps", "sweeps of that chain"),
    Metric("calibrate_seconds", "wall-clock seconds to calibrate"),
    Metric("release_seconds", "wall-clock seconds of one release, without the checks around it"),
    Metric(
        "svd_seconds", "wall-clock seconds of one SVD of both covariances of matrix Gaussian noise"
    ),
)


# One way to use a mechanism, given by its values in the columns `treatment` and `share`; a column
# without a value is left out.
Treatment = dict[str, object]

# Maps a trial and its generator to an answer, the mechanism's diagnostics and the seconds taken.
Release = Callable[[int, np.random.Generator], tuple[np.ndarray, Mapping[str, float], float]]
# Maps a trial and an answer to scores, each with its coordinates besides the treatment.
Score = Callable[[int, np.ndarray], Iterable[Value]]


def feature_names(dataset: str) -> tuple[str, ...]:
    """Return the names of the data set's features, in the order of its columns."""
    return importlib.import_module(f"datasets.loaders.{dataset}").FEATURES


def is_directional(case: Case) -> bool:
    """Whether the mechanism spreads a precision budget over directions."""
    return {"directions", "precision"} <= case.mechanism.options.keys()


def treatments_of(case: Case, mode: str, features: tuple[str, ...]) -> list[tuple[Treatment, dict]]:
    """Return the treatments of a mechanism on the whole query, each with its options.

    Args:
        case: The mechanism at a calibration.
        mode: The default for MVG's mode: "unimodal" is Algorithm 1, "equimodal" Algorithm 2.
        features: The names of the query's rows, in order.
    """
    if not is_directional(case):
        return [({}, {})]
    options = {"mode": mode} | case.variant.options
    found = [({"treatment": IID}, options)]
    for name, informative in case.settings.directions[case.dataset].items():
        indices = [features.index(feature) for feature in informative]
        for share in case.settings.shares:
            theta = binary_allocation(len(features), indices, share)
            at = {"treatment": name, "share": share}
            found.append((at, options | {"precision": theta}))
    return found


def measure_treatments(
    treatments: Iterable[tuple[Treatment, dict]],
    query: Query,
    value_of: Callable[[int], np.ndarray],
    score: Score,
    case: Case,
    point: Point,
) -> Iterator[Value]:
    """Calibrate for every treatment, release `value_of(trial)` and score the answers."""
    for at, options in treatments:
        mechanism, seconds = case.timed_calibration(query, point.budget, **options)
        yield Value("calibrate_seconds", seconds, at=at, timing=True)
        if isinstance(mechanism, AdditiveMechanism):
            yield Value("expected_loss", mechanism.expected_loss(), at=at)
            published = case.calibration == "published"
            if is_directional(case) and at == {"treatment": IID} and published:
                seconds = _svd_seconds(mechanism.noise)
                yield Value("svd_seconds", seconds, at=at, timing=True)

        def release(trial, rng, mechanism=mechanism):
            return mechanism.timed_release(value_of(trial), rng)

        yield from measure_releases(release, score, at, case, point)


def measure_one_answer(
    exact: np.ndarray, mode: str, query: Query, score: Score, case: Case, point: Point
) -> Iterator[Value]:
    """Release the same answer in every treatment and trial, and score it; `mode` is MVG's mode."""
    ways = treatments_of(case, mode, feature_names(case.dataset))
    yield from measure_treatments(ways, query, lambda trial: exact, score, case, point)


def _svd_seconds(noise: MatrixGaussian) -> float:
    """Time the SVDs from which mvg2018 derives the factors of a draw; return the median seconds.

    Section 6.3 has these SVDs. The suite is given directions and deviations, so it has nothing to
    decompose. Small covariances are decomposed many times, after one SVD that loads the library. A
    2126 x 2126 covariance is decomposed only once, because that takes a minute on a busy core.
    """
    covariances = [
        np.diag(std**2) if along is None else (along * std**2) @ along.T
        for std, along in noise.axes
    ]
    np.linalg.svd(np.eye(2))
    seconds = []
    while not seconds or (sum(seconds) < SVD_SECONDS and len(seconds) < MOST_SVDS):
        clock = time.perf_counter()
        for covariance in covariances:
            np.linalg.svd(covariance)
        seconds.append(time.perf_counter() - clock)
    return float(np.median(seconds))


def measure_releases(
    release: Release, score: Score, at: Treatment, case: Case, point: Point
) -> Iterator[Value]:
    """Yield the seconds, scores and diagnostics of every trial of one treatment."""
    for trial in case.trials:
        seed = case.seed(point, trial)
        rng = np.random.default_rng(seed)
        answer, diagnostics, seconds = release(trial, rng)
        yield Value("release_seconds", seconds, trial, at, timing=True)
        for scored in score(trial, answer):
            yield replace(scored, trial=trial, at={**at, **scored.at}, seed=seed)
        for metric, value in diagnostics.items():
            yield Value(metric, value, trial, at, seed)
