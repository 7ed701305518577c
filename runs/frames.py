"""Tidy tables as data frames, and the check that one is complete.

Apart from runs/result_table.py because a cell's job has no use for pandas, which is slow to load.
"""

import math
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
    """As `read_table`, as a data frame."""
    return frame_of(read_table(*paths))


def frame_of(table: pa.Table) -> pd.DataFrame:
    """A table as a data frame; whole numbers are nullable integers."""
    whole = {pa.int64(): pd.Int64Dtype()}
    return table.to_pandas(types_mapper=whole.get, use_threads=False)


def check_table(table: pa.Table, expected: dict[tuple[str, str, str, str], int]) -> None:
    """Raise TableError unless the table is complete and consistent.

    Args:
        table: All rows of a study.
        expected: Number of grid points of every cell.

    A cell is complete when it has that many points, each with either one row that says why it
    failed or rows with status ok only. Where trials are jobs of their own, those that failed have a
    row each beside the others. Values must be finite where the status is ok.
    """
    frame = table.to_pandas(use_threads=False)
    problems = []
    duplicated = frame.duplicated(key_of(frame.columns))
    if duplicated.any():
        problems.append(f"{duplicated.sum()} duplicate rows, first {_row(frame[duplicated])}")
    unknown = set(frame["status"]) - set(STATUSES)
    if unknown:
        problems.append(f"unknown statuses {sorted(unknown)}, allowed are {STATUSES}")
    bad = frame[(frame["status"] == OK) & ~frame["value"].map(math.isfinite)]
    if len(bad):
        problems.append(f"{len(bad)} values are not finite though ok, first {_row(bad)}")
    points = frame[POINT].drop_duplicates()
    whole = frame[(frame["status"] == OK) | frame["trial"].isna()]
    mixed = whole[[*POINT, "status"]].drop_duplicates().groupby(POINT).size() > 1
    if mixed.any():
        point = "/".join(map(str, mixed.idxmax()))
        problems.append(f"{mixed.sum()} grid points have more than one status, first {point}")
    found = points.groupby(CELL).size().to_dict()
    for cell, count in expected.items():
        if found.get(cell, 0) != count:
            name = "/".join(cell)
            problems.append(f"cell {name} has {found.get(cell, 0)} of {count} grid points")
    for cell in set(found) - set(expected):
        problems.append(f"cell {'/'.join(cell)} was not asked for")
    if problems:
        raise TableError("; ".join(problems))


def _row(frame: pd.DataFrame) -> str:
    return ", ".join(f"{name}={frame.iloc[0][name]}" for name in key_of(frame.columns))
