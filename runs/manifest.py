"""The manifest of a study's table, which has the provenance of each cell on one line.

It is committed with the table, so that a clone knows where each row comes from.
"""

import csv
import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from io import StringIO
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from runs.parts import write_at_once
from runs.provenance import Provenance
from runs.result_table import CPU_SECONDS, DamagedTable

ENDING = ".manifest.csv"
# This file marks that the tables of a study were joined from the cells in this store. It is not
# committed, because a clone has the tables but not the cells.
JOINED = ".joined"
_FIELDS = ("cell", *(field.name for field in fields(Provenance)), "rows", "seconds")


@dataclass(frozen=True)
class Entry:
    """A cell of a table.

    Args:
        provenance: The code, settings, data and machine that it was measured with.
        rows: The hash of its rows; see `rows_digest`.
        seconds: The processor time that it took; None if unknown.
    """

    provenance: Provenance
    rows: str
    seconds: float | None


def manifest_of(table: Path) -> Path:
    """Return the path of the manifest beside the table of a study."""
    return table.with_name(table.stem + ENDING)


def seconds_of(rows: pa.Table) -> float | None:
    """Return the processor time in the rows of a cell, or None if none was measured."""
    return pc.sum(rows.filter(pc.field("metric") == CPU_SECONDS)["value"]).as_py()


def rows_digest(rows: pa.Table) -> str:
    """Hash the rows of a cell without its seconds; rows of maps come last.

    Empty columns are left out, because a table of several cells has the columns of all of them.
    """
    if "row" in rows.column_names:
        on_map = pc.is_valid(rows["row"])
        rows = pa.concat_tables([rows.filter(pc.invert(on_map)), rows.filter(on_map)])
    found = hashlib.sha256()
    for name in sorted(rows.column_names):
        column = rows[name]
        if column.null_count < len(column):
            found.update(name.encode() + _as_bytes(column))
    return found.hexdigest()[:16]


def _as_bytes(column: pa.ChunkedArray) -> bytes:
    if pa.types.is_string(column.type):
        return "\0".join(pc.fill_null(column, "\1").to_pylist()).encode()
    if pa.types.is_integer(column.type):
        column = pc.fill_null(column, -1)
    return column.to_numpy().tobytes()


def write_manifest(path: Path, entries: Mapping[str, Entry]) -> None:
    """Write the entries of a study by the stems of their cells, in the order given."""
    text = StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(_FIELDS)
    for stem, entry in entries.items():
        seconds = "" if entry.seconds is None else f"{entry.seconds:.4g}"
        lines.writerow([stem, *asdict(entry.provenance).values(), entry.rows, seconds])
    write_at_once(path, text.getvalue())


def read_manifest(path: Path) -> dict[str, Entry]:
    """Read the entries of a study by the stems of their cells; a missing manifest has none.

    Raises:
        DamagedTable: The file is not a manifest.
    """
    if not path.exists():
        return {}
    try:
        first, *lines = csv.reader(StringIO(path.read_text(encoding="utf-8")))
        if tuple(first) != _FIELDS:
            raise ValueError(f"its columns are not {', '.join(_FIELDS)}")
        entries: dict[str, Entry] = {}
        for number, line in enumerate(filter(None, lines), 2):
            if len(line) != len(_FIELDS) or line[0] in entries:
                raise ValueError(f"line {number} is not a line of a manifest, or repeats a cell")
            stem, *found, rows, seconds = line
            provenance = Provenance(**dict(zip(_FIELDS[1:-2], found, strict=True)))
            entries[stem] = Entry(provenance, rows, float(seconds) if seconds else None)
        return entries
    except (ValueError, csv.Error) as error:
        raise DamagedTable(path, str(error)) from None


def origins_in(path: Path) -> list[str]:
    """Say which commits measured the cells of a manifest; the most frequent comes first.

    Raises:
        DamagedTable: The file is not a manifest.
    """
    found = [entry.provenance for entry in read_manifest(path).values()]
    counted = Counter((each.commit, each.adopted, each.machine) for each in found)
    return [
        f"{count} cell{'s' * (count > 1)} by commit {commit[:12] or 'unknown'} on a {machine}"
        + (f", adopted by {adopted[:12]}" if adopted else "")
        for (commit, adopted, machine), count in counted.most_common()
    ]
