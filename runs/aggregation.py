"""The store of a run to one table per study, and those to the files that people open."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from runs.cell_spec import CellSpec
from runs.frames import StudyCheck, frame_of
from runs.manifest import Entry, manifest_of, rows_digest, seconds_of, write_manifest
from runs.provenance import Provenance
from runs.result_table import (
    CELL,
    OK,
    concatenated,
    read_batches,
    schema_in,
    table_writer,
    to_table,
)
from runs.store import TIMING, apart, scan
from studies.base.coordinates import OF_MAPS

_OF_MAPS = {coordinate.name for coordinate in OF_MAPS}
# A study is joined so many rows, or tables of cells, at a time.
_ROWS, _TABLES = 1 << 16, 1 << 9


def join_study(
    stamps: Iterable[Path],
    run: Path,
    points: dict[tuple[str, str, str, str], int],
    *,
    rows: Path,
    timings: Path,
    maps: Path | None = None,
    of_maps: Collection[str] = (),
) -> None:
    """Join the cells of a study's batches in the order given and check that nothing is missing.

    Args:
        stamps: Those of the batches.
        run: Folder of the run.
        points: Number of grid points of every expected (study, dataset, mechanism, calibration).
        rows, timings: Files for the numbers, and for seconds and memory. The provenance of the
            cells goes into the manifest beside the former.
        maps: File for the metrics `of_maps`, which are whole maps and apart from the rows.

    Raises:
        TableError: A cell is incomplete, rows are duplicated, or a value with status ok is
            not finite. See `scan`.
    """
    entries: dict[str, Entry] = {}
    tables = _together(_noted(scan(stamps, run), entries))
    none = to_table([]).append_column(TIMING, pa.array([], pa.bool_()))
    first = next(tables, none)
    schema = first.drop_columns([TIMING]).schema
    joined = pa.schema([field for field in schema if field.name not in _OF_MAPS])
    check = StudyCheck(points)
    with ExitStack() as files:
        of_rows, of_timings = (
            files.enter_context(table_writer(path, joined)) for path in (rows, timings)
        )
        on_maps = maps and files.enter_context(table_writer(maps, schema))
        for marked_rows in chain([first], tables):
            table, timed = apart(marked_rows)
            check.add(table)
            on_map = pc.is_in(table["metric"], pa.array(of_maps, pa.string()))
            of_rows.write(table.filter(pc.invert(on_map)).select(joined.names))
            of_timings.write(timed.select(joined.names))
            if on_maps:
                on_maps.write(table.filter(on_map))
        check.end()
    write_manifest(manifest_of(rows), entries)


def points_of(cells: Iterable[CellSpec]) -> dict[tuple[str, str, str, str], int]:
    """Number of grid points of a mechanism at a calibration, whose cells may share them out."""
    points = defaultdict(set)
    for cell in cells:
        key = cell.study, cell.dataset, cell.mechanism, cell.calibration
        points[key] |= set(cell.points)
    return {key: len(of_one) for key, of_one in points.items()}


def _noted(
    cells: Iterable[tuple[str, Provenance, pa.Table]], entries: dict[str, Entry]
) -> Iterator[pa.Table]:
    """The tables of cells; what they were measured with is added to `entries`."""
    for stem, provenance, table in cells:
        entries[stem] = Entry(provenance, rows_digest(apart(table)[0]), seconds_of(table))
        yield table


def _together(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Many tables of cells as few, those of a cell in one: each has some 20 KiB beside its rows."""
    waiting: list[pa.Table] = []
    rows, last = 0, None
    for table in tables:
        cell = table.select(CELL)[:1].to_pylist()
        if cell != last and (rows >= _ROWS or len(waiting) >= _TABLES):
            yield pa.concat_tables(waiting).combine_chunks()
            waiting, rows = [], 0
        waiting.append(table)
        rows, last = rows + len(table), cell
    if waiting:
        yield pa.concat_tables(waiting).combine_chunks()


def write_csv(rows: list[str], timings: list[str], *, csv: Path, timed: Path, failed: Path) -> None:
    """All rows of a run, its seconds, and what did not run, as CSV. Maps stay apart."""
    with ExitStack() as files:
        of_rows, of_timings, of_failures = (
            files.enter_context(path.open("w", encoding="utf-8", newline=""))
            for path in (csv, timed, failed)
        )
        for frame in _frames(rows):
            header = not of_rows.tell()
            frame.to_csv(of_rows, index=False, header=header)
            frame[frame["status"] != OK].to_csv(of_failures, index=False, header=header)
        for frame in _frames(timings):
            frame.to_csv(of_timings, index=False, header=not of_timings.tell())


def _frames(paths: list[str]) -> Iterator[pd.DataFrame]:
    """Some rows at a time, with the columns of all tables; the first has none."""
    none = concatenated([schema_in(path).empty_table() for path in paths])
    for table in chain([none], *map(read_batches, paths)):
        yield frame_of(concatenated([none, table]))
