"""The tidy table that every study writes and every figure reads."""

import contextlib
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from studies.base.coordinates import Coordinate

OK = "ok"
UNSUPPORTED = "unsupported"
ERROR = "error"
TIMEOUT = "timeout"
INCONSISTENT = "inconsistent"
STATUSES = (OK, UNSUPPORTED, ERROR, TIMEOUT, INCONSISTENT)
FAILURES = (ERROR, TIMEOUT, INCONSISTENT)

# A row is one metric of one trial at one grid point of one cell; its trial is null for an exact
# value or a statistic over trials. The columns of a study stand between BEFORE and AFTER.
BEFORE = (
    Coordinate("paper", str, "key of the paper whose study it is; suite for the suite's own"),
    Coordinate("study", str, "the study: a file of studies/"),
    Coordinate("dataset", str, "the data set, or the family of queries of a study without data"),
    Coordinate("data_source", str, "official, bundled (with scikit-learn), simulated or none"),
    Coordinate("mechanism", str, "key of the mechanism, or name of a variant of the config"),
    Coordinate(
        "calibration",
        str,
        "published (as the source states the noise) or exact (the noise rescaled until its true "
        "delta at epsilon is the budget's)",
    ),
    Coordinate("shape", str, "shape of the query, such as 89x89"),
    Coordinate("epsilon", float, "claimed epsilon, > 0; a control ignores it"),
    Coordinate("delta", float, "claimed delta, in [0, 1); a control ignores it"),
)
AFTER = (
    Coordinate(
        "trial",
        int,
        "number of the trial, from 0; null for an exact value or a statistic over trials",
    ),
    Coordinate("metric", str, "what was measured; empty where status is not ok"),
    Coordinate("value", float, "the number, finite where status is ok and null elsewhere"),
    Coordinate(
        "status",
        str,
        "ok, unsupported (the mechanism does not support this query or budget), error (it raised "
        "an exception, its process died or it exceeded the memory limit), timeout (it took longer "
        "than the run allows) or inconsistent (its releases contradict the moments or the privacy "
        "that it states)",
    ),
    Coordinate(
        "message", str, "why there is no value, or the warnings of the mechanism where there is one"
    ),
    Coordinate("seed", int, "seed of the random draws behind the value; null where there are none"),
)
# The runner adds these metrics to the timings of every study.
PEAK_MEMORY = "peak_memory_bytes"
CPU_SECONDS = "cpu_seconds"
METRICS_OF_EVERY_STUDY = {
    CPU_SECONDS: "processor time of the grid point, with the processes it started, s",
    PEAK_MEMORY: "largest resident memory of the cell's process so far, bytes",
}
BASE = [column.name for column in (*BEFORE, *AFTER)]
CELL = ["study", "dataset", "mechanism", "calibration"]
POINT = [*CELL, "shape", "epsilon", "delta"]
_NOTE, _SCHEMA, _FILE = b"note", b"schema", b"file"
_ARROW = {str: pa.string(), int: pa.int64(), float: pa.float64()}
# The number of rows that are written, and read, at once. Changing the first number changes the
# bytes of tables that have more rows than that.
_ROW_GROUP, _READ_AT_ONCE = 1 << 19, 1 << 16


def schema_of(coordinates: Iterable[Coordinate]) -> pa.Schema:
    """Return the schema of a table whose study declares these columns."""
    columns = (*BEFORE, *coordinates, *AFTER)
    return pa.schema([(column.name, _ARROW[column.type]) for column in columns])


def key_of(columns: Iterable[str]) -> list[str]:
    """Return the columns that identify a row; the others are its result or follow from these."""
    found = ("paper", "data_source", "value", "status", "message", "seed")
    return [column for column in columns if column not in found]


def to_table(rows: list[dict], coordinates: Iterable[Coordinate] = ()) -> pa.Table:
    """Convert rows (dicts with the schema's names; absent means null) to an Arrow table."""
    return pa.Table.from_pylist(rows, schema=schema_of(coordinates))


class TableError(Exception):
    """A table of results is damaged or incomplete, or has invalid rows."""


class DamagedTable(TableError):
    """A file of results cannot be read, because it was truncated or changed after it was written.

    Args:
        path: The file.
        reason: The damage, as a clause.
        advice: The remedy, as a clause.
    """

    def __init__(
        self, path: Path | str, reason: str, advice: str = "restore it, or remove it and run again"
    ) -> None:
        self.path, self.fault = Path(path), f"{path} is damaged: {reason}"
        super().__init__(f"{self.fault}; {advice}")


def write_table(table: pa.Table, path: Path, note: str | None = None) -> None:
    """Write Parquet atomically and byte for byte reproducibly (no timestamps or pandas metadata).

    Pages and the schema carry checksums, and the table carries the name of its file. `note` holds
    the provenance of the table; see `note_in`. If writing fails, the file at `path` is unchanged.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    plain = table.replace_schema_metadata(None).combine_chunks()
    metadata = {_SCHEMA: _hash(plain.schema), _FILE: path.name}
    if note is not None:
        metadata[_NOTE] = note
    try:
        pq.write_table(
            plain.replace_schema_metadata(metadata),
            temporary,
            compression="zstd",
            write_page_checksum=True,
            row_group_size=_ROW_GROUP,
        )
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    temporary.replace(path)


def note_in(path: Path) -> str | None:
    """Return the note of a table; None if it has none, or is missing, renamed or damaged.

    It verifies the schema and the file's name, not the pages.

    Raises:
        OSError: The file cannot be read, for example for lack of rights; the message names it.
        MemoryError: The machine lacks memory.
    """
    try:
        schema = pq.read_schema(path)
        intact = _schema_holds(schema) and _name_in(schema, path) == path.name
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        # Arrow reports damage as an OSError too, but without a number. A file that cannot be read
        # is not damaged, and measuring its cell again would overwrite it.
        if isinstance(error, FileNotFoundError) or getattr(error, "errno", None) is None:
            return None
        raise
    note = (schema.metadata or {}).get(_NOTE, b"")
    return note.decode(errors="replace") or None if intact else None


def _hash(schema: pa.Schema) -> str:
    """Hash the names and types of the columns."""
    columns = [f"{field.name}: {field.type}" for field in schema]
    return hashlib.sha256("\n".join(columns).encode()).hexdigest()


def _schema_holds(schema: pa.Schema) -> bool:
    """Return whether the columns are those that were written; tables of older runs always pass."""
    return (schema.metadata or {}).get(_SCHEMA, _hash(schema).encode()) == _hash(schema).encode()


def _name_in(schema: pa.Schema, path: Path | str) -> str:
    """Return the file name that a table was written under; older tables do not state one."""
    return (schema.metadata or {}).get(_FILE, Path(path).name.encode()).decode(errors="replace")


def read_file(path: Path | str, columns: list[str] | None = None) -> pa.Table:
    """Read one table, and verify its checksums and the name of its file.

    Args:
        path: The file.
        columns: The columns to read; None reads all.

    Raises:
        DamagedTable: The file was truncated, changed or renamed, or lacks one of the columns.
        OSError: The file cannot be read; FileNotFoundError: there is none.
    """
    with _opened(path, columns) as file:
        return file.read(columns=columns, use_threads=False).replace_schema_metadata(None)


def read_batches(path: Path | str) -> Iterator[pa.Table]:
    """Yield the rows of a table in parts; it raises the errors of `read_file`."""
    with _opened(path) as file:
        for batch in file.iter_batches(_READ_AT_ONCE, use_threads=False):
            yield pa.Table.from_batches([batch]).replace_schema_metadata(None)


def schema_in(path: Path | str) -> pa.Schema:
    """Return the schema of a table; it raises the errors of `read_file`."""
    with _opened(path) as file:
        return file.schema_arrow.remove_metadata()


@contextlib.contextmanager
def _opened(path: Path | str, columns: list[str] | None = None) -> Iterator[pq.ParquetFile]:
    # Read the bytes before Arrow parses them: Arrow reports a wrong checksum as an OSError too, but
    # a file that cannot be read is not damaged.
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        error.filename = str(path)
        raise
    try:
        # Use one thread, because Arrow's threads may abort a process that exits as they do.
        file = pq.ParquetFile(pa.py_buffer(content), page_checksum_verification=True)
        # The footer, which holds the schema, has no checksum of its own.
        if not _schema_holds(file.schema_arrow):
            raise DamagedTable(path, "its columns are not those that were written")
        if (name := _name_in(file.schema_arrow, path)) != Path(path).name:
            raise DamagedTable(path, f"it was written as {name}")
        if missing := [name for name in columns or BASE if name not in file.schema_arrow.names]:
            raise DamagedTable(path, f"it has no column {', '.join(missing)}")
        yield file
    except MemoryError:
        # Arrow's MemoryError is an ArrowException too.
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise DamagedTable(path, str(error).splitlines()[0]) from None


def read_table(*paths: Path | str) -> pa.Table:
    """Read files and concatenate their tables in the order given; see `concatenate`.

    It raises the errors of `read_file`.
    """
    return concatenate([read_file(path) for path in paths])


def concatenate(tables: list[pa.Table]) -> pa.Table:
    """Concatenate tables; a column that a table lacks is null in its rows."""
    if not tables:
        return schema_of(()).empty_table()
    table = pa.concat_tables(tables, promote_options="default").combine_chunks()
    before, after = ([column.name for column in part] for part in (BEFORE, AFTER))
    own = [name for name in table.column_names if name not in BASE]
    return table.select([*before, *own, *after])
