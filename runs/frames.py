"""Tidy tables as data frames, and the check that a study is complete.

These are not in runs/result_table.py because pandas is slow to load and a cell's job does not need
it.
"""

import math
from collections import Counter
from pathlib import Path

import pandas as pd
import pyarrow as pa

from runs.result_table import (
    CELL,
    OK,
    POINT,
    STATUSES,
    TableError,
    key_of,
    read_table,
)


def read_frame(*paths: Path | str) -> pd.DataFrame:
    """Read tables as `read_table` does, and return a data frame."""
    return frame_of(read_table(*paths))


def frame_of(table: pa.Table) -> pd.DataFrame:
    """Convert a table to a data frame, in which whole numbers are nullable integers."""
    whole = {pa.int64(): pd.Int64Dtype()}
    return table.to_pandas(types_mapper=whole.get, use_threads=False)


class StudyCheck:
    """Check that the rows of a study, added one table at a time, are complete and consistent.

    A cell is complete if it has all of its points, and each point has either one row with the
    reason of its failure or only rows with status ok. Where each trial has a job of its own, a
    failed trial has one row beside those of the others. Values with status ok must be finite.

    Args:
        expected: The number of grid points of every cell.
    """

    def __init__(self, expected: dict[tuple[str, str, str, str], int]) -> None:
        self._expected = expected
        self._found: Counter[tuple[str, str, str, str]] = Counter()
        self._problems: list[str] = []

    def add(self, table: pa.Table) -> None:
        """Check a table that has all rows of some cells."""
        frame = table.to_pandas(use_threads=False)
        self._problems += _problems(frame)
        # A cell that is split over two tables is counted twice and has too many points.
        self._found.update(frame[POINT].drop_duplicates().groupby(CELL).size().to_dict())

    def end(self) -> None:
        """Raise TableError with all problems unless every expected cell is complete."""
        problems, found = list(self._problems), self._found
        for cell, count in self._expected.items():
            if found[cell] != count:
                problems.append(f"cell {'/'.join(cell)} has {found[cell]} of {count} grid points")
        others = found.keys() - self._expected.keys()
        problems += [f"cell {'/'.join(cell)} was not asked for" for cell in others]
        if problems:
            raise TableError("; ".join(problems))


def _problems(frame: pd.DataFrame) -> list[str]:
    """List the contradictions in the rows of some cells."""
    problems = []
    duplicated = frame.duplicated(key_of(frame.columns))
    if duplicated.any():
        problems.append(f"{duplicated.sum()} duplicate rows, first {_row(frame[duplicated])}")
    if unknown := set(frame["status"]) - set(STATUSES):
        problems.append(f"unknown statuses {sorted(unknown)}, allowed are {', '.join(STATUSES)}")
    bad = frame[(frame["status"] == OK) & ~frame["value"].map(math.isfinite)]
    if len(bad):
        problems.append(f"{len(bad)} values with status ok are not finite, first {_row(bad)}")
    whole = frame[(frame["status"] == OK) | frame["trial"].isna()]
    mixed = whole[[*POINT, "status"]].drop_duplicates().groupby(POINT).size() > 1
    if mixed.any():
        point = "/".join(map(str, mixed.idxmax()))
        problems.append(f"{mixed.sum()} grid points have more than one status, first {point}")
    return problems


def _row(frame: pd.DataFrame) -> str:
    return ", ".join(f"{name}={frame.iloc[0][name]}" for name in key_of(frame.columns))
