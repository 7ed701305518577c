"""Join the store of a run into one table per study, and these into the files that people open."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from runs.cell_spec import CellSpec
from runs.provenance import Entry, manifest_of, rows_digest, seconds_of, write_manifest
from runs.result_table import (
    CELL,
    FAILURES,
    OK,
    POINT,
    TableError,
    concatenate,
    key_of,
    read_batches,
    schema_in,
    to_table,
    write_table,
)
from runs.results import frame_of
from runs.store import TIMING, scan, split_timings
from studies.base.coordinates import OF_MAPS

_MAP_COLUMNS = {coordinate.name for coordinate in OF_MAPS}


def join_study(
    study: str, cells: Collection[CellSpec], run: Path, of_maps: Collection[str]
) -> None:
    """Join the cells of a study in the order given and check that nothing is missing.

    Args:
        study: The name of the study.
        cells: Its cells.
        run: The folder of the run, which gets the rows, the timings and the manifest.
        of_maps: The metrics that are whole maps, which get a table of their own.

    Raises:
        TableError: A cell is missing, stale or damaged (see `scan`) or incomplete, rows are
            duplicated, or a value with status ok is not finite.
    """
    entries = {}
    empty = to_table([]).append_column(TIMING, pa.array([], pa.bool_()))
    # No name keeps the cells' tables, which may take half a GiB, once they are concatenated.
    rows, timings = split_timings(concatenate([empty, *_record_entries(cells, run, entries)]))
    require_complete(rows, points_of(cells))
    table = run / "studies" / f"{study}.parquet"
    joined = [name for name in rows.column_names if name not in _MAP_COLUMNS]
    on_map = pc.is_in(rows["metric"], pa.array(of_maps, pa.string()))
    write_table(rows.filter(pc.invert(on_map)).select(joined), table)
    write_table(timings.select(joined), table.with_suffix(".timings.parquet"))
    if of_maps:
        write_table(rows.filter(on_map), table.with_suffix(".maps.parquet"))
    write_manifest(manifest_of(table), entries)


def _record_entries(
    cells: Iterable[CellSpec], run: Path, entries: dict[str, Entry]
) -> Iterator[pa.Table]:
    """Yield the tables of cells, and add the manifest entry of each to `entries`."""
    for cell, provenance, table in scan(cells, run):
        digest = rows_digest(split_timings(table)[0])
        entries[cell.stem] = Entry(provenance, digest, seconds_of(table))
        yield table


def points_of(cells: Iterable[CellSpec]) -> dict[tuple[str, ...], int]:
    """Count the grid points of each mechanism and calibration, which may span several cells."""
    points = defaultdict(set)
    for cell in cells:
        key = cell.study, cell.dataset, cell.mechanism, cell.calibration
        points[key] |= set(cell.points)
    return {key: len(found) for key, found in points.items()}


def require_complete(table: pa.Table, expected: dict[tuple[str, ...], int]) -> None:
    """Check that the rows of a study are complete and consistent.

    A cell is complete if it has all of its points, and each point has either one row with the
    reason of its failure or only rows with status ok. If each trial has a job of its own, a
    failed trial has one row beside those of the other trials. Values with status ok must be finite.

    Args:
        table: The rows.
        expected: The number of grid points by study, data set, mechanism and calibration.

    Raises:
        TableError: There are problems; the message names all of them.
    """
    names = dict.fromkeys([*key_of(table.column_names), "status", "value"])
    frame = table.select([*names]).to_pandas(use_threads=False)
    problems = _contradictions(frame)
    found = Counter(frame[POINT].drop_duplicates().groupby(CELL).size().to_dict())
    for cell, count in expected.items():
        if found[cell] != count:
            problems.append(f"cell {'/'.join(cell)} has {found[cell]} of {count} grid points")
    others = found.keys() - expected.keys()
    problems += [f"cell {'/'.join(cell)} was not asked for" for cell in others]
    if problems:
        raise TableError("; ".join(problems))


def _contradictions(frame: pd.DataFrame) -> list[str]:
    """List the contradictions in the rows of some cells."""
    problems = []
    duplicated = frame.duplicated(key_of(frame.columns))
    if duplicated.any():
        problems.append(f"{duplicated.sum()} duplicate rows, first {_row(frame[duplicated])}")
    bad = frame[(frame["status"] == OK) & ~frame["value"].map(math.isfinite)]
    if len(bad):
        problems.append(f"{len(bad)} values with status ok are not finite, first {_row(bad)}")
    whole = frame[(frame["status"] == OK) | frame["trial"].isna()]
    mixed = whole[[*POINT, "status"]].drop_duplicates().groupby(POINT).size() > 1
    if mixed.any():
        point = "/".join(map(str, mixed.idxmax()))
        problems.append(f"{mixed.sum()} grid points have more than one status, first {point}")
    return problems


def _row(frame: pd.DataFrame) -> str:
    return ", ".join(f"{name}={frame.iloc[0][name]}" for name in key_of(frame.columns))


def write_csv(run: Path, studies: Iterable[str]) -> None:
    """Write the rows of a run, its seconds and its failures as CSV files; leave out maps."""
    tables = [run / "studies" / f"{study}.parquet" for study in studies]
    _write_csv(run / "results.csv", tables)
    _write_csv(run / "failures.csv", tables, FAILURES)
    timings = [table.with_suffix(".timings.parquet") for table in tables]
    _write_csv(run / "timings.csv", timings)


def _write_csv(path: Path, tables: list[Path], statuses: Collection[str] = ()) -> None:
    """Write the rows of all tables, or only those with some statuses, with all their columns."""
    empty = concatenate([schema_in(table).empty_table() for table in tables])
    temporary = path.with_suffix(".tmp")
    with temporary.open("w", encoding="utf-8", newline="") as file:
        for table in chain([empty], *map(read_batches, tables)):
            frame = frame_of(concatenate([empty, table]))
            rows = frame[frame["status"].isin(statuses)] if statuses else frame
            rows.to_csv(file, index=False, header=table is empty)
    temporary.replace(path)
