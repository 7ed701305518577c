"""Cells that come from elsewhere: from the tables of a finished run, or from another machine.

A cell is taken if it is current by its provenance, and written as one file. So what is stopped at
any moment leaves whole cells, and is done again by the same command.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from runs.aggregation import write_csv
from runs.batches import batches_of
from runs.cell_spec import CellSpec
from runs.cells import cells_of
from runs.manifest import JOINED, manifest_of, read_manifest, rows_digest
from runs.parts import write_at_once
from runs.result_table import CELL, DamagedTable, read_file, schema_of, write_table
from runs.store import (
    TIMING,
    apart,
    cell_file,
    columns_of,
    is_current,
    provenance_in,
    stamp_file,
    write_stamp,
)
from runs.summary import summary_of
from studies.base.settings import ConfigError


def restore(config: dict, run: Path) -> tuple[int, int]:
    """Write the current cells in the tables of a run into its store, with the batches' stamps.

    Snakemake then measures the cells that are stale or new, and makes again what depends on them.

    Args:
        config: The checked config of the run.
        run: Its folder, with the tables of its studies and their manifests.

    Returns:
        The number of cells that are current now, and of all.

    Raises:
        DamagedTable: A table or a manifest is damaged.
    """
    studies = list(config["studies"])
    # Written last: without one, nothing has been joined or restored here, or not to the end.
    marks = [run / "studies" / f"{study}{JOINED}" for study in studies]
    fresh = not any(mark.exists() for mark in marks)
    specs = [cell.spec(config) for cell in cells_of(config)]
    for study in studies:
        _restore_study(study, [spec for spec in specs if spec.study == study], run)
    unfinished = set()
    for batch in batches_of(config):
        if not _restore_stamp(batch.specs(config), stamp_file(run, batch.stem), run):
            unfinished.add(batch.study)
    if fresh:
        _write_what_is_not_committed(run, studies)
        # A clone writes its files in any order: none of them is newer than another.
        now = time.time()
        for path in run.rglob("*"):
            os.utime(path, (now, now))
    for study, mark in zip(studies, marks, strict=True):
        if study not in unfinished:
            mark.touch()
    return sum(is_current(spec, run) for spec in specs), len(specs)


def _write_what_is_not_committed(run: Path, studies: list[str]) -> None:
    """The files that a run has of its tables and a clone has not."""
    tables = [run / "studies" / f"{study}.parquet" for study in studies]
    if not all(table.exists() for table in tables):
        return
    names = ("results.csv", "timings.csv", "failures.csv")
    written = [run / f"{name}.tmp" for name in names]
    write_csv(
        [str(table) for table in tables],
        [str(table.with_suffix(".timings.parquet")) for table in tables],
        **dict(zip(("csv", "timed", "failed"), written, strict=True)),
    )
    for name, path in zip(names, written, strict=True):
        path.replace(run / name)
    write_at_once(run / "summary.txt", summary_of(run, tables)[0])


def _is_here(cell: CellSpec, run: Path) -> bool:
    """Whether a cell has a current result whose file is whole."""
    try:
        read_file(cell_file(run, cell.stem))
    except (FileNotFoundError, DamagedTable):
        return False
    return is_current(cell, run)


def _restore_stamp(specs: list[CellSpec], stamp: Path, run: Path) -> bool:
    """Leave the stamp of a batch whose cells are those of the table, with the time of the table.

    Returns whether they are.
    """
    table = run / "studies" / f"{specs[0].study}.parquet"
    entries = read_manifest(manifest_of(table))
    for spec in specs:
        found = provenance_in(cell_file(run, spec.stem))
        joined = spec.stem in entries and found == entries[spec.stem].provenance
        if not joined or found.differs(spec):
            return False
    write_stamp(stamp, specs)
    then = min(path.stat().st_mtime for path in table.parent.glob(f"{table.stem}.*"))
    os.utime(stamp, (then, then))
    return True


def _restore_study(study: str, specs: list[CellSpec], run: Path) -> None:
    table = run / "studies" / f"{study}.parquet"
    entries = read_manifest(manifest_of(table))
    wanted = [
        spec
        for spec in specs
        if spec.stem in entries
        and not entries[spec.stem].provenance.differs(spec)
        and not _is_here(spec, run)
    ]
    if not wanted:
        return
    tables = list(_marked_tables(table))
    if len(tables) < 2:
        raise DamagedTable(table, "it or its timings are missing; restore them from git")
    for spec in wanted:
        schema = schema_of(columns_of(spec)).append(pa.field(TIMING, pa.bool_()))
        cell = pa.concat_tables([_as_stored(_rows_of(spec, rows), schema) for rows in tables])
        entry = entries[spec.stem]
        if rows_digest(apart(cell)[0]) != entry.rows:
            raise DamagedTable(table, f"the rows of {spec.stem} are not those of its manifest")
        write_table(cell, cell_file(run, spec.stem), entry.provenance.to_json())


def _marked_tables(table: Path) -> Iterator[pa.Table]:
    """The rows, maps and timings of a study, each marked as in the store."""
    for ending, timing in (
        (".parquet", False),
        (".maps.parquet", False),
        (".timings.parquet", True),
    ):
        path = table.with_name(table.stem + ending)
        if path.exists():
            rows = read_file(path)
            yield rows.append_column(TIMING, pa.array([timing] * len(rows), pa.bool_()))


def _rows_of(spec: CellSpec, rows: pa.Table) -> pa.Table:
    """The rows of a cell in a table of its study."""
    mask = pc.scalar(True)
    for name in CELL:
        mask = mask & (pc.field(name) == getattr(spec, name))
    if spec.trial is not None:
        # What belongs to no trial is kept by the cell of the first.
        own = pc.field("trial") == spec.trial
        mask = mask & ((own | pc.field("trial").is_null()) if spec.trial == 0 else own)
    epsilons = pa.array({point.epsilon for point in spec.points}, pa.float64())
    return rows.filter(mask & pc.field("epsilon").isin(epsilons))


def _as_stored(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Rows with the columns of a cell: those that a table lacks are null in all of its rows."""
    return pa.table(
        [
            rows[field.name] if field.name in rows.column_names else pa.nulls(len(rows), field.type)
            for field in schema
        ],
        schema=schema,
    )


def merge(config: dict, run: Path, other: Path) -> tuple[int, int]:
    """Copy the cells that another folder of the same run has measured, and this one lacks.

    Args:
        config: The checked config of the run.
        run: Its folder.
        other: Its folder in another checkout, such as that of another machine.

    Returns:
        The number of cells that were copied, and of those that are not current with this code.

    Raises:
        ConfigError: `other` is no folder of a run.
        DamagedTable: A file of `other` is damaged.
    """
    if not (other / "cells").is_dir():
        raise ConfigError(f"{other} holds no cells; name results/{run.name} of another checkout")
    copied = stale = 0
    for cell in cells_of(config):
        spec = cell.spec(config)
        path = cell_file(other, spec.stem)
        if not path.exists() or _is_here(spec, run):
            continue
        read_file(path)
        found = provenance_in(path)
        if found is None:
            raise DamagedTable(path, "it does not say what it was measured with")
        if found.differs(spec):
            stale += 1
            continue
        target = cell_file(run, spec.stem)
        target.parent.mkdir(parents=True, exist_ok=True)
        write_at_once(target, path.read_bytes())
        copied += 1
    return copied, stale
