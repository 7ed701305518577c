"""The tidy table that every experiment writes and every figure reads."""

from __future__ import annotations

from pathlib import Path

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
        ("calibration", pa.string()),
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
CELL = ["experiment", "dataset", "mechanism", "calibration"]
POINT = [*CELL, "shape", "epsilon", "delta"]
KEY = [*POINT, "metric", "trial", "element"]


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
