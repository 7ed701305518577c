"""The manifest of a study's table: a line for each of its cells, with what it was measured with.

It is committed with the table, so that a clone knows which cell each row comes from.
"""

import csv
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
_FIELDS = ("cell", *(field.name for field in fields(Provenance)), "seconds")


@dataclass(frozen=True)
class Entry:
    """A cell of a table.

    Args:
        provenance: What it was measured with.
        seconds: Processor time that it took.
    """

    provenance: Provenance
    seconds: float


def manifest_of(table: Path) -> Path:
    """The manifest beside the table of a study."""
    return table.with_name(table.stem + ENDING)


def seconds_of(rows: pa.Table) -> float:
    """The processor time in the rows of a cell, 0 where none was measured."""
    return pc.sum(rows.filter(pc.field("metric") == CPU_SECONDS)["value"]).as_py() or 0.0


def write_manifest(path: Path, entries: Mapping[str, Entry]) -> None:
    """Write the entries of a study by the stems of their cells, in the order given."""
    text = StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(_FIELDS)
    for stem, entry in entries.items():
        lines.writerow([stem, *asdict(entry.provenance).values(), f"{entry.seconds:.4g}"])
    write_at_once(path, text.getvalue())


def read_manifest(path: Path) -> dict[str, Entry]:
    """The entries of a study by the stems of their cells; none where there is no manifest.

    Raises:
        DamagedTable: It is no manifest.
    """
    if not path.exists():
        return {}
    try:
        lines = list(csv.reader(StringIO(path.read_text(encoding="utf-8"))))
        if tuple(lines[0]) != _FIELDS:
            raise ValueError(f"its columns are not {', '.join(_FIELDS)}")
        return {
            stem: Entry(Provenance(**dict(zip(_FIELDS[1:-1], found, strict=True))), float(seconds))
            for stem, *found, seconds in lines[1:]
        }
    except (ValueError, TypeError, IndexError, csv.Error) as error:
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
