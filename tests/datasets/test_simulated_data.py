"""Simulated boids and the simulated city are seeded and bounded, and follow their rules."""

import numpy as np
import pytest

import datasets
from datasets.loaders import boids, city
from datasets.loaders.uber import Pickups


@pytest.fixture(scope="module")
def snapshots():
    return boids.load(seed=2, groups=300, boids=20)


def per_boid(data):
    return data.features.reshape(len(data.targets), -1, boids.FEATURES)


def test_the_seed_decides_every_snapshot(snapshots):
    same, other = (boids.load(seed=seed, groups=300, boids=20) for seed in (2, 3))
    assert np.array_equal(same.features, snapshots.features)
    assert np.array_equal(same.targets, snapshots.targets)
    assert not np.array_equal(other.features, snapshots.features)


@pytest.mark.parametrize(("groups", "count"), [(1, 2), (7, 200), (400, 10)])
def test_features_stay_within_their_bounds(groups, count):
    data = boids.load(seed=1, groups=groups, boids=count)
    assert data.features.shape == (groups, 12 * count)
    assert np.isfinite(data.features).all()
    assert np.abs(data.features).max() <= 1 + 1e-12


def test_steering_against_loops():
    rng = np.random.default_rng(0)
    place, velocity = rng.random((2, 15, 2)), rng.standard_normal((2, 15, 2))
    alignment, separation, cohesion, near, close = boids._Pairs(*place.shape[:2]).steering(
        place, velocity
    )
    for group in range(2):
        for i in range(15):
            offset = place[group] - place[group, i]
            offset -= np.round(offset)
            distance = np.hypot(*offset.T)
            distance[i] = np.inf
            seen, crowd = distance < boids._SIGHT, distance < boids._TOO_CLOSE
            assert near[group, i] == seen.sum() and close[group, i] == crowd.sum()
            mean = velocity[group, seen].mean(axis=0) - velocity[group, i] if seen.any() else 0
            np.testing.assert_allclose(alignment[group, i], mean, atol=1e-14)
            towards = offset[seen].mean(axis=0) if seen.any() else 0
            np.testing.assert_allclose(cohesion[group, i], towards, atol=1e-14)
            away = -offset[crowd].mean(axis=0) if crowd.any() else 0
            np.testing.assert_allclose(separation[group, i], away, atol=1e-14)


def test_speeds_are_limited(snapshots):
    speed = np.linalg.norm(per_boid(snapshots)[..., 2:4], axis=-1)
    assert speed.min() >= boids._SLOWEST / boids._FASTEST - 1e-12
    assert speed.max() <= 1 + 1e-12


def test_flocks_are_dense_and_move_together(snapshots):
    state = per_boid(snapshots)
    neighbours = (state[..., 10] + 1) / 2 * 19
    heading = state[..., 2:4] / np.linalg.norm(state[..., 2:4], axis=-1, keepdims=True)
    order = np.linalg.norm(heading.mean(axis=1), axis=-1)
    disagreement = np.linalg.norm(state[..., 4:6], axis=-1).mean(axis=1)
    flocking = snapshots.targets == 1
    # Boids at random places see 19 pi 0.25^2 others; their mean heading is about 1/sqrt(20) long.
    assert neighbours[~flocking].mean() == pytest.approx(19 * np.pi * 0.25**2, rel=0.1)
    assert order[~flocking].mean() == pytest.approx(np.sqrt(np.pi / 4 / 20), rel=0.15)
    assert neighbours[flocking].mean() > 2 * neighbours[~flocking].mean()
    assert order[flocking].mean() > 1.5 * order[~flocking].mean()
    assert disagreement[flocking].mean() < 0.6 * disagreement[~flocking].mean()


@pytest.fixture(scope="module")
def pickups():
    return city.load()


def edges(cells):
    """The edges of a square grid over the city."""
    return (
        np.linspace(*city.LATITUDE_RANGE, cells + 1),
        np.linspace(*city.LONGITUDE_RANGE, cells + 1),
    )


def counts(pickups, cells=89):
    return np.histogram2d(pickups.latitude, pickups.longitude, bins=edges(cells))[0]


def test_same_type_as_the_uber_loader(pickups):
    assert isinstance(pickups, Pickups)
    assert pickups.time.dtype == "datetime64[s]"
    assert len(pickups) == len(pickups.latitude) == len(pickups.longitude) == 50_000
    assert datasets.load("city").time.shape == (50_000,)
    assert datasets.DATASETS["city"].source == "simulated"


def test_the_seed_decides_every_pickup(pickups):
    same, other = city.load(seed=0), city.load(seed=1)
    for field in ("time", "latitude", "longitude"):
        assert np.array_equal(getattr(same, field), getattr(pickups, field))
        assert not np.array_equal(getattr(other, field), getattr(pickups, field))


def test_times_lie_in_three_days_in_order(pickups):
    assert (np.diff(pickups.time).astype(int) >= 0).all()
    assert pickups.time.min() >= city.START
    assert pickups.time.max() < city.START + np.timedelta64(3, "D")


def test_places_are_inside_and_rounded(pickups):
    for values, (low, high) in (
        (pickups.latitude, city.LATITUDE_RANGE),
        (pickups.longitude, city.LONGITUDE_RANGE),
    ):
        assert low <= values.min() < values.max() <= high
        assert np.array_equal(values, np.round(values, 4))


def test_no_pickup_is_on_the_water():
    many = city.load(seed=5, pickups=150_000)
    assert not city.is_water(many.latitude, many.longitude).any()
    for cells in (10, 89, 200):
        assert counts(many, cells)[city.water_cells(*edges(cells))].sum() == 0


def test_water_cells_hold_water_only_and_miss_little():
    latitude, longitude = edges(89)
    water = city.water_cells(latitude, longitude)
    fine = 12  # places per side of a cell, including edges
    steps = np.linspace(0, 1, fine)
    rows = (latitude[:-1, None] + np.diff(latitude)[:, None] * steps).ravel()
    columns = (longitude[:-1, None] + np.diff(longitude)[:, None] * steps).ravel()
    sampled = city.is_water(rows[:, None], columns[None, :]).reshape(89, fine, 89, fine)
    all_water = sampled.all(axis=(1, 3))
    assert water.shape == (89, 89)
    assert not (water & ~all_water).any()
    assert water.sum() > 0.97 * all_water.sum()
    # A river from north to south, and a bay along the whole south.
    assert water.any(axis=1).all()
    assert water[:20].all()
    assert 0.2 < water.mean() < 0.5
