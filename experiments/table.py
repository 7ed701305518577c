"""The tidy table that every experiment writes and every figure reads."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

OK = "ok"
UNSUPPORTED = "unsupported"
ERROR = "error"
TIMEOUT = "timeout"
STATUSES = (OK, UNSUPPORTED, ERROR, TIMEOUT)
FAILURES = (ERROR, TIMEOUT)

# One row: a metric of one trial (null: an exact value or a statistic over trials) of one element
# (null: of the whole answer) at one grid point of one cell. `seed` is null where nothing is drawn.
SCHEMA = pa.schema(
    [
        ("paper", pa.string()),
        ("experiment", pa.string()),
        ("dataset", pa.string()),
        ("data_source", pa.string()),
        ("mechanism", pa.string()),
        ("footing", pa.string()),
        ("shape", pa.string()),
        ("epsilon", pa.float64()),
        ("delta", pa.float64()),
        ("trial", pa.int64()),
        ("element", pa.int64()),
        ("metric", pa.string()),
        ("value", pa.float64()),
        ("status", pa.string()),
        ("message", pa.string()),
        ("seed", pa.int64()),
    ]
)
CELL = ["experiment", "dataset", "mechanism", "footing"]
POINT = [*CELL, "shape", "epsilon", "delta"]
KEY = [*POINT, "metric", "trial", "element"]


class TableError(Exception):
    """A table of results is incomplete, has duplicates or holds values that are not finite."""


def to_table(rows: list[dict]) -> pa.Table:
    """Rows (dicts with SCHEMA's names; absent means null) as an Arrow table."""
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def write_table(table: pa.Table, path: Path) -> None:
    """Write Parquet atomically and byte-stably: no timestamps, no pandas metadata."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    pq.write_table(table.replace_schema_metadata(None), temporary, compression="zstd")
    temporary.replace(path)


def read_table(*paths: Path | str) -> pa.Table:
    """Tables from files, one after the other in the order given."""
    tables = [pq.read_table(path).cast(SCHEMA) for path in paths]
    return pa.concat_tables(tables).combine_chunks() if tables else SCHEMA.empty_table()


def read_frame(*paths: Path | str) -> pd.DataFrame:
    """As `read_table`, as a data frame; trial, element and seed are nullable integers."""
    frame = read_table(*paths).to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
    return frame


def check_table(table: pa.Table, expected: dict[tuple[str, str, str, str], int]) -> None:
    """Raise TableError unless the table is what the run promised.

    Args:
        table: All rows of an experiment.
        expected: Number of grid points of every cell.

    A cell is complete when it has that many points, each with either one row that says why it
    failed or rows with status ok only. Values must be finite where the status is ok.
    """
    frame = table.to_pandas()
    problems = []
    duplicated = frame.duplicated(KEY)
    if duplicated.any():
        problems.append(f"{duplicated.sum()} duplicate rows, first {_row(frame[duplicated])}")
    unknown = set(frame["status"]) - set(STATUSES)
    if unknown:
        problems.append(f"unknown statuses {sorted(unknown)}, allowed are {STATUSES}")
    bad = frame[(frame["status"] == OK) & ~frame["value"].map(math.isfinite)]
    if len(bad):
        problems.append(f"{len(bad)} values are not finite though ok, first {_row(bad)}")
    points = frame[POINT].drop_duplicates()
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
    return ", ".join(f"{name}={frame.iloc[0][name]}" for name in KEY)
