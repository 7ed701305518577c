"""The store of a run: one file for each cell, and for each batch a stamp that names its cells.

A cell's file carries its provenance. The cell is current as long as its code, settings and data
are unchanged; a run measures exactly the cells that are not current.
"""

import json
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from runs.cell_spec import CellSpec
from runs.cells import Cell
from runs.parts import write_at_once
from runs.provenance import Provenance
from runs.result_table import (
    CELL,
    DamagedTable,
    TableError,
    concatenate,
    note_in,
    read_file,
    to_table,
    write_table,
)
from studies.base.coordinates import TYPES, Coordinate

# This column marks rows of seconds and memory, which differ from run to run.
TIMING = "timing"


def cell_file(run: Path, stem: str) -> Path:
    """Return the file of a cell."""
    return run / "cells" / f"{stem}.parquet"


def stamp_file(run: Path, stem: str) -> Path:
    """Return the stamp of a batch."""
    return run / "batches" / f"{stem}.json"


def provenance_in(path: Path) -> Provenance | None:
    """Return the provenance of the cell in a file; None if the file is missing or damaged."""
    note = note_in(path)
    return note and Provenance.from_json(note)


def is_current(cell: CellSpec, run: Path) -> bool:
    """Return whether a cell has results from its present code, settings and data."""
    found = provenance_in(cell_file(run, cell.stem))
    return found is not None and not found.differs(cell)


def write_cell(cell: CellSpec, rows: list[dict], run: Path, provenance: Provenance) -> None:
    """Write all rows of a cell; `timing` of each row marks seconds and memory."""
    marks = pa.array([row[TIMING] for row in rows], pa.bool_())
    table = to_table(rows, columns_of(cell)).append_column(TIMING, marks)
    write_table(table, cell_file(run, cell.stem), provenance.to_json())


def columns_of(cell: CellSpec) -> list[Coordinate]:
    """Return the columns that the study of a cell declares."""
    types = {name: kind for kind, name in TYPES.items()}
    return [Coordinate(name, types[kind], "") for name, kind in cell.columns.items()]


def read_cell(path: Path | str) -> tuple[pa.Table, pa.Table]:
    """Read the file of a cell: its reproducible rows, then its seconds and memory."""
    return split_timings(concatenate([read_file(path)]))


def write_stamp(path: Path, cells: Iterable[CellSpec]) -> None:
    """Mark a batch as done by writing its cells with their digests."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_at_once(path, json.dumps({cell.stem: cell.digest for cell in cells}, indent=1))


def read_stamp(path: Path) -> dict[str, str]:
    """Read the digests of the cells of a batch, by stem, in the order of the config.

    Raises:
        DamagedTable: The stamp cannot be parsed.
        FileNotFoundError: There is no such stamp.
    """
    try:
        return dict(json.loads(path.read_text()))
    except (ValueError, TypeError) as error:
        raise DamagedTable(path, str(error).splitlines()[0]) from None


def scan(stamps: Iterable[Path], run: Path) -> Iterator[tuple[str, Provenance, pa.Table]]:
    """Yield the stem, the provenance and the rows of every cell of some batches, in order.

    The rows have the column `timing`. If a cell is not as its batch left it, the stamp of the batch
    is removed, so that the next run brings the cell up to date.

    Raises:
        DamagedTable: A file was truncated, changed or renamed.
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


def split_timings(table: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Split a table into its reproducible rows and its timings, without the column `timing`."""
    marks = table[TIMING]
    table = table.drop_columns([TIMING])
    return table.filter(pc.invert(marks)), table.filter(marks)


def rows_in_table(
    cell: Cell | CellSpec, rows: pa.Table, epsilons: Collection[float] | None = None
) -> pa.Table:
    """Return the rows of a cell in a table of its study, at some epsilons; None means all."""
    mask = pc.scalar(True)
    for name in CELL:
        mask = mask & (pc.field(name) == getattr(cell, name))
    if cell.trial is not None:
        # As in runs/parts.py, rows that belong to no trial come from the cell of trial 0.
        mask = mask & (pc.coalesce(pc.field("trial"), pc.scalar(0)) == cell.trial)
    if epsilons is not None:
        mask = mask & pc.field("epsilon").isin(pa.array(epsilons, pa.float64()))
    return rows.filter(mask)
