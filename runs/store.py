"""The store of a run: one file for each cell, with its rows and their provenance.

A cell is current as long as its code, settings and data are unchanged. A run measures exactly the
cells that are not current.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from runs.cell_spec import CellSpec
from runs.provenance import Provenance
from runs.result_table import CELL, TableError, note_in, read_file, to_table, write_table
from studies.base.coordinates import TYPES, Coordinate

# The boolean column that is true in rows of seconds and memory, which differ from run to run.
TIMING = "timing"


def cell_file(run: Path, stem: str) -> Path:
    """Return the path of the file of a cell."""
    return run / "cells" / f"{stem}.parquet"


def provenance_in(path: Path) -> Provenance | None:
    """Return the provenance in the file of a cell; None if it cannot be read. See `note_in`."""
    note = note_in(path)
    return note and Provenance.from_json(note)


def is_current(cell: CellSpec, run: Path) -> bool:
    """Return whether the stored results of a cell come from its code, settings and data."""
    found = provenance_in(cell_file(run, cell.stem))
    return found is not None and not found.differs(cell)


def cells_to_run(cells: Iterable[CellSpec], run: Path) -> list[CellSpec]:
    """Return the cells without a current result in the folder of a run."""
    return [cell for cell in cells if not is_current(cell, run)]


def write_cell(cell: CellSpec, rows: list[dict], run: Path, provenance: Provenance) -> None:
    """Write the file of a cell; every row says under `timing` whether it is seconds or memory."""
    marks = pa.array([row[TIMING] for row in rows], pa.bool_())
    table = to_table(rows, columns_of(cell)).append_column(TIMING, marks)
    write_table(table, cell_file(run, cell.stem), provenance.to_json())


def columns_of(cell: CellSpec) -> list[Coordinate]:
    """Return the columns that the study of a cell declares."""
    types = {words: python_type for python_type, words in TYPES.items()}
    return [Coordinate(name, types[words], "") for name, words in cell.columns.items()]


def read_cell(path: Path | str) -> tuple[pa.Table, pa.Table]:
    """Read the file of a cell, and return its reproducible rows and its timings."""
    return split_timings(read_file(path))


def scan(cells: Iterable[CellSpec], run: Path) -> Iterator[tuple[CellSpec, Provenance, pa.Table]]:
    """Yield every cell with its provenance and its rows, which have the column `timing`.

    Raises:
        DamagedTable: A file was truncated, changed or renamed.
        TableError: A cell is missing, or was measured with other code, settings or data.
    """
    for cell in cells:
        path = cell_file(run, cell.stem)
        try:
            table = read_file(path)
        except FileNotFoundError:
            raise TableError(f"{path} is missing: start the run again") from None
        found = provenance_in(path)
        if found is None or found.differs(cell):
            raise TableError(
                f"{path} was measured with other code, settings or data: start the run again"
            )
        yield cell, found, table


def split_timings(table: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Split a table into its reproducible rows and its timings, without the column `timing`."""
    marks = table[TIMING]
    table = table.drop_columns([TIMING])
    return table.filter(pc.invert(marks)), table.filter(marks)


def epsilon_of(cell: CellSpec) -> float | None:
    """Return the epsilon of a cell if the config splits epsilons (its stem says so), else None."""
    first = cell.points[0].epsilon
    return first if cell.stem.endswith(f"--epsilon-{first!r}") else None


def rows_in_table(cell: CellSpec, rows: pa.Table) -> pa.Table:
    """Return the rows of a cell in a table of its study, at all epsilons unless they are split."""
    mask = pc.scalar(True)
    for name in CELL:
        mask = mask & (pc.field(name) == getattr(cell, name))
    if (epsilon := epsilon_of(cell)) is not None:
        mask = mask & (pc.field("epsilon") == epsilon)
    if cell.trial is not None:
        # As in runs/parts.py, rows that belong to no trial come from the cell of trial 0.
        mask = mask & (pc.coalesce(pc.field("trial"), pc.scalar(0)) == cell.trial)
    return rows.filter(mask)
