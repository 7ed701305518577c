"""Settings and grids that experiments share."""

from __future__ import annotations

from experiments.contract.settings import (
    Setting,
    list_of,
    mapping_of,
    number,
    positive,
)
from experiments.contract.study import Point

EPSILONS = {
    "epsilons": Setting("a list of numbers > 0", list_of(positive), "epsilon grid"),
    "epsilons_for": Setting(
        "a mapping from mechanisms to lists of numbers > 0",
        mapping_of(list_of(positive)),
        "grids of single mechanisms, in place of `epsilons`",
        {},
    ),
    "delta": Setting("a number in [0, 1)", number(0, 1 - 1e-16), "delta"),
}


def epsilon_grid(settings: dict, mechanism: str) -> list[float]:
    """The epsilons of one mechanism."""
    return settings["epsilons_for"].get(mechanism, settings["epsilons"])


def points_over(shapes: list[tuple[int, ...]], settings: dict, mechanism: str) -> list[Point]:
    """Every shape with every epsilon."""
    return [
        Point(shape=tuple(shape), epsilon=epsilon, delta=settings["delta"])
        for shape in shapes
        for epsilon in epsilon_grid(settings, mechanism)
    ]
