"""Linear queries on histograms: the error per query of noise made for them, and of other noise.

Every data set is one histogram x of counts. One record is added or removed, which changes one cell
by one, so the l1, l2 and linf sensitivities are 1. The number of records is not public. Nothing
bounds the counts or their norm, so mechanisms that need such a bound are unsupported.

We chose the domains of the histograms ourselves; they contain all published records and are treated
as public:

adult-age, adult-hours
    Adult's training part (32,561 people): one cell per year of age, or per hour of work a week,
    from 0 to 99.
adult-capital-loss
    The same people: 1024 cells of 5 dollars, from 0. Nearly all people are in the first cell.
city-grid, uber-grid
    Pickups in a square grid over the map; see count_query.
city-longitude
    The simulated city's pickups along one axis.

Workloads:

prefix
    The sums from the first cell to each cell; on a map, all rectangles from its south-west corner.
all-range
    All ranges, or on a map all rectangles.
random
    Ranges or rectangles whose ends are drawn uniformly; all mechanisms share them.

A mechanism that takes a workload is calibrated for each of the three in turn. Any other mechanism
releases x once for all three. The answer to a query is the sum of its cells in the released
histogram. The study measures the mean squared error per query over trials, and computes it exactly
if the covariance of the noise is known.
"""

import functools
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import Field

from datasets import load as load_dataset
from mechanisms import (
    AdditiveMechanism,
    Mechanism,
    Query,
    Unsupported,
)
from mechanisms.base.public_information import WORKLOAD, public_options, takes
from mechanisms.strategies.workload import (
    AllRange,
    Explicit,
    Kronecker,
    Prefix,
)
from studies.base import (
    Case,
    Coordinate,
    Count,
    EpsilonGrid,
    Metric,
    Point,
    ReleaseSettings,
    Setup,
    Study,
    Tolerance,
    Value,
)
from studies.base.families import RANGES
from studies.count_query import (
    MapSettings,
    map_counts,
    prefix_sums,
    random_rectangles,
    rectangle_sums,
)

# (column of Adult, number of cells, width of a cell in units of the column)
_ADULT = {
    "adult-age": ("age", 100, 1),
    "adult-hours": ("hours-per-week", 100, 1),
    "adult-capital-loss": ("capital-loss", 1024, 5),
}
_GRIDS = {"city-grid": "city", "uber-grid": "uber"}
QUERIES = Coordinate("workload", str, "the queries: prefix, all-range or random", choice="Workload")


class Settings(EpsilonGrid, MapSettings, ReleaseSettings):
    """Settings of this study."""

    # 32 x 32 = 1024 cells, half of the largest number in one strategy of the matrix mechanism.
    cells_per_side: Count = Field(32, le=4096, description="cells per axis of grids")
    line_cells: Count = Field(256, le=4096, description="cells of city-longitude")
    random_queries: Count = Field(200, le=10**4, description="queries of the random workload")


@dataclass(frozen=True)
class HistogramQueries:
    """A histogram and the queries on it, which all mechanisms share.

    Attributes:
        counts: The histogram, (n,) or (k, k).
        rectangles: (q, 4), the random queries as rectangles on a matrix; a one-dimensional
            histogram is a matrix of one column.
        workloads: Each workload by name, as the factors of a Kronecker product.
    """

    counts: np.ndarray
    rectangles: np.ndarray
    workloads: dict[str, tuple]


class LinearQueries(Study):
    """The study of this module."""

    name = "linear_queries"
    paper = "suite"
    datasets = dict.fromkeys([*_ADULT, "uber-grid"], "official") | {
        "city-grid": "simulated",
        "city-longitude": "simulated",
    }
    coordinates = (QUERIES,)
    files = dict.fromkeys(_ADULT, "adult") | {"uber-grid": "uber"}
    Settings = Settings
    metrics = (
        Metric(
            "mse",
            "mean squared error per query of one release",
            "records²",
            title="mean squared error per query",
            closed_form="expected_mse",
        ),
        Metric(
            "expected_mse",
            "expectation of mse in closed form, where the noise's covariance is known",
        ),
        Metric(
            "optimality_gap",
            "upper bound on the relative distance of a strategy's error from the optimum",
            tolerance=Tolerance(absolute=1e-8),
        ),
        Metric(
            "optimality", "expected error over a lower bound on that of the best strategy, >= 1"
        ),
        Metric("refused", "1 where the mechanism does not support the workload"),
        Metric("records", "records in the histogram"),
        Metric("occupied_cells", "cells that hold a record"),
        Metric(
            "calibrate_seconds",
            "wall-clock seconds to calibrate, for one workload or (null) for all",
        ),
    )
    family = RANGES
    query = (
        "Linear queries on a histogram. One record is added or removed, which changes one cell "
        "by one: l1 and l2 sensitivity 1. On a map, ranges are rectangles."
    )

    def points(self, settings: Settings, variant: str, dataset: str) -> list[Point]:
        """Return the grid over epsilon at the shape of the histogram."""
        if dataset in _GRIDS:
            shape = (settings.cells_per_side,) * 2
        else:
            shape = (settings.line_cells if dataset == "city-longitude" else _ADULT[dataset][1],)
        return settings.points_over([shape], variant, dataset)

    def load(self, setup: Setup, folder: Path) -> HistogramQueries:
        """Load the histogram, and make the workloads over it."""
        settings = setup.settings
        counts = _histogram(setup, folder)
        matrix = counts.reshape(len(counts), -1)
        seed = setup.shared_seed("rectangles")
        rectangles = random_rectangles(matrix.shape, settings.random_queries, seed)
        workloads = {
            "prefix": tuple(map(Prefix, counts.shape)),
            "all-range": tuple(map(AllRange, counts.shape)),
            "random": (Explicit(rectangle_rows(rectangles, matrix.shape)),),
        }
        return HistogramQueries(counts, rectangles, workloads)

    def measure(self, problem: HistogramQueries, case: Case, point: Point) -> Iterator[Value]:
        """Yield the mean squared error per query of every workload, measured and exact.

        The exact error is left out if it is unknown. For a workload that a mechanism refuses,
        `refused` is 1 and the reason is printed on stderr.

        Raises:
            Unsupported: The mechanism refuses all workloads.
        """
        yield Value("records", problem.counts.sum())
        yield Value("occupied_cells", np.count_nonzero(problem.counts))
        budget = point.budget

        def served(workloads: dict[str, tuple], **options) -> Iterator[Value]:
            mechanism, seconds = case.timed_calibration(
                histogram_query(problem.counts), budget, **options
            )
            where = {"workload": next(iter(workloads))} if len(workloads) == 1 else {}
            yield Value("calibrate_seconds", seconds, at=where, timing=True)
            yield from _exact(mechanism, workloads)
            yield from _measured(mechanism, problem, workloads, case, point)

        if not takes(case.mechanism, WORKLOAD):
            yield from served(problem.workloads)
            return
        refusals = {}
        for name, factors in problem.workloads.items():
            offered = {WORKLOAD: functools.partial(Kronecker, factors)}
            try:
                yield from served({name: factors}, **public_options(case.mechanism, offered))
            except Unsupported as reason:
                refusals[name] = reason
        if len(refusals) == len(problem.workloads):
            raise next(iter(refusals.values()))
        for name, reason in refusals.items():
            print(f"{case.variant.name} refuses the workload {name}: it {reason}", file=sys.stderr)
            yield Value("refused", 1.0, at={"workload": name})


def _histogram(setup: Setup, folder: Path) -> np.ndarray:
    settings, dataset = setup.settings, setup.dataset
    if dataset in _ADULT:
        column, cells, width = _ADULT[dataset]
        # No value of the published data, whose checksum the loader compares, is out of the domain.
        values = load_dataset("adult", folder).train[column].to_numpy()
        return np.bincount(values // width, minlength=cells).astype(float)
    if dataset == "city-longitude":
        fine = settings.model_copy(update={"cells_per_side": settings.line_cells})
        return map_counts(fine, "city", folder, setup)[0].sum(axis=0)
    return map_counts(settings, _GRIDS[dataset], folder, setup)[0]


def rectangle_rows(rectangles: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Convert queries (q, 4) to rows (q, M) of zeros and ones over the cells in C order."""
    row, column = np.indices(shape).reshape(2, 1, -1)
    top, left, bottom, right = rectangles.T[:, :, None]
    return ((top <= row) & (row < bottom) & (left <= column) & (column < right)).astype(float)


def histogram_query(counts: np.ndarray) -> Query:
    """Return the query whose answer is the histogram, if one record is added or removed."""
    return Query(
        shape=counts.shape,
        l2_sensitivity=1.0,
        l1_sensitivity=1.0,
        linf_sensitivity=1.0,
        adjacency="add-remove",
        structure="histogram",
        record_bound=1.0,
    )


def _exact(mechanism: Mechanism, workloads: dict[str, tuple]) -> Iterator[Value]:
    """Yield expected errors in closed form, and bounds on how far a strategy is from optimal."""
    for name, factors in workloads.items():
        # The closed form covers the noise alone; changing the answer before it adds other errors.
        if isinstance(mechanism, AdditiveMechanism) and mechanism.only_adds_noise:
            variance = mechanism.noise.workload_variance(factors)
            if variance is not None:
                queries = math.prod(factor.queries for factor in factors)
                yield Value("expected_mse", variance / queries, at={"workload": name})
        for certificate in ("optimality_gap", "optimality"):
            if hasattr(mechanism, certificate):
                yield Value(certificate, getattr(mechanism, certificate)(), at={"workload": name})


def _measured(
    mechanism: Mechanism,
    problem: HistogramQueries,
    workloads: dict[str, tuple],
    case: Case,
    point: Point,
) -> Iterator[Value]:
    counts = problem.counts
    seeds = [case.seed(point, trial) for trial in case.trials]
    errors = np.empty((len(seeds), *counts.shape))
    for trial, seed in enumerate(seeds):
        errors[trial] = mechanism.release(counts, np.random.default_rng(seed)) - counts
    squares = mean_squared_errors(errors, problem.rectangles)
    for name in workloads:
        for trial, seed in enumerate(seeds):
            yield Value("mse", squares[name][trial], trial, {"workload": name}, seed)


def mean_squared_errors(errors: np.ndarray, rectangles: np.ndarray) -> dict[str, np.ndarray]:
    """Return the mean squared error per query, (trials,), of every workload.

    The sum over a rectangle is a difference of prefix sums along both axes, and the squared
    differences of all pairs among n + 1 numbers add up to n + 1 times the sum of the squared
    deviations from their mean. The (r + 1) (c + 1) prefix sums therefore suffice for all
    r (r + 1) / 2 times c (c + 1) / 2 rectangles.

    Args:
        errors: The error of every cell, (trials, n) or (trials, r, c).
        rectangles: (q, 4), as `random_rectangles` makes them.
    """
    maps = errors.reshape(*errors.shape[:2], -1)
    _, rows, columns = maps.shape
    sums = prefix_sums(maps)
    centred = sums - sums.mean(axis=1, keepdims=True)
    centred -= centred.mean(axis=2, keepdims=True)
    return {
        "prefix": np.mean(sums[:, 1:, 1:] ** 2, axis=(1, 2)),
        "all-range": 4 * np.sum(centred**2, axis=(1, 2)) / (rows * columns),
        "random": np.mean(rectangle_sums(maps, rectangles) ** 2, axis=1),
    }
