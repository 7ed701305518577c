"""The manifest of a study's table: a line for each of its cells, with what it was measured with.

It is committed with the table, so that a clone knows which cell each row comes from.
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
# The mark that the tables of a study are those of its cells here. It is not committed: a clone has
# the tables and not the cells.
JOINED = ".joined"
_FIELDS = ("cell", *(field.name for field in fields(Provenance)), "rows", "seconds")


@dataclass(frozen=True)
class Entry:
    """A cell of a table.

    Args:
        provenance: What it was measured with.
        rows: The hash of its rows; see `rows_digest`.
        seconds: Processor time that it took; None where that is not known.
    """

    provenance: Provenance
    rows: str
    seconds: float | None


def manifest_of(table: Path) -> Path:
    """The manifest beside the table of a study."""
    return table.with_name(table.stem + ENDING)


def seconds_of(rows: pa.Table) -> float | None:
    """The processor time in the rows of a cell, None where none was measured."""
    return pc.sum(rows.filter(pc.field("metric") == CPU_SECONDS)["value"]).as_py()


def rows_digest(rows: pa.Table) -> str:
    """A hash of the rows of a cell without its seconds, maps apart from the others.

    Columns without a value are left out: a table of several cells has those of all of them.
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
    """The entries of a study by the stems of their cells; none where there is no manifest.

    Raises:
        DamagedTable: It is no manifest.
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
                raise ValueError(
                    f"line {number} is no line of a manifest, or a second one of a cell"
                )
            stem, *found, rows, seconds = line
            provenance = Provenance(**dict(zip(_FIELDS[1:-2], found, strict=True)))
            entries[stem] = Entry(provenance, rows, float(seconds) if seconds else None)
        return entries
    except (ValueError, csv.Error) as error:
        raise DamagedTable(path, str(error)) from None


def origins_in(path: Path) -> list[str]:
    """By which commits the cells of a manifest were measured, in words, most cells first.

    Raises:
        DamagedTable: It is no manifest.
    """
    found = [entry.provenance for entry in read_manifest(path).values()]
    counted = Counter((each.commit, each.adopted, each.machine) for each in found)
    return [
        f"{count} cell{'s' * (count > 1)} by commit {commit[:12] or 'unknown'} on a {machine}"
        + (f", adopted by {adopted[:12]}" if adopted else "")
        for (commit, adopted, machine), count in counted.most_common()
    ]
