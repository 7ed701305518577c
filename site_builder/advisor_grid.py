"""The numbers between which the advisor's page interpolates, at sensitivity 1.

`python -m site_builder.advisor_grid` computes them again, or the tables that it is given by name,
and writes assets/advisor-grid.js; all take twenty minutes or so. A table holds logs of ratios to
what is near and has a closed form or a table of its own, so that little is left to interpolate. It
states the largest error that was found at random sizes and budgets. assets/advisor.js puts the
parts together.
"""

import argparse
import functools
import itertools
import json
import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mechanisms import Budget, Mechanism, Query, Unsupported, get_mechanism
from mechanisms.cli.arguments import Parser
from mechanisms.limit.limit import limit
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.query.words import rounded_up

FILE = Path(__file__).parent / "assets" / "advisor-grid.js"
_HEAD = "const ADVISOR_GRID = "
SIZES = (1, 2, 3, 4, 8, 20, 80, 500, 10_000, 1_000_000)
EPSILONS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8)
DELTAS = (1e-12, 1e-9, 1e-6, 1e-4, 1e-2)
FINE_EPSILONS = tuple(float(f"{each:.6g}") for each in np.geomspace(0.05, 12.8, 25))
# For more elements staircase noise has the error of l2, Laplace or K-norm noise.
STEPPED, FINE_STEPPED = SIZES[:7], (1, 2, 3, 4, 5, 6, 8, 11, 15, 20, 27, 36, 48, 63, 80)
# Spherical gamma noise takes a second and is near l2 noise.
GAMMA_SIZES, GAMMA_EPSILONS, GAMMA_DELTAS = (
    (2, 3, 6, 20, 100, 1_000_000),
    (0.05, 0.2, 0.8, 1.6, 3.2, 6.4, 12.8),
    (1e-12, 1e-9, 1e-6, 1e-4, 1e-2),
)
# Up to these (epsilon, delta) and from 20 elements on little is lost between the nodes.
L2_CORE, GAMMA_CORE = (12.8, 1e-2), (12.8, 1e-5)
# Beyond the core (epsilon, delta) what the tests of the limit for one element lose is not smooth,
# and beyond the last epsilon it is much.
LIMIT_CORE = (2.0, 1e-3)
LIMIT_SIZES, LIMIT_EPSILONS, LIMIT_DELTAS = (
    (2, 3, 4, 6, 10, 25, 100, 1_000_000),
    (0.05, 0.2, 0.8, 1.8, 3.4, 6.4),
    # At 1e-12 and few elements, and at 1e-2 and a small epsilon, the search misses by far.
    (1e-8, 1e-5, 1e-3),
)
# From 20 elements on it is tried apart: of fewer the search changes its grid at epsilon 3.
ALL_LIMITS = LIMIT_EPSILONS[-1], LIMIT_DELTAS[-1]
LIMIT_OF_ONE = (
    (1,),
    (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 4.5, 6.4),
    (1e-12, 1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 3e-3, 1e-2),
)
# Logarithms are stored as whole numbers of this.
UNIT = 1e-6
CLAIM_SIZES = (4, 5, 6, 7, 9, 12, 16, 24, 40, 80, 200, 1000, 1_000_000)
# How many random points the interpolation is compared at, their largest size, and how far a stated
# error is above what is found.
TRIED, LARGEST, MARGIN = 200, 2000, 1.5


@dataclass(frozen=True)
class Table:
    """What is interpolated.

    Args:
        value: Of (M, epsilon, delta); None where there is none.
        sizes, epsilons, deltas: The nodes.
        near: The coordinate of a size is log(1 + near / M): errors approach a limit like 1 / M.
        core: Up to this epsilon and delta, from `core_size` elements on, the table states an error
            of its own, `core_error`.
    """

    value: Callable[[int, float, float], float | None]
    sizes: Sequence[int] = SIZES
    epsilons: Sequence[float] = EPSILONS
    deltas: Sequence[float] = DELTAS
    near: float = 30.0
    core: tuple[float, float] | None = None
    core_size: int = 1


@functools.cache
def sigma(epsilon: float, delta: float) -> float:
    """Of the Gaussian mechanism at l2 sensitivity 1."""
    return GaussianProfile(mu=1.0).scale_factor(epsilon, delta)


def _closed(norm: str, size: int, epsilon: float, delta: float) -> float:
    """log of an error near that of noise for the norm: l2 (between its ends), Laplace, K-norm."""
    if norm == "l1":
        return math.log(math.sqrt(2) / (epsilon - 2 * math.log1p(-delta)))
    if norm == "linf":
        return math.log(math.sqrt((size + 1) * (size + 2) / 3) / epsilon)
    pure = epsilon**2 / (size + 1)
    return -0.5 * math.log(pure + sigma(epsilon, delta) ** -2 if delta else pure)


def calibrated(
    key: str, norm: str, size: int, epsilon: float, delta: float, calibration: str
) -> Mechanism | None:
    """A mechanism for changes in the unit ball of a norm; None where it does not support them."""
    norms = ("l1", "l2", "linf") if size == 1 else (norm,)
    query = Query(shape=(size,), **{f"{each}_sensitivity": 1.0 for each in norms})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            budget = Budget(epsilon=epsilon, delta=delta)
            return get_mechanism(key).calibrate(query, budget, calibration)
        except Unsupported:
            return None


def _error(key: str, norm: str, point: tuple, calibration: str = "exact") -> float:
    """log of the root mean square error of an element; NaN where the noise is unsupported."""
    mechanism = calibrated(key, norm, *point, calibration)
    return math.nan if mechanism is None else 0.5 * math.log(mechanism.expected_loss() / point[0])


def _near_closed(key: str, norm: str):
    return lambda *point: _error(key, norm, point) - _closed(norm, *point)


def _near_pure(norm: str):
    """Staircase noise over l2, Laplace or K-norm noise, and that over the same at delta 0."""

    def value(size: int, epsilon: float, delta: float) -> float:
        pure = (size, epsilon, 0.0)
        point = (size, epsilon, delta)
        near = _error("l2", norm, point) if norm == "l2" else _closed(norm, *point)
        ratio = _error("staircase", norm, pure) - _closed(norm, *pure)
        return _error("staircase", norm, point) - near - ratio

    return value


def _limit(size: int, epsilon: float, delta: float) -> float:
    """log of the limit of the error over what `_near_pure` divides by, but for the l2 table."""
    norm = "l1" if size == 1 else "l2"
    query = Query(shape=(size,), l2_sensitivity=1.0)
    found = limit(query, Budget(epsilon=epsilon, delta=delta)).rmse
    pure = (size, epsilon, 0.0)
    ratio = 0.0
    if size <= FINE_STEPPED[-1]:
        ratio = _error("staircase", norm, pure) - _closed(norm, *pure)
    return math.log(found) - _closed("l2", size, epsilon, delta) - ratio


def _times_delta(*point) -> float:
    """log of delta times the error of R1SMG noise, which hardly depends on delta."""
    return _error("r1smg", "l2", point) + math.log(point[2])


def _true_delta(*point) -> float:
    """log of the true delta of R1SMG at the claimed epsilon."""
    profile = calibrated("r1smg", "l2", *point, "published").profile()
    return math.log(profile.delta(point[1]).value)


_FINE_PURE = (FINE_EPSILONS, (0.0,))
TABLES = {
    "l2": Table(_near_closed("l2", "l2"), SIZES[1:], core=L2_CORE, core_size=20),
    "spherical-gamma": Table(
        lambda *point: _error("spherical-gamma", "l2", point) - _error("l2", "l2", point),
        GAMMA_SIZES,
        GAMMA_EPSILONS,
        GAMMA_DELTAS,
        core=GAMMA_CORE,
        core_size=20,
    ),
    "pure-l2": Table(_near_closed("staircase", "l2"), FINE_STEPPED[1:], *_FINE_PURE),
    "pure-l1": Table(_near_closed("staircase", "l1"), FINE_STEPPED, *_FINE_PURE),
    "pure-linf": Table(_near_closed("staircase", "linf"), FINE_STEPPED[1:], *_FINE_PURE),
    "staircase-l2": Table(_near_pure("l2"), STEPPED[1:]),
    "staircase-l1": Table(_near_pure("l1"), STEPPED[1:]),
    "limit-of-one": Table(_limit, *LIMIT_OF_ONE, core=LIMIT_CORE),
    "limit": Table(
        _limit, LIMIT_SIZES, LIMIT_EPSILONS, LIMIT_DELTAS, core=ALL_LIMITS, core_size=20
    ),
    "rank-one": Table(_times_delta, SIZES[3:], near=3.0),
    "r1smg-delta": Table(_true_delta, CLAIM_SIZES, near=3.0),
}


def interpolated(grid: dict, size: int, epsilon: float, delta: float) -> float:
    """As the page does: by cubics through the four nodes around, on all axes; NaN outside."""
    near = grid["near"]
    axes = (
        _weights([-math.log1p(near / each) for each in grid["sizes"]], -math.log1p(near / size)),
        _weights(np.log(grid["epsilons"]), math.log(epsilon)),
        _weights(np.log(grid["deltas"]), math.log(delta)) if delta else {0: 1.0},
    )
    shape = [len(grid[name]) for name in ("sizes", "epsilons", "deltas")]
    values = np.array(grid["values"], dtype=float).reshape(shape)
    nodes = itertools.product(*(each.items() for each in axes))
    found = [u * v * w * values[i, j, k] for (i, u), (j, v), (k, w) in nodes]
    return float(np.sum(found)) * UNIT if found else math.nan


def _weights(x: Sequence[float], t: float) -> dict[int, float]:
    """Lagrange's of the (up to) four nodes around t; none outside."""
    if len(x) == 1:
        return {0: 1.0}
    if not x[0] - 1e-12 <= t <= x[-1] + 1e-12:
        return {}
    first = min(max(int(np.searchsorted(x, t, "right")) - 2, 0), max(len(x) - 4, 0))
    near = range(first, min(first + 4, len(x)))
    weights = {i: math.prod((t - x[j]) / (x[i] - x[j]) for j in near if j != i) for i in near}
    return {i: weight for i, weight in weights.items() if weight}


def read() -> dict[str, dict]:
    """The tables as they are committed."""
    return json.loads(FILE.read_text(encoding="utf-8").removeprefix(_HEAD).rstrip(";\n"))


def computed(table: Table) -> dict:
    """The nodes of a table and its values there, the last axis the fastest."""
    nodes = itertools.product(table.sizes, table.epsilons, table.deltas)
    values = (table.value(*node) for node in nodes)
    return {
        "sizes": table.sizes,
        "epsilons": table.epsilons,
        "deltas": table.deltas,
        "near": table.near,
        "values": [None if math.isnan(value) else round(value / UNIT) for value in values],
    }


def points(name: str, core: tuple[float, float] | None = None) -> list[tuple[int, float, float]]:
    """Random sizes, epsilons and deltas within the nodes of a table, log-uniform.

    core: The largest epsilon and delta, if not those of the nodes; then from `core_size` on.
    """
    rng = np.random.default_rng(list(name.encode()))
    table = TABLES[name]
    least = max(table.core_size, table.sizes[0]) if core else table.sizes[0]
    sizes = (least, min(table.sizes[-1], LARGEST))
    epsilon, delta = core or (table.epsilons[-1], table.deltas[-1])
    ends = (sizes, (table.epsilons[0], epsilon), (table.deltas[0], delta))
    found = []
    for _ in range(TRIED):
        size, *budget = (low * (high / low) ** rng.random() if low else 0.0 for low, high in ends)
        found.append((round(size), *budget))
    return found


def stated_errors(name: str, grid: dict) -> dict[str, float]:
    """Of the interpolation at random points, relatively: over all, and over those of the core."""
    table = TABLES[name]
    tried = points(name) + (points(name, table.core) if table.core else [])
    found = {each: abs(table.value(*each) - interpolated(grid, *each)) for each in tried}
    inside = [off for each, off in found.items() if in_core(table, *each)]
    errors = {"error": found.values()} | ({"core_error": inside} if table.core else {})
    return {
        name: float(rounded_up(MARGIN * np.nanmax(list(each)), 2)) for name, each in errors.items()
    }


def in_core(table: Table, size: int, epsilon: float, delta: float) -> bool:
    """Whether a point is where a table states an error of its own."""
    core = table.core
    return bool(core and size >= table.core_size and epsilon <= core[0] and delta <= core[1])


def main(arguments: list[str] | None = None) -> None:
    """Compute tables, by default all, and write each to the script that holds them.

    It is a script because pages that are opened as files cannot fetch.
    """
    parser = Parser(
        prog="python -m site_builder.advisor_grid",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("tables", metavar="TABLE", nargs="*", help=", ".join(TABLES))
    names = parser.parse_args(arguments).tables
    if unknown := [name for name in names if name not in TABLES]:
        parser.error(f"unknown table {unknown[0]!r}; allowed are {', '.join(TABLES)}")
    for name in names or TABLES:
        start = time.process_time()
        grid = computed(TABLES[name])
        grid |= stated_errors(name, grid)
        if core := TABLES[name].core:
            grid |= {"core": core, "core_size": TABLES[name].core_size}
        grids = read() | {name: grid}
        ordered = {"unit": UNIT} | {each: grids[each] for each in TABLES if each in grids}
        text = json.dumps(ordered, separators=(",", ":"))
        FILE.write_text(f"{_HEAD}{text};\n", encoding="utf-8")
        spent = time.process_time() - start
        print(f"{name}: {len(grid['values'])} nodes, error {grid['error']:g}, {spent:.0f} s")


if __name__ == "__main__":
    main()
