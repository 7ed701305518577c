"""Copy cells from the tables of a finished run into its store, or remove cells from the store.

A cell is copied if its provenance says that it is current, and it is written as one file. An
interrupted command therefore leaves whole cells, and can simply be run again.
"""

import os
import re
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from mechanisms.base.mechanism import CALIBRATIONS
from runs.aggregation import write_csv
from runs.batches import Batch, batches_of, stamp_file, write_stamp
from runs.cell_spec import CellSpec
from runs.parts import write_at_once
from runs.provenance import JOINED, manifest_of, read_manifest, rows_digest
from runs.result_table import CELL, DamagedTable, read_file, schema_of, write_table
from runs.results import require_known, summary_of
from runs.store import (
    TIMING,
    cell_file,
    cells_to_run,
    columns_of,
    is_current,
    provenance_in,
    rows_in_table,
    split_timings,
)

# A cell's file name ends in its calibration, then its trial and epsilon if those are split.
_CELL_SUFFIX = re.compile(rf"--({'|'.join(CALIBRATIONS)})(--\d+)?(--epsilon-[\d.e+-]+)?$")


def restore(config: dict, run: Path) -> tuple[int, int]:
    """Write the current cells in the tables of a run into its store, with the batches' stamps.

    Snakemake then measures the cells that are stale or new, and remakes what depends on them.

    Args:
        config: The checked config of the run.
        run: The folder of the run, with the tables of its studies and their manifests.

    Returns:
        The number of cells that are current now, and the number of all cells.

    Raises:
        DamagedTable: A table or a manifest is damaged.
    """
    studies = list(config["studies"])
    # These marks are written last: if none exists, no join or restore has finished here.
    marks = [run / "studies" / f"{study}{JOINED}" for study in studies]
    fresh = not any(mark.exists() for mark in marks)
    batches = batches_of(config)
    cells = [cell for batch in batches for cell in batch.cells]
    for study in studies:
        _restore_study(study, [cell for cell in cells if cell.study == study], run)
    unfinished = {batch.study for batch in batches if not _restore_stamp(batch, run)}
    if fresh:
        _write_uncommitted_files(run, studies)
        # A clone writes its files in any order, so give all of them the same time.
        now = time.time()
        for path in run.rglob("*"):
            os.utime(path, (now, now))
    for study, mark in zip(studies, marks, strict=True):
        if study not in unfinished:
            mark.touch()
    return len(cells) - len(cells_to_run(cells, run)), len(cells)


def _write_uncommitted_files(run: Path, studies: list[str]) -> None:
    """Write the files that a run makes from its tables and that are not committed."""
    tables = [run / "studies" / f"{study}.parquet" for study in studies]
    if not all(table.exists() for table in tables):
        return
    write_csv(run, studies)
    write_at_once(run / "summary.txt", summary_of(run, tables)[0])


def _restore_stamp(batch: Batch, run: Path) -> bool:
    """Write the stamp of a batch if its cells are current and the table of its study has them.

    The stamp gets the time of the oldest file of the table.

    Returns:
        Whether the stamp was written.
    """
    table = run / "studies" / f"{batch.study}.parquet"
    entries = read_manifest(manifest_of(table))
    for cell in batch.cells:
        found = provenance_in(cell_file(run, cell.stem))
        joined = cell.stem in entries and found == entries[cell.stem].provenance
        if not joined or found.differs(cell):
            return False
    stamp = stamp_file(run, batch.stem)
    write_stamp(run, batch)
    then = min(path.stat().st_mtime for path in table.parent.glob(f"{table.stem}.*"))
    os.utime(stamp, (then, then))
    return True


def _restore_study(study: str, cells: list[CellSpec], run: Path) -> None:
    table = run / "studies" / f"{study}.parquet"
    entries = read_manifest(manifest_of(table))
    wanted = [
        cell
        for cell in cells
        if cell.stem in entries
        and not entries[cell.stem].provenance.differs(cell)
        and not _is_stored(cell, run)
    ]
    if not wanted:
        return
    tables = list(_marked_tables(table))
    if len(tables) < 2:
        raise DamagedTable(table, "it or its timings are missing", "restore both from git")
    schema = schema_of(columns_of(wanted[0])).append(pa.field(TIMING, pa.bool_()))
    # A column that one of the tables lacks is null.
    whole = pa.concat_tables([schema.empty_table(), *tables], promote_options="default")
    whole = whole.select(schema.names)
    for cell in wanted:
        rows = rows_in_table(cell, whole)
        entry = entries[cell.stem]
        if rows_digest(split_timings(rows)[0]) != entry.rows:
            raise DamagedTable(table, f"the rows of {cell.stem} are not those of its manifest")
        write_table(rows, cell_file(run, cell.stem), entry.provenance.to_json())


def _is_stored(cell: CellSpec, run: Path) -> bool:
    """Return whether the rows of a cell are current and can be read."""
    with suppress(DamagedTable):
        return is_current(cell, run) and len(read_file(cell_file(run, cell.stem))) > 0
    return False


def _marked_tables(table: Path) -> Iterator[pa.Table]:
    """Read the rows, maps and timings of a study, with the column that marks timings."""
    for ending, timing in (
        (".parquet", False),
        (".maps.parquet", False),
        (".timings.parquet", True),
    ):
        path = table.with_name(table.stem + ending)
        if path.exists():
            rows = read_file(path)
            yield rows.append_column(TIMING, pa.array([timing] * len(rows), pa.bool_()))


def redo(
    run: Path, wanted: Mapping[str, Collection[str]], *, other_packages: bool = False
) -> list[str]:
    """Remove the results of cells with the stamps and tables of their studies; return their stems.

    The stamps and tables go too, so that nothing of these studies looks finished. Figures drawn
    from them stay until the next run. Cells with damaged files are always removed.

    Args:
        run: The folder of the run.
        wanted: The values of study, dataset, mechanism and status that a cell must have in one of
            its rows; a column without values allows all.
        other_packages: Only cells that were measured with other versions of the packages.

    Raises:
        ConfigError: There is no such run, or it has no cell with a name that is wanted.
    """
    known = sorted(path.parent.name for path in run.parent.glob("*/cells"))
    require_known("run with cells", [run.name], known, str(run.parent))
    folder = run / "cells"
    cells = sorted(folder.glob("*/*/*.parquet"))
    # The names come from the paths, so that damaged files have them too.
    for what, names in (
        ("study", {path.parts[-3] for path in cells}),
        ("dataset", {path.parts[-2] for path in cells}),
        ("mechanism", {_CELL_SUFFIX.sub("", path.stem) for path in cells}),
    ):
        require_known(what, wanted.get(what, ()), sorted(names), str(run))
    found = [path for path in cells if _matches(path, wanted, other_packages)]
    for path in found:
        path.unlink()
    for study in {path.parts[-3] for path in found}:
        for made in (*run.glob(f"batches/{study}/*"), *run.glob(f"studies/{study}.*")):
            made.unlink()
    return [str(path.relative_to(folder).with_suffix("")) for path in found]


def _matches(rows: Path, wanted: Mapping[str, Collection[str]], other_packages: bool) -> bool:
    try:
        table = read_file(rows).select([*CELL, "status"]).to_pylist()
    except DamagedTable:
        return True
    if other_packages and not ((found := provenance_in(rows)) and found.other_packages()):
        return False
    return any(
        all(not names or row[column] in names for column, names in wanted.items()) for row in table
    )
