"""The count query against brute force, and its sensitivities."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from one_case import ZEROED, case_of, measured, number, problem_of, series, setup_of

from datasets import load as load_dataset
from mechanisms import Budget, get_mechanism
from papers import r1smg2024
from studies import count_query
from studies.base import Point
from studies.count_query import (
    histogram,
    in_window,
    map_edges,
)

SIDE = 7


EDGES = map_edges((40.0, 41.0), (-75.0, -73.0), SIDE)


def pickups_at(latitude, longitude):
    return SimpleNamespace(latitude=np.asarray(latitude), longitude=np.asarray(longitude))


@pytest.fixture
def pickups():
    """500 random places, some of them outside the map."""
    rng = np.random.default_rng(3)
    return pickups_at(rng.uniform(39.9, 41.1, 500), rng.uniform(-75.2, -72.8, 500))


def cell_of(latitude, longitude):
    """Row and column of a place, or None outside the map."""
    row = math.floor((latitude - 40.0) / (1 / SIDE))
    column = math.floor((longitude + 75.0) / (2 / SIDE))
    return (row, column) if 0 <= row < SIDE and 0 <= column < SIDE else None


def test_histogram_counts_every_pickup_inside_once(pickups):
    expected = np.zeros((SIDE, SIDE))
    for place in zip(pickups.latitude, pickups.longitude, strict=True):
        if (cell := cell_of(*place)) is not None:
            expected[cell] += 1
    assert 300 < expected.sum() < 500
    assert np.array_equal(histogram(pickups, slice(None), EDGES), expected)


def test_replacing_one_pickup_changes_the_counts_by_at_most_the_sensitivities(pickups):
    inside = [
        i
        for i, place in enumerate(zip(pickups.latitude, pickups.longitude, strict=True))
        if cell_of(*place) is not None
    ]
    kept = pickups_at(pickups.latitude[inside], pickups.longitude[inside])
    counts = histogram(kept, slice(None), EDGES)
    query = r1smg2024.count_query(counts.sum(), counts.shape)
    assert (query.l2_sensitivity, query.l1_sensitivity) == (math.sqrt(2), 2.0)
    assert (query.linf_sensitivity, query.adjacency) == (1.0, "replace")
    assert query.frobenius_bound == len(inside) == counts.sum()
    rng = np.random.default_rng(5)
    changes = []
    for _ in range(200):
        which = rng.integers(len(inside))
        latitude, longitude = kept.latitude.copy(), kept.longitude.copy()
        latitude[which], longitude[which] = rng.uniform(40, 41), rng.uniform(-75, -73)
        other = histogram(pickups_at(latitude, longitude), slice(None), EDGES)
        assert other.sum() == counts.sum()
        changes.append((other - counts).ravel())
        assert np.linalg.norm(other) <= query.frobenius_bound
    norms = {order: np.linalg.norm(changes, order, axis=1).max() for order in (1, 2, np.inf)}
    # All three are attained, so none can be smaller.
    assert norms == {1: 2.0, 2: pytest.approx(math.sqrt(2), rel=1e-15), np.inf: 1.0}
    everything_in_one_cell = np.zeros((SIDE, SIDE))
    everything_in_one_cell[2, 2] = counts.sum()
    assert np.linalg.norm(everything_in_one_cell) == query.frobenius_bound


@pytest.fixture
def settings(make_config):
    return make_config("count_query")["studies"]["count_query"]


@pytest.fixture
def setup(settings):
    return setup_of("count_query", "city", settings)


@pytest.fixture
def problem(setup):
    return problem_of(setup)


@pytest.fixture
def measure(setup):
    def values(problem, key, epsilon=0.5, calibration="published", **options):
        side = len(problem.counts)
        point = Point(shape=(side, side), epsilon=epsilon, delta=1e-7)
        return measured(case_of(setup, key, calibration, **options), problem, point)

    return values


def test_the_city_s_problem(problem, settings):
    assert problem.counts.shape == (6, 6)
    assert problem.counts.sum() == settings.city_pickups
    # Nobody is picked up on the water.
    assert problem.empty.any()
    assert problem.counts[problem.empty].sum() == 0
    top, left, bottom, right = problem.rectangles.T
    assert len(problem.rectangles) == settings.rectangles
    for low, high in ((top, bottom), (left, right)):
        assert np.all((low >= 0) & (low < high) & (high <= 6))


def test_metrics_against_brute_force(problem, measure, setup):
    values = measure(problem, "gaussian")
    point = Point(shape=(6, 6), epsilon=0.5, delta=1e-7)
    mechanism = get_mechanism("gaussian").calibrate(
        r1smg2024.count_query(problem.counts.sum(), problem.counts.shape),
        Budget(epsilon=0.5, delta=1e-7),
    )
    for trial in range(4):
        seed = case_of(setup, "gaussian").seed(point, trial)
        released = mechanism.release(problem.counts, np.random.default_rng(seed))
        answer = released.copy()
        loss, post, squares, valid, largest = 0.0, 0.0, 0.0, 0, -math.inf
        for cell in np.ndindex(6, 6):
            loss += (released[cell] - problem.counts[cell]) ** 2
            if problem.empty[cell]:
                answer[cell] = 0.0
            else:
                valid += 1
                squares += (answer[cell] - problem.counts[cell]) ** 2
            post += (answer[cell] - problem.counts[cell]) ** 2
            largest = max(largest, answer[cell])
        errors = [
            (answer - problem.counts)[top:bottom, left:right].sum()
            for top, left, bottom, right in problem.rectangles
        ]
        expected = {
            "loss": loss,
            "loss_postprocessed": post,
            "rmse_valid_cell": math.sqrt(squares / valid),
            "largest_count": largest,
            "rectangle_rmse": math.sqrt(np.mean(np.square(errors))),
        }
        for metric, value in expected.items():
            assert series(values, metric)[trial] == pytest.approx(value, rel=1e-9), metric
        assert {v.seed for v in values if v.metric == "loss" and v.trial == trial} == {seed}
    assert number(values, "valid_cells") == (~problem.empty).sum()
    assert number(values, "pickups") == problem.counts.sum()
    assert number(values, "nonprivate_largest_count") == problem.counts.max()
    assert number(values, "expected_loss") == pytest.approx(
        36 * 2 * 2 * math.log(1.25e7) / 0.25, rel=1e-12
    )


def test_pickups_in_cells_thought_empty_are_counted_as_lost(problem, measure):
    empty = problem.empty.copy()
    empty[np.unravel_index(problem.counts.argmax(), empty.shape)] = True
    values = measure(replace(problem, empty=empty), "non-private")
    lost = problem.counts.max()
    assert number(values, "pickups_zeroed") == lost
    assert series(values, "loss").tolist() == [0.0] * 4
    assert series(values, "loss_postprocessed").tolist() == [lost**2] * 4


@pytest.mark.parametrize("key", ["random-answer", ZEROED])
def test_an_answer_that_does_not_know_the_counts_has_no_closed_form(problem, measure, key):
    """Its error is about that of answering zero everywhere, the squared counts."""
    values = measure(problem, key, epsilon=10.0)
    squared = np.sum(problem.counts**2)
    assert series(values, "loss") == pytest.approx(np.full(4, squared), rel=0.1)
    assert not [v for v in values if v.metric == "expected_loss"]


def test_the_map_of_the_first_trial_is_kept_at_its_epsilon(problem, measure):
    kept = [v for v in measure(problem, "gaussian") if v.metric == "released_count"]
    assert [(v.at["row"], v.at["column"]) for v in kept] == list(np.ndindex(6, 6))
    assert {v.trial for v in kept} == {0}
    values = np.array([v.value for v in kept]).reshape(6, 6)
    assert np.all(values[problem.empty] == 0)
    others = measure(problem, "gaussian", epsilon=1.0)
    assert "released_count" not in {v.metric for v in others}


OUTER = count_query.BoundingBox(south=40.0, north=41.0, west=-75.0, east=-73.0)


TWO_PLACES = [(40.7, -74.1), (40.6, -73.6)]


def test_boxes_hold_the_places_and_lie_inside_the_outer_box():
    boxes = count_query.boxes_with(TWO_PLACES, OUTER, 50, seed=4)
    assert boxes[0].tolist() == [40.6, 40.7, -74.1, -73.6]
    south, north, west, east = boxes[1:].T
    assert np.all((south >= 40.0) & (south <= 40.6) & (north >= 40.7) & (north <= 41.0))
    assert np.all((west >= -75.0) & (west <= -74.1) & (east >= -73.6) & (east <= -73.0))
    assert len(np.unique(boxes)) == boxes.size
    # Every second box stays close to the places: E u^4 = 1/5 of the way, against 1/2.
    many = count_query.boxes_with(TWO_PLACES, OUTER, 4000, seed=4)
    way = (many[1:, 1] - 40.7) / 0.3
    assert way[1::2].mean() == pytest.approx(0.2, abs=0.03)
    assert way[::2].mean() == pytest.approx(0.5, abs=0.03)
    # More boxes do not change the first ones.
    assert np.array_equal(count_query.boxes_with(TWO_PLACES, OUTER, 60, seed=4)[:50], boxes)


def test_the_boxes_are_scanned_once_and_without_noise(problem, pickups, measure):
    boxes = np.array([[40.0, 41.0, -75.0, -73.0], [40.4, 40.5, -74.0, -73.9]])
    positions = np.stack([pickups.latitude, pickups.longitude])
    scanned = replace(problem, boxes=boxes, positions=positions)
    values = measure(scanned, "non-private")
    found = [v for v in values if v.metric == "largest_in_box"]
    assert [v.at["box"] for v in found] == [0, 1]
    edges = map_edges((40.0, 41.0), (-75.0, -73.0), len(problem.counts))
    assert found[0].value == histogram(pickups, slice(None), edges).max() > found[1].value
    for key, epsilon in (("non-private", 1.0), ("gaussian", 0.5)):
        others = measure(scanned, key, epsilon=epsilon)
        assert "largest_in_box" not in {v.metric for v in others}


@pytest.mark.parametrize(
    ("start", "end", "words"),
    [
        ("2014-05-01T00:00:00", "2014-05-02T00:00:00", "on the map in the window"),
        ("2014-04-01T00:00:00", "2014-05-01T00:00:00", "on the map outside the window"),
    ],
)
def test_pickups_are_inside_and_outside_the_window(make_config, monkeypatch, start, end, words):
    pickups = SimpleNamespace(
        time=np.array(["2014-04-02T10:00:00", "2014-04-20T10:00:00"], "datetime64[s]"),
        latitude=np.array([40.7, 40.7]),
        longitude=np.array([-74.0, -74.0]),
    )
    monkeypatch.setattr(count_query, "load_dataset", lambda name, folder: pickups)
    # Without `boxes` the map need not hold the paper's places.
    config = make_config(
        "count_query",
        datasets=["uber"],
        start=start,
        end=end,
        bounding_box={"south": 40.6, "north": 40.75, "west": -75.0, "east": -73.0},
    )
    settings = config["studies"]["count_query"]
    with pytest.raises(ValueError, match=f"{words}, {start} to {end}; change start, end or bound"):
        problem_of(setup_of("count_query", "uber", settings))


# The count query on the official Uber file: the window of the paper, its cells and boxes.


@pytest.fixture
def uber_settings(make_config):
    config = make_config("count_query", datasets=["uber"], cells_per_side=89)
    return config["studies"]["count_query"]


@pytest.mark.slow
def test_the_uber_problem(official_data, uber_settings):
    uber = official_data("uber")
    problem = problem_of(setup_of("count_query", "uber", uber_settings), uber)
    pickups = load_dataset("uber", uber)
    window = in_window(pickups.time, uber_settings)
    box = uber_settings.bounding_box
    inside = window & (pickups.latitude >= box.south) & (pickups.latitude <= box.north)
    inside &= (pickups.longitude >= box.west) & (pickups.longitude <= box.east)
    assert problem.counts.sum() == inside.sum()
    assert 52_000 < problem.counts.sum() <= 52_692
    # Figure 4 of the paper says a maximum near 27.
    assert problem.counts.max() > 1000
    scanned = problem_of(
        setup_of("count_query", "uber", uber_settings.model_copy(update={"boxes": 4})), uber
    )
    assert scanned.positions.shape == (2, 52_692)
    assert min(count_query.largest_in_boxes(scanned.positions, scanned.boxes, 89)) > 100
    # A cell is known to be empty when no pickup outside the window lies in it.
    rows, columns = map_edges((box.south, box.north), (box.west, box.east), 89)
    outside = ~window
    assert outside.sum() == 564_516 - 52_692
    row = np.searchsorted(rows, pickups.latitude[outside], side="right") - 1
    column = np.searchsorted(columns, pickups.longitude[outside], side="right") - 1
    seen = np.zeros((90, 90), bool)
    on_map = (row >= 0) & (row < 89) & (column >= 0) & (column < 89)
    seen[row[on_map], column[on_map]] = True
    assert np.array_equal(problem.empty, ~seen[:89, :89])
    assert problem.counts[problem.empty].sum() < 0.01 * problem.counts.sum()
