"""2-D count query of r1smg2024, Section 7.1: pickups per cell of a map.

The query counts the pickups of a time window in a grid of latitude (rows) by longitude (columns).
Adjacency: one pickup is replaced by another (`papers.r1smg2024.count_query` states the
sensitivities), so that the number of pickups is public. The number of pickups inside both the map
and the window is also treated as public, which is right if the replacement lies inside both. This
number bounds the Frobenius norm, on which MVG's noise depends. Counts have no range, so IDN is
unsupported.

Post-processing, as the paper describes it, sets cells that are known to be empty to zero. The paper
does not say which cells those are. For Uber we take the cells without a pickup in the rest of the
month (disjoint from the window and assumed public); for the simulated city we take its water. The
metric `pickups_zeroed` counts the pickups of the window in the cells that become zero.

The paper does not state its bounding box either. `largest_in_box` is the largest exact count on the
map of each of `boxes` boxes. All lie inside `bounding_box` and contain the places that the paper
names; `box` 0 is the smallest such box, and the others are random.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import BeforeValidator, Field

from datasets import load as load_dataset
from datasets.loaders import city
from mechanisms import AdditiveMechanism
from papers.r1smg2024 import PLACES, count_query
from studies.base import (
    COLUMN,
    ROW,
    ByMechanism,
    Case,
    Coordinate,
    Count,
    Disallowed,
    Distinct,
    Epsilon,
    EpsilonGrid,
    Metric,
    Number,
    Point,
    ReleaseSettings,
    Section,
    Setup,
    Study,
    StudySettings,
    Value,
    Whole,
)
from studies.base.families import COUNTS
from studies.base.study_settings import DEFAULT

BOX = Coordinate("box", int, "number of a bounding box that contains the paper's places, from 0")


def _time(value: object) -> str:
    """Convert a time to ISO form; YAML reads an unquoted time as a datetime."""
    moment = datetime.fromisoformat(str(value))
    # The times of the data are whole seconds without a zone. Digits after the sixth are lost.
    if moment.tzinfo is not None or moment.microsecond or set(str(value)) & {".", ","}:
        raise ValueError("leave out the time zone and parts of a second")
    return moment.isoformat(timespec="seconds")


Moment = Annotated[str, BeforeValidator(_time)]
Latitude = Annotated[Number, Field(ge=-90, le=90)]
Longitude = Annotated[Number, Field(ge=-180, le=180)]


class BoundingBox(Section):
    """Edges of a map in degrees."""

    south: Latitude = Field(description="southern edge, degrees")
    north: Latitude = Field(description="northern edge, degrees")
    west: Longitude = Field(description="western edge, degrees")
    east: Longitude = Field(description="eastern edge, degrees")

    def check(self) -> None:
        """Raise Disallowed for a box without area."""
        if self.south >= self.north:
            raise Disallowed("north", f"north of the southern edge {self.south:g}", self.north)
        if self.west >= self.east:
            raise Disallowed("east", f"east of the western edge {self.west:g}", self.east)

    def holds(self, place: tuple[float, float]) -> bool:
        """Whether a place, (latitude, longitude), lies inside the box or on its edge."""
        latitude, longitude = place
        return self.south <= latitude <= self.north and self.west <= longitude <= self.east


# The five boroughs; the paper does not give its bounding box.
NEW_YORK = BoundingBox(south=40.4961, north=40.9155, west=-74.2557, east=-73.7004)


class MapSettings(StudySettings):
    """The settings of `map_counts`."""

    bounding_box: BoundingBox = Field(
        NEW_YORK, description="edges of the Uber map, degrees; the simulated city has its own"
    )
    cells_per_side: Count = Field(89, le=4096, description="cells per axis")
    start: Moment = Field("2014-04-01T00:11:00", description="first second of the window")
    end: Moment = Field("2014-04-03T23:57:00", description="last second of the window")
    city_pickups: Count = Field(50_000, le=10**8, description="pickups of the simulated city")

    def check(self) -> None:
        """Raise Disallowed for a window that ends before it starts."""
        if np.datetime64(self.end) < np.datetime64(self.start):
            raise Disallowed("end", f"a time from {self.start} on", self.end)


class Settings(EpsilonGrid, MapSettings, ReleaseSettings):
    """Settings of this study."""

    rectangles: Count = Field(200, le=10**6, description="random rectangle queries")
    boxes: Annotated[Whole, Field(ge=0, le=10**6)] = Field(
        0,
        description="other bounding boxes of the Uber map whose largest exact count is measured, "
        "without noise and at its epsilons of `map_epsilons`",
    )
    map_epsilons: ByMechanism[Distinct[Epsilon]] = Field(
        description="epsilons at which the first trial's whole map is kept, for Figure 4; "
        "`default`: of all other mechanisms"
    )

    def check_run(self) -> None:
        """Raise Disallowed for a map outside the grid, and for boxes that cannot be drawn."""
        super().check_run()
        for name, kept in self.map_epsilons.items():
            others = [each for each in self.mechanisms if each not in self.map_epsilons]
            run = others if name == DEFAULT else [name]
            if not run:
                allowed = "left out: every mechanism has its own entry"
                raise Disallowed(f"map_epsilons.{name}", allowed, kept)
            grid = {e for each in run for data in self.datasets for e in self.grid(each, data)}
            if missing := [epsilon for epsilon in kept if epsilon not in grid]:
                words = ", ".join(f"{epsilon:g}" for epsilon in sorted(grid))
                allowed = f"among the epsilons that are run there, {words}"
                raise Disallowed(f"map_epsilons.{name}", allowed, missing[0])
        if self.boxes and "uber" not in self.datasets:
            raise Disallowed("boxes", "0 without the data set uber", self.boxes)
        if self.boxes and not all(map(self.bounding_box.holds, PLACES.values())):
            places = " and ".join(PLACES)
            raise Disallowed("boxes", f"0 where bounding_box does not hold {places}", self.boxes)


@dataclass(frozen=True)
class CountMaps:
    """The exact map and the queries on it, shared by all mechanisms.

    Args:
        counts: Exact counts (k, k); row 0 is the southernmost, column 0 the westernmost.
        empty: Boolean (k, k): the cells known to be empty.
        rectangles: See `random_rectangles`.
        boxes: See `boxes_with`; there may be none.
        positions: Latitudes and longitudes (2, pickups) of all pickups in the window, inside the
            map or not; empty if there are no boxes.
    """

    counts: np.ndarray
    empty: np.ndarray
    rectangles: np.ndarray
    boxes: np.ndarray
    positions: np.ndarray


class CountQuery(Study):
    """The study of this module."""

    name = "count_query"
    paper = "r1smg2024"
    datasets = {"uber": "official", "city": "simulated"}
    coordinates = (ROW, COLUMN, BOX)
    Settings = Settings
    metrics = (
        Metric(
            "rmse_valid_cell",
            "root mean squared error per valid cell after post-processing",
            "pickups",
            title="root mean squared error per cell",
        ),
        Metric(
            "rectangle_rmse",
            "root mean squared error of the random rectangles",
            "pickups",
            title="root mean squared error per rectangle",
        ),
        Metric("expected_loss", "E||noise||^2 in closed form", "pickups²"),
        Metric(
            "loss",
            "||noise||^2 of one release before post-processing",
            "pickups²",
            title="squared norm of the noise",
            closed_form="expected_loss",
        ),
        Metric("loss_postprocessed", "||answer - counts||^2 after post-processing", "pickups²"),
        Metric("largest_count", "largest count of one release after post-processing", "pickups"),
        Metric("nonprivate_largest_count", "largest exact count", "pickups"),
        Metric(
            "largest_in_box", "largest exact count of the map of another bounding box", "pickups"
        ),
        Metric("pickups", "pickups inside the map and the window"),
        Metric(
            "pickups_zeroed", "pickups of the window in cells that post-processing sets to zero"
        ),
        Metric("valid_cells", "cells that post-processing does not set to zero"),
        Metric(
            "released_count",
            "count of one cell in the first trial, after post-processing",
            "pickups",
            is_map=True,
        ),
        Metric("calibrate_seconds", "wall-clock seconds to calibrate"),
        Metric(
            "release_seconds", "wall-clock seconds of one release, without the checks around it"
        ),
    )
    family = COUNTS
    query = (
        "Counts on an 89 by 89 map. One pickup is replaced by another, which changes two cells "
        "by one: l2 sensitivity √2, l1 sensitivity 2."
    )

    def points(self, settings: Settings, variant: str, dataset: str) -> list[Point]:
        """Return the grid over epsilon at the shape of the map."""
        side = settings.cells_per_side
        return settings.points_over([(side, side)], variant, dataset)

    def load(self, setup: Setup, folder: Path) -> CountMaps:
        """Count the pickups of the window and find the cells known to be empty.

        Raises:
            ValueError: The map has no pickup inside the window, or none outside it, which would
                make all cells empty.
        """
        settings, dataset = setup.settings, setup.dataset
        counts, empty = map_counts(settings, dataset, folder, setup)
        if empty.all():
            raise _no_pickups("outside", settings)
        seed = setup.shared_seed("rectangles")
        rectangles = random_rectangles(counts.shape, settings.rectangles, seed)
        boxes, positions = np.empty((0, 4)), np.empty((2, 0))
        if dataset == "uber" and settings.boxes:
            seed = setup.shared_seed("boxes")
            boxes = boxes_with(PLACES.values(), settings.bounding_box, settings.boxes, seed)
            pickups = load_dataset("uber", folder)
            inside = in_window(pickups.time, settings)
            positions = np.stack([pickups.latitude[inside], pickups.longitude[inside]])
        return CountMaps(counts, empty, rectangles, boxes, positions)

    def measure(self, problem: CountMaps, case: Case, point: Point) -> Iterator[Value]:
        """Yield losses, errors per cell and rectangle, the largest count, and a map."""
        mechanism, seconds = case.timed_calibration(
            count_query(problem.counts.sum(), problem.counts.shape),
            point.budget,
        )
        yield Value("calibrate_seconds", seconds, timing=True)
        # `expected_loss` is the mean of `loss` only if nothing but noise changes the counts.
        if isinstance(mechanism, AdditiveMechanism) and mechanism.only_adds_noise:
            yield Value("expected_loss", mechanism.expected_loss())
        yield Value("nonprivate_largest_count", problem.counts.max())
        yield Value("pickups", problem.counts.sum())
        yield Value("pickups_zeroed", problem.counts[problem.empty].sum())
        yield Value("valid_cells", (~problem.empty).sum())

        seeds = [case.seed(point, trial) for trial in case.trials]
        released = np.empty((len(seeds), *problem.counts.shape))
        for trial, seed in enumerate(seeds):
            rng = np.random.default_rng(seed)
            released[trial], _, seconds = mechanism.timed_release(problem.counts, rng)
            yield Value("release_seconds", seconds, trial, timing=True)

        for metric, values in trial_metrics(released, problem).items():
            for trial, value in enumerate(values):
                yield Value(metric, value, trial, seed=seeds[trial])
        kept = case.settings.map_epsilons
        if point.epsilon in kept.get(case.variant.name, kept.get("default", ())):
            # Only the control without noise reports these, because they are exact counts.
            if mechanism.guarantee == "none":
                side = case.settings.cells_per_side
                found = largest_in_boxes(problem.positions, problem.boxes, side)
                for box, largest in enumerate(found):
                    yield Value("largest_in_box", largest, at={"box": box})
            first = np.where(problem.empty, 0.0, released[0])
            for (row, column), value in np.ndenumerate(first):
                yield Value("released_count", value, 0, {"row": row, "column": column}, seeds[0])


def map_counts(
    settings: MapSettings, dataset: str, folder: Path, setup: Setup
) -> tuple[np.ndarray, np.ndarray]:
    """Count the pickups of the window, (k, k), and mark the cells known to be empty, (k, k).

    Args:
        dataset: "uber", or "city", which is simulated with a seed from `setup`.

    Raises:
        ValueError: No pickup is inside the map and the window.
    """
    side = settings.cells_per_side
    if dataset == "city":
        pickups = city.load(seed=setup.shared_seed("city"), pickups=settings.city_pickups)
        edges = map_edges(city.LATITUDE_RANGE, city.LONGITUDE_RANGE, side)
        return histogram(pickups, slice(None), edges), city.water_cells(*edges)
    pickups = load_dataset("uber", folder)
    box = settings.bounding_box
    edges = map_edges((box.south, box.north), (box.west, box.east), side)
    inside = in_window(pickups.time, settings)
    counts = histogram(pickups, inside, edges)
    if not counts.any():
        raise _no_pickups("in", settings)
    return counts, histogram(pickups, ~inside, edges) == 0


def _no_pickups(where: str, settings: MapSettings) -> ValueError:
    return ValueError(
        f"there must be pickups on the map {where} the window, {settings.start} to {settings.end}; "
        "change start, end or bounding_box"
    )


def in_window(times: np.ndarray, settings: MapSettings) -> np.ndarray:
    """Return which times lie in the window, its ends included."""
    return (times >= np.datetime64(settings.start)) & (times <= np.datetime64(settings.end))


def boxes_with(
    places: Iterable[tuple[float, float]], outer: BoundingBox, count: int, seed: int
) -> np.ndarray:
    """Draw boxes (count, 4) as (south, north, west, east), in degrees, that contain all places.

    The first box is the smallest possible one. Every edge of another box lies between the outermost
    place and the edge of `outer`, which must contain the places: a share u of the way in boxes of
    odd index, and u^4 in boxes of even index, which stay close to the places; u is uniform.
    """
    corners = np.array(list(places))
    least = np.column_stack([corners.min(axis=0), corners.max(axis=0)]).ravel()
    most = np.array([outer.south, outer.north, outer.west, outer.east])
    shares = np.random.default_rng(seed).random((count, 4))
    shares[::2] **= 4
    shares[0] = 0
    return least + shares * (most - least)


def largest_in_boxes(positions: np.ndarray, boxes: np.ndarray, side: int) -> Iterator[float]:
    """Yield the largest count on a side x side map of positions (2, n), for each box of (b, 4)."""
    for box in boxes:
        yield np.histogram2d(*positions, bins=side, range=box.reshape(2, 2))[0].max()


def random_rectangles(shape: tuple[int, int], count: int, seed: int) -> np.ndarray:
    """Draw rectangles (count, 4) as (top, left, bottom, right); bottom and right are exclusive.

    The two ends along an axis are cells drawn uniformly and independently.
    """
    corners = np.random.default_rng(seed).integers(0, shape, (count, 2, 2))
    return np.concatenate([corners.min(axis=1), corners.max(axis=1) + 1], axis=1)


def map_edges(
    latitude: tuple[float, float], longitude: tuple[float, float], side: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the edges (side + 1,) of the rows and of the columns of the map, in degrees."""
    return np.linspace(*latitude, side + 1), np.linspace(*longitude, side + 1)


def histogram(pickups, chosen, edges: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Count the chosen pickups in every cell between the edges, (k, k); row 0 is southernmost."""
    latitude, longitude = pickups.latitude[chosen], pickups.longitude[chosen]
    return np.histogram2d(latitude, longitude, bins=edges)[0]


def trial_metrics(released: np.ndarray, problem: CountMaps) -> dict[str, np.ndarray]:
    """Return the losses, errors and largest counts, (trials,) each, of releases (trials, k, k)."""
    noise = released - problem.counts
    answer = np.where(problem.empty, 0.0, released)
    error = answer - problem.counts
    sums = rectangle_sums(error, problem.rectangles)
    return {
        "loss": np.einsum("tij,tij->t", noise, noise),
        "loss_postprocessed": np.einsum("tij,tij->t", error, error),
        "rmse_valid_cell": np.sqrt(np.mean(error[:, ~problem.empty] ** 2, axis=1)),
        "largest_count": answer.max(axis=(1, 2)),
        "rectangle_rmse": np.sqrt(np.mean(sums**2, axis=1)),
    }


def prefix_sums(maps: np.ndarray) -> np.ndarray:
    """Sum maps (trials, r, c) over all cells before each corner: (trials, r + 1, c + 1)."""
    return np.pad(maps.cumsum(axis=1).cumsum(axis=2), ((0, 0), (1, 0), (1, 0)))


def rectangle_sums(maps: np.ndarray, rectangles: np.ndarray) -> np.ndarray:
    """Sum maps (trials, k, k) over rectangles (q, 4): (trials, q), by a summed-area table."""
    area = prefix_sums(maps)
    top, left, bottom, right = rectangles.T
    return area[:, bottom, right] - area[:, top, right] - area[:, bottom, left] + area[:, top, left]
