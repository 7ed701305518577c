"""Copy cells from the tables of a finished run, or from another machine, into the store.

A cell is copied if its provenance says that it is current, and it is written as one file. An
interrupted command therefore leaves whole cells, and can simply be run again.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from runs.aggregation import write_csv
from runs.batches import batches_of
from runs.cell_spec import CellSpec
from runs.cells import cells_of
from runs.manifest import JOINED, manifest_of, read_manifest, rows_digest
from runs.parts import write_at_once
from runs.result_table import DamagedTable, read_file, schema_of, write_table
from runs.store import (
    TIMING,
    cell_file,
    columns_of,
    is_current,
    provenance_in,
    rows_in_table,
    split_timings,
    stamp_file,
    write_stamp,
)
from runs.summary import summary_of
from studies.base.settings import ConfigError


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
    specs = [cell.spec(config) for cell in cells_of(config)]
    for study in studies:
        _restore_study(study, [spec for spec in specs if spec.study == study], run)
    unfinished = set()
    for batch in batches_of(config):
        if not _restore_stamp(batch.specs(config), stamp_file(run, batch.stem), run):
            unfinished.add(batch.study)
    if fresh:
        _write_uncommitted_files(run, studies)
        # A clone writes its files in any order, so give all of them the same time.
        now = time.time()
        for path in run.rglob("*"):
            os.utime(path, (now, now))
    for study, mark in zip(studies, marks, strict=True):
        if study not in unfinished:
            mark.touch()
    return sum(is_current(spec, run) for spec in specs), len(specs)


def _write_uncommitted_files(run: Path, studies: list[str]) -> None:
    """Write the files that a run makes of its tables but that are not committed."""
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


def _is_stored(cell: CellSpec, run: Path) -> bool:
    """Return whether a cell has a current result in an intact file."""
    try:
        read_file(cell_file(run, cell.stem))
    except (FileNotFoundError, DamagedTable):
        return False
    return is_current(cell, run)


def _restore_stamp(specs: list[CellSpec], stamp: Path, run: Path) -> bool:
    """Write the stamp of a batch, with the time of its table, if its cells are those of the table.

    Returns:
        Whether the stamp was written.
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
        and not _is_stored(spec, run)
    ]
    if not wanted:
        return
    tables = list(_marked_tables(table))
    if len(tables) < 2:
        raise DamagedTable(table, "it or its timings are missing", "restore both from git")
    for spec in wanted:
        schema = schema_of(columns_of(spec)).append(pa.field(TIMING, pa.bool_()))
        epsilons = {point.epsilon for point in spec.points}
        parts = [rows_in_table(spec, rows, epsilons) for rows in tables]
        cell = pa.concat_tables([_fill_columns(part, schema) for part in parts])
        entry = entries[spec.stem]
        if rows_digest(split_timings(cell)[0]) != entry.rows:
            raise DamagedTable(table, f"the rows of {spec.stem} are not those of its manifest")
        write_table(cell, cell_file(run, spec.stem), entry.provenance.to_json())


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


def _fill_columns(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Bring rows to the columns of a cell; columns that they lack are null."""
    return pa.table(
        [
            rows[field.name] if field.name in rows.column_names else pa.nulls(len(rows), field.type)
            for field in schema
        ],
        schema=schema,
    )


def merge(config: dict, run: Path, other: Path) -> tuple[int, int]:
    """Copy the cells that another folder of the same run has measured and this one lacks.

    Args:
        config: The checked config of the run.
        run: The folder of the run.
        other: The folder of the run in another checkout, such as one on another machine.

    Returns:
        The number of cells that were copied, and the number that are stale with this code.

    Raises:
        ConfigError: `other` is not the folder of a run.
        DamagedTable: A file of `other` is damaged.
    """
    if not (other / "cells").is_dir():
        raise ConfigError(f"{other} holds no cells; name results/{run.name} of another checkout")
    copied = stale = 0
    for cell in cells_of(config):
        spec = cell.spec(config)
        path = cell_file(other, spec.stem)
        if not path.exists() or _is_stored(spec, run):
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
