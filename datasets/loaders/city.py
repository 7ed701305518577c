"""A simulated city of pickups, unrelated to any real place or company.

A river runs through the city from north to south into a bay; there are no pickups on the water.
Pickups gather in a dense core, in neighbourhoods whose popularity has a heavy tail (Pareto) and
decreases with the distance from the core, and at three hot spots: a station and two airports. Most
pickups are on a rotated grid of streets. Times follow the daily rhythm of three days.

The geography is the same for every seed: another seed gives another three days in the same city.
The city lies in the open Atlantic, so that no map can mistake it for a real one.

One record is one pickup.
"""

import numpy as np
from numpy.typing import ArrayLike

from datasets.entry import Dataset
from datasets.loaders.uber import Pickups

ENTRY = Dataset(
    name="city",
    title="A simulated city of pickups",
    source="simulated",
    licence="the licence of this project",
    citation="this project: datasets/loaders/city.py",
    record="one pickup",
    rows={},
)


START = np.datetime64("2001-01-01T00:00:00")
DAYS = 3

_CENTRE_LATITUDE, _CENTRE_LONGITUDE = 30.0, -40.0
_HALF_SIDE = 25.0  # km; the city is a square
_KM_PER_LATITUDE = 111.2
_KM_PER_LONGITUDE = float(_KM_PER_LATITUDE * np.cos(np.radians(_CENTRE_LATITUDE)))

LATITUDE_RANGE = (
    _CENTRE_LATITUDE - _HALF_SIDE / _KM_PER_LATITUDE,
    _CENTRE_LATITUDE + _HALF_SIDE / _KM_PER_LATITUDE,
)
LONGITUDE_RANGE = (
    _CENTRE_LONGITUDE - _HALF_SIDE / _KM_PER_LONGITUDE,
    _CENTRE_LONGITUDE + _HALF_SIDE / _KM_PER_LONGITUDE,
)

_LAYOUT_SEED = 20010101
_NEIGHBOURHOODS = 400
_CORE_RADIUS = 4.0  # km over which the popularity of neighbourhoods falls by the factor e
_TAIL = 1.1  # Pareto index of their popularity: it has a mean but no variance
# x km east and y km north of the centre, spread in km, share of all pickups
_HOT_SPOTS = np.array(
    [
        (2.0, 1.0, 0.12, 0.03),  # station
        (12.0, 4.0, 0.25, 0.05),  # near airport
        (17.0, -3.0, 0.35, 0.03),  # far airport
    ]
)
_SUBURBAN_SHARE = 0.04  # of all pickups, spread over the whole square
_STREETS_SHARE = 0.85  # of all pickups, at a street or avenue
_STREET_ANGLE = np.radians(20.0)
_BLOCK = (0.25, 0.08)  # km between avenues, between streets


def load(*, seed: int = 0, pickups: int = 50_000) -> Pickups:
    """Simulate three days of pickups, in order of time.

    Args:
        seed: at least 0; the same seed gives the same pickups.
        pickups: number of pickups, at least 1.

    Returns:
        The type of the Uber loader. Places are rounded to 1e-4 degrees and times to minutes, as
        in Uber's file; all places are on land, in `LATITUDE_RANGE` and `LONGITUDE_RANGE`.
    """
    rng = np.random.default_rng(seed)
    places = np.empty((0, 2))
    while len(places) < pickups:
        places = np.concatenate([places, _places(rng, pickups)])
    latitude, longitude = places[:pickups].T.copy()
    return Pickups(time=_times(rng, pickups), latitude=latitude, longitude=longitude)


def is_water(latitude: ArrayLike, longitude: ArrayLike) -> np.ndarray:
    """Whether each place is in the river or the bay, where no pickup ever is.

    Args:
        latitude, longitude: degrees, broadcast against each other.
    """
    return _depth(*_kilometres(latitude, longitude)) > 0


def water_cells(latitude_edges: ArrayLike, longitude_edges: ArrayLike) -> np.ndarray:
    """Whether each cell of a grid lies entirely in the water, so that its true count is 0.

    Cells are cut into 8 x 8 tiles. `_depth` changes by at most 1 per km, so a tile is all water if
    the depth at its middle exceeds half its diagonal. A cell is reported only if all its tiles are
    water. A cell within a few dozen metres of the shore may be missed, but no cell with any land
    is reported.

    Args:
        latitude_edges, longitude_edges: increasing degrees, (rows + 1,) and (columns + 1,).

    Returns:
        bool (rows, columns).
    """
    tiles = 8
    latitude, height = _tile_middles(np.asarray(latitude_edges, np.float64), tiles)
    longitude, width = _tile_middles(np.asarray(longitude_edges, np.float64), tiles)
    half_diagonal = 0.5 * np.hypot(height[:, None] * _KM_PER_LATITUDE, width * _KM_PER_LONGITUDE)
    deep = _depth(*_kilometres(latitude[:, None], longitude)) > half_diagonal
    rows, columns = len(latitude) // tiles, len(longitude) // tiles
    return deep.reshape(rows, tiles, columns, tiles).all(axis=(1, 3))


def _tile_middles(edges: np.ndarray, tiles: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the middles and the sizes of the tiles of all cells along one axis, (cells tiles,)."""
    size = np.diff(edges)[:, None] / tiles
    middles = edges[:-1, None] + size * (np.arange(tiles) + 0.5)
    return middles.ravel(), np.repeat(size, tiles)


def _kilometres(latitude: ArrayLike, longitude: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return the kilometres east and north of the centre."""
    east = (np.asarray(longitude) - _CENTRE_LONGITUDE) * _KM_PER_LONGITUDE
    north = (np.asarray(latitude) - _CENTRE_LATITUDE) * _KM_PER_LATITUDE
    return east, north


def _depth(east: np.ndarray, north: np.ndarray) -> np.ndarray:
    """Return a number that is positive only in the water and changes by at most 1 per km."""
    # Dividing by the largest length of the gradient makes each body of water's depth 1-Lipschitz.
    river = (0.8 - np.abs(east + 2.5 - 1.2 * np.sin(north / 6.0))) / np.hypot(1.0, 1.2 / 6.0)
    bay = (-9.0 + 3.0 * np.cos(east / 8.0) - north) / np.hypot(1.0, 3.0 / 8.0)
    return np.maximum(river, bay)


def _places(rng: np.random.Generator, count: int) -> np.ndarray:
    """Draw up to `count` places on land: latitudes and longitudes (n, 2)."""
    centres, spreads, shares = _layout()
    spot = rng.choice(len(shares), size=count, p=shares)
    points = centres[spot] + spreads[spot, None] * rng.standard_normal((count, 2))
    suburban = rng.random(count) < _SUBURBAN_SHARE
    points[suburban] = rng.uniform(-_HALF_SIDE, _HALF_SIDE, (suburban.sum(), 2))
    points = _to_streets(rng, points)
    latitude = np.round(_CENTRE_LATITUDE + points[:, 1] / _KM_PER_LATITUDE, 4)
    longitude = np.round(_CENTRE_LONGITUDE + points[:, 0] / _KM_PER_LONGITUDE, 4)
    rounded = np.column_stack([latitude, longitude])
    south_west, north_east = zip(LATITUDE_RANGE, LONGITUDE_RANGE, strict=True)
    inside = np.all((south_west <= rounded) & (rounded <= north_east), axis=1)
    return rounded[inside & ~is_water(latitude, longitude)]


def _layout() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return centres (n, 2), spreads (n,) in km and shares (n,) of neighbourhoods and hot spots."""
    rng = np.random.default_rng(_LAYOUT_SEED)
    distance = rng.gamma(2.0, _CORE_RADIUS, _NEIGHBOURHOODS)
    angle = rng.uniform(0.0, 2.0 * np.pi, _NEIGHBOURHOODS)
    centres = distance[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    spreads = rng.uniform(0.2, 0.8, _NEIGHBOURHOODS)
    popularity = (1.0 + rng.pareto(_TAIL, _NEIGHBOURHOODS)) * np.exp(-distance / _CORE_RADIUS)
    hot = _HOT_SPOTS[:, 3]
    shares = np.concatenate([popularity / popularity.sum() * (1.0 - hot.sum()), hot])
    return (
        np.concatenate([centres, _HOT_SPOTS[:, :2]]),
        np.concatenate([spreads, _HOT_SPOTS[:, 2]]),
        shares,
    )


def _to_streets(rng: np.random.Generator, points: np.ndarray) -> np.ndarray:
    """Move most points to the nearest avenue or street, with a standard deviation of 10 m."""
    turn = np.array(
        [
            (np.cos(_STREET_ANGLE), -np.sin(_STREET_ANGLE)),
            (np.sin(_STREET_ANGLE), np.cos(_STREET_ANGLE)),
        ]
    )
    turned = points @ turn
    axis = rng.integers(0, 2, len(points))
    rows = np.flatnonzero(rng.random(len(points)) < _STREETS_SHARE)
    moved = rows, axis[rows]
    block = np.array(_BLOCK)[axis[rows]]
    street = np.round(turned[moved] / block) * block
    turned[moved] = street + 0.01 * rng.standard_normal(len(rows))
    return turned @ turn.T


def _times(rng: np.random.Generator, count: int) -> np.ndarray:
    """Draw sorted times in whole minutes: quiet nights, a morning and a higher evening peak."""
    hour = np.arange(24) + 0.5
    rhythm = 0.15 + 0.6 * np.exp(-(((hour - 8.0) / 1.6) ** 2))
    rhythm += 1.0 * np.exp(-(((hour - 18.5) / 3.5) ** 2)) + 0.3 * np.exp(-(((hour - 13) / 3) ** 2))
    chosen = rng.choice(24, size=count, p=rhythm / rhythm.sum())
    minutes = (rng.integers(0, DAYS, count) * 24 + chosen) * 60 + rng.integers(0, 60, count)
    return START + np.sort(minutes).astype("timedelta64[m]")
