"""The tidy table that every experiment writes and every figure reads."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from experiments.contract.columns import Coordinate

OK = "ok"
UNSUPPORTED = "unsupported"
ERROR = "error"
TIMEOUT = "timeout"
STATUSES = (OK, UNSUPPORTED, ERROR, TIMEOUT)
FAILURES = (ERROR, TIMEOUT)

# One row: a metric of one trial (null: an exact value or a statistic over trials) at one grid point
# of one cell. Between these two parts stand the columns that the study declares.
_BEFORE = [
    ("paper", pa.string()),
    ("experiment", pa.string()),
    ("dataset", pa.string()),
    ("data_source", pa.string()),
    ("mechanism", pa.string()),
    ("calibration", pa.string()),
    ("shape", pa.string()),
    ("epsilon", pa.float64()),
    ("delta", pa.float64()),
]
_AFTER = [
    ("trial", pa.int64()),
    ("metric", pa.string()),
    ("value", pa.float64()),
    ("status", pa.string()),
    ("message", pa.string()),
    ("seed", pa.int64()),
]
BASE = [name for name, _ in (*_BEFORE, *_AFTER)]
CELL = ["experiment", "dataset", "mechanism", "calibration"]
POINT = [*CELL, "shape", "epsilon", "delta"]
_ARROW = {str: pa.string(), int: pa.int64(), float: pa.float64()}


def schema_of(coordinates: Iterable[Coordinate]) -> pa.Schema:
    """The schema of a table whose study declares these columns."""
    own = [(coordinate.name, _ARROW[coordinate.type]) for coordinate in coordinates]
    return pa.schema([*_BEFORE, *own, *_AFTER])


def key_of(columns: Iterable[str]) -> list[str]:
    """The columns that identify a row: all but those that hold its result."""
    found = ("paper", "data_source", "value", "status", "message", "seed")
    return [column for column in columns if column not in found]


def to_table(rows: list[dict], coordinates: Iterable[Coordinate] = ()) -> pa.Table:
    """Rows (dicts with the schema's names; absent means null) as an Arrow table."""
    return pa.Table.from_pylist(rows, schema=schema_of(coordinates))


def write_table(table: pa.Table, path: Path) -> None:
    """Write Parquet atomically and byte-stably: no timestamps, no pandas metadata."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    pq.write_table(table.replace_schema_metadata(None), temporary, compression="zstd")
    temporary.replace(path)


def read_table(*paths: Path | str) -> pa.Table:
    """Tables from files, one after the other in the order given.

    Columns that a study does not have are null in its rows.
    """
    if not paths:
        return schema_of(()).empty_table()
    tables = [pq.read_table(path) for path in paths]
    table = pa.concat_tables(tables, promote_options="default").combine_chunks()
    before, after = ([name for name, _ in part] for part in (_BEFORE, _AFTER))
    own = [name for name in table.column_names if name not in BASE]
    return table.select([*before, *own, *after])
