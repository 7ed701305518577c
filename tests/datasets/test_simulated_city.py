"""The simulated city is seeded and has pickups on land only, in three days."""

import numpy as np
import pytest

import datasets
from datasets.loaders import city
from datasets.loaders.uber import Pickups


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


def test_seed_decides_everything(pickups):
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
