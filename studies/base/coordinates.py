"""The columns a study adds to the tidy table: what it varies beside the budget and the trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

TYPES = {str: "text", int: "whole number", float: "number"}


@dataclass(frozen=True)
class Coordinate:
    """A column that says where a value was measured: a workload, an epoch, a cell of a map.

    Args:
        name: Name of the column.
        type: str, int or float.
        meaning: One line for the data dictionary, with the unit and the range.
    """

    name: str
    type: type
    meaning: str


# Coordinates that several studies share.
EPOCH = Coordinate("epoch", int, "passes over the training data so far, from 1")
ROUND = Coordinate("round", int, "rounds of federated learning so far, from 1")
# Only whole maps have these two, and maps go into a file of their own.
ROW = Coordinate("row", int, "row of a map, from 0 in the south")
COLUMN = Coordinate("column", int, "column of a map, from 0 in the west")
OF_MAPS = (ROW, COLUMN)


class UndeclaredValue(ValueError):
    """A study measured a metric, or used a column, that it does not declare."""


def check_declared(
    metric: str,
    at: Mapping[str, object],
    metrics: Mapping[str, str],
    coordinates: tuple[Coordinate, ...],
) -> None:
    """Raise UndeclaredValue unless a study declares `metric` and every coordinate in `at`.

    Types are checked too: a number may be a whole number, and nothing else is converted.
    """
    if metric not in metrics:
        raise UndeclaredValue(f"the metric {metric!r} is not declared; METRICS has {list(metrics)}")
    known = {coordinate.name: coordinate.type for coordinate in coordinates}
    for name, value in at.items():
        if name not in known:
            raise UndeclaredValue(
                f"{metric} uses the column {name!r}, which COORDINATES does not declare; it has "
                f"{list(known)}"
            )
        allowed = (int, float) if known[name] is float else known[name]
        if not isinstance(value, allowed) or isinstance(value, bool):
            raise UndeclaredValue(
                f"{metric} has {name} = {value!r}; the column holds a {TYPES[known[name]]}"
            )
