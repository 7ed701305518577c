"""The columns that a study adds to the tidy table: what it varies besides budget and trial."""

from dataclasses import dataclass

TYPES = {str: "text", int: "whole number", float: "number"}


@dataclass(frozen=True)
class Coordinate:
    """A column that says where a value was measured: a workload, an epoch, a cell of a map.

    Args:
        name: Name of the column.
        type: str, int or float.
        meaning: One line for the data dictionary, with the unit and the range.
        choice: The title of the menu in which the reader of a leaderboard chooses a value; empty
            for no menu.
        is_use: Whether the column tells uses of one mechanism apart, which a leaderboard ranks
            separately.
    """

    name: str
    type: type
    meaning: str
    choice: str = ""
    is_use: bool = False


# Coordinates that several studies share.
EPOCH = Coordinate("epoch", int, "passes over the training data so far, from 1")
ROUND = Coordinate("round", int, "rounds of federated learning so far, from 1")
# Only whole maps have these two columns, and maps are stored in a separate file.
ROW = Coordinate("row", int, "row of a map, from 0 in the south")
COLUMN = Coordinate("column", int, "column of a map, from 0 in the west")
OF_MAPS = (ROW, COLUMN)


class UndeclaredValue(ValueError):
    """A study measured a metric, or used a column, that it does not declare."""
