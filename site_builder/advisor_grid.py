"""The numbers between which the advisor's page interpolates, at sensitivity 1.

`python -m site_builder.advisor_grid` computes them again, in about an hour, and writes
assets/advisor-grid.js. Every table holds the logarithm of a ratio to a closed form that the page
computes too, so that little is left to interpolate. It states the largest error of the
interpolation that was found at random budgets and sizes.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mechanisms import Budget, Query, Unsupported, get_mechanism
from mechanisms.limit.limit import limit
from mechanisms.privacy.gaussian_profile import GaussianProfile

FILE = Path(__file__).parent / "assets" / "advisor-grid.js"
_HEAD = "const ADVISOR_GRID = "
SIZES = (1, 2, 3, 4, 8, 20, 80, 500, 10_000, 1_000_000)
EPSILONS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8)
DELTAS = (1e-12, 1e-9, 1e-6, 1e-4, 1e-2)
# For more elements staircase noise has the error of l2, Laplace or K-norm noise.
STEPPED = SIZES[:7]
# The search for a limit takes ten seconds; beyond these sizes it hardly changes.
LIMIT_SIZES, LIMIT_DELTAS = (2, 4, 12, 50, 250, 2000), (1e-12, 1e-7, 1e-2)
LIMIT_EPSILONS = EPSILONS[::2]
# Logarithms are stored as whole numbers of this.
UNIT = 1e-6
# Random points at which the interpolation is compared, and how far a stated error is above them.
TRIED, MARGIN = 60, 1.5


@dataclass(frozen=True)
class Table:
    """What is interpolated.

    Args:
        value: Of (M, epsilon, delta); the logarithm that is stored, None where there is none.
        axes: Nodes of M, epsilon and delta.
    """

    value: Callable[[int, float, float], float | None]
    sizes: Sequence[int] = SIZES
    epsilons: Sequence[float] = EPSILONS
    deltas: Sequence[float] = DELTAS


def sigma(epsilon: float, delta: float) -> float:
    """Of the Gaussian mechanism at l2 sensitivity 1."""
    return GaussianProfile(mu=1.0).scale_factor(epsilon, delta)


def _closed(norm: str, size: int, epsilon: float, delta: float) -> float:
    """The error of a closed form that is near: Gaussian, Laplace or K-norm noise."""
    if norm == "l1":
        return math.sqrt(2) / (epsilon - 2 * math.log1p(-delta))
    if norm == "linf":
        return math.sqrt((size + 1) * (size + 2) / 3) / epsilon
    return sigma(epsilon, delta) if delta else math.sqrt(size + 1) / epsilon


def _calibrated(key: str, norm: str, size: int, epsilon: float, delta: float, calibration: str):
    norms = ("l1", "l2", "linf") if size == 1 else (norm,)
    query = Query(shape=(size,), **{f"{each}_sensitivity": 1.0 for each in norms})
    budget = Budget(epsilon=epsilon, delta=delta)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return get_mechanism(key).calibrate(query, budget, calibration)
        except Unsupported:
            return None


def _error(key: str, norm: str = "l2", calibration: str = "exact"):
    """log of the root mean square error of an element over the closed form."""

    def value(size: int, epsilon: float, delta: float) -> float | None:
        mechanism = _calibrated(key, norm, size, epsilon, delta, calibration)
        if mechanism is None:
            return None
        rmse = math.sqrt(mechanism.expected_loss() / size)
        return math.log(rmse / _closed(norm, size, epsilon, delta))

    return value


def _true_delta(key: str):
    """log(d / (1 - d)) of the published noise's true delta at the claimed epsilon."""

    def value(size: int, epsilon: float, delta: float) -> float | None:
        mechanism = _calibrated(key, "l2", size, epsilon, delta, "published")
        if mechanism is None:
            return None
        true = float(mechanism.profile().delta(epsilon).value)
        return math.log(true) - math.log1p(-true)

    return value


def _true_epsilon(key: str):
    """log of the published noise's true epsilon at the claimed delta."""

    def value(size: int, epsilon: float, delta: float) -> float | None:
        mechanism = _calibrated(key, "l2", size, epsilon, delta, "published")
        return mechanism and math.log(float(mechanism.profile().epsilon(delta).value))

    return value


def _limit(size: int, epsilon: float, delta: float) -> float:
    """log of the limit for the l2 ball, over the Gaussian error."""
    query = Query(shape=(size,), l2_sensitivity=1.0)
    least = limit(query, Budget(epsilon=epsilon, delta=delta)).rmse
    return math.log(least / sigma(epsilon, delta))


_LARGER = {"sizes": SIZES[1:]}
_OF_LIMIT = {"epsilons": LIMIT_EPSILONS, "deltas": LIMIT_DELTAS}
TABLES = {
    "l2": Table(_error("l2"), **_LARGER),
    "spherical-gamma": Table(_error("spherical-gamma"), **_LARGER),
    "staircase-l2": Table(_error("staircase"), STEPPED[1:]),
    "staircase-l1": Table(_error("staircase", "l1"), STEPPED),
    "staircase-linf": Table(_error("staircase", "linf"), STEPPED[1:]),
    "staircase-l2-pure": Table(_error("staircase"), STEPPED[1:], deltas=(0.0,)),
    "staircase-l1-pure": Table(_error("staircase", "l1"), STEPPED, deltas=(0.0,)),
    "staircase-linf-pure": Table(_error("staircase", "linf"), STEPPED[1:], deltas=(0.0,)),
    "r1smg": Table(_error("r1smg"), SIZES[2:]),
    "product-noise": Table(_error("product-noise"), SIZES[3:]),
    "r1smg-published": Table(_error("r1smg", "l2", "published"), SIZES[2:]),
    "product-noise-published": Table(_error("product-noise", "l2", "published"), SIZES[3:]),
    "r1smg-delta": Table(_true_delta("r1smg"), SIZES[2:]),
    "product-noise-delta": Table(_true_delta("product-noise"), SIZES[3:]),
    "r1smg-epsilon": Table(_true_epsilon("r1smg"), SIZES[2:]),
    "product-noise-epsilon": Table(_true_epsilon("product-noise"), SIZES[3:]),
    "moments-accountant": Table(_error("moments-accountant", "l2", "published"), (2,)),
    "limit-of-one": Table(_limit, (1,), **_OF_LIMIT),
    "limit": Table(_limit, LIMIT_SIZES, **_OF_LIMIT),
}


def interpolated(grid: dict, size: int, epsilon: float, delta: float) -> float | None:
    """As the page does: by cubics through the four nodes around, on all axes; None outside."""
    at = zip(("sizes", "epsilons", "deltas"), (size, epsilon, delta), strict=True)
    weights = [_weights(grid[name], value) for name, value in at]
    if any(each is None for each in weights):
        return None
    values = np.array(grid["values"], dtype=float).reshape([len(each) for each in weights])
    used = np.ix_(*(np.flatnonzero(each) for each in weights))
    product = math.prod(np.ix_(*(each[each != 0] for each in weights)))
    found = float((values[used] * product).sum())
    return None if math.isnan(found) else found * UNIT


def _weights(nodes: Sequence[float], value: float) -> np.ndarray | None:
    """Lagrange's, in the logarithm, of the (up to) four nodes around a value."""
    weights = np.zeros(len(nodes))
    if len(nodes) == 1:
        return np.ones(1)
    if not nodes[0] <= value <= nodes[-1]:
        return None
    x, t = np.log(nodes), math.log(value)
    first = min(max(int(np.searchsorted(nodes, value, "right")) - 2, 0), max(len(nodes) - 4, 0))
    near = range(first, min(first + 4, len(nodes)))
    for i in near:
        weights[i] = math.prod((t - x[j]) / (x[i] - x[j]) for j in near if j != i)
    return weights


def read() -> dict[str, dict]:
    """The tables as they are committed."""
    return json.loads(FILE.read_text(encoding="utf-8").removeprefix(_HEAD).rstrip(";\n"))


def computed(table: Table) -> dict:
    """A table with its values, and the largest error at random points."""
    stored = [
        [
            None if value is None else round(value / UNIT)
            for epsilon in table.epsilons
            for delta in table.deltas
            for value in [table.value(size, epsilon, delta)]
        ]
        for size in table.sizes
    ]
    grid = {
        "sizes": list(table.sizes),
        "epsilons": list(table.epsilons),
        "deltas": list(table.deltas),
        "values": sum(stored, []),
    }
    return grid


def random_point(table: Table, rng: np.random.Generator) -> tuple[int, float, float]:
    """A size, epsilon and delta within the nodes, log-uniform."""
    size, epsilon, delta = (
        math.exp(rng.uniform(math.log(nodes[0]), math.log(nodes[-1]))) if nodes[0] else 0.0
        for nodes in (table.sizes, table.epsilons, table.deltas)
    )
    return round(size), epsilon, delta
