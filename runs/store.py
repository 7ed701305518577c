"""The store of a run: one file for each cell, and for each batch a stamp that names its cells.

A cell's file carries its provenance, and is current while code, settings and data are those of
today. Nothing else decides what is measured again: a batch whose stamp is gone measures the cells
that are not current.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from runs.cell_spec import CellSpec
from runs.parts import write_at_once
from runs.provenance import Provenance
from runs.result_table import (
    DamagedTable,
    TableError,
    concatenated,
    note_in,
    read_file,
    to_table,
    write_table,
)
from studies.base.coordinates import TYPES, Coordinate

# Seconds and memory, which no two runs share, are marked in the store and apart in the tables.
TIMING = "timing"


def cell_file(run: Path, stem: str) -> Path:
    """The file of a cell."""
    return run / "cells" / f"{stem}.parquet"


def stamp_file(run: Path, stem: str) -> Path:
    """The stamp of a batch."""
    return run / "batches" / f"{stem}.json"


def provenance_in(path: Path) -> Provenance | None:
    """What the cell in a file was measured with; None where the file is missing or damaged."""
    note = note_in(path)
    return note and Provenance.from_json(note)


def is_current(cell: CellSpec, run: Path) -> bool:
    """Whether a cell has results of the code, the settings and the data that it has now."""
    found = provenance_in(cell_file(run, cell.stem))
    return found is not None and not found.differs(cell)


def write_cell(cell: CellSpec, rows: list[dict], run: Path, provenance: Provenance) -> None:
    """Write all rows of a cell; each says in `timing` what it is."""
    marks = pa.array([row[TIMING] for row in rows], pa.bool_())
    table = to_table(rows, columns_of(cell)).append_column(TIMING, marks)
    write_table(table, cell_file(run, cell.stem), provenance.to_json())


def columns_of(cell: CellSpec) -> list[Coordinate]:
    """The columns that the study of a cell declares."""
    types = {name: kind for kind, name in TYPES.items()}
    return [Coordinate(name, types[kind], "") for name, kind in cell.columns.items()]


def read_cell(path: Path | str) -> tuple[pa.Table, pa.Table]:
    """The reproducible rows in the file of a cell, and its seconds and memory."""
    return apart(concatenated([read_file(path)]))


def write_stamp(path: Path, cells: Iterable[CellSpec]) -> None:
    """Say that a batch is done: write its cells with their digests."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_at_once(path, json.dumps({cell.stem: cell.digest for cell in cells}, indent=1))


def read_stamp(path: Path) -> dict[str, str]:
    """The digests of the cells of a batch, by stem, in the order of the config.

    Raises:
        DamagedTable: It cannot be read.
    """
    try:
        return dict(json.loads(path.read_text()))
    except (ValueError, TypeError) as error:
        raise DamagedTable(path, str(error).splitlines()[0]) from None


def scan(stamps: Iterable[Path], run: Path) -> Iterator[tuple[str, Provenance, pa.Table]]:
    """The stem, the provenance and the rows of every cell of some batches, in order.

    The rows are marked in `timing`. The stamp of a batch is removed where a cell is not as the
    batch left it, so that the next run brings that cell up to date.

    Raises:
        DamagedTable: A file was cut short, or changed or renamed.
        TableError: A cell is missing, or was measured again with other code or settings.
    """
    for stamp in stamps:
        for stem, digest in read_stamp(stamp).items():
            path = cell_file(run, stem)
            try:
                table = read_file(path)
                found = provenance_in(path)
                if found is None or found.digest != digest:
                    raise TableError(f"{path} was measured with other code or settings: run again")
            except FileNotFoundError:
                stamp.unlink()
                raise TableError(f"{path} is missing: run again") from None
            except TableError:
                stamp.unlink()
                raise
            yield stem, found, table


def apart(table: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Rows that are no timing, and those that are, without the mark."""
    marks = table[TIMING]
    table = table.drop_columns([TIMING])
    return table.filter(pc.invert(marks)), table.filter(marks)
