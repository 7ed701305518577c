"""Join the store of a run into one table per study, and these into the files that people open."""

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
    FAILURES,
    concatenate,
    read_batches,
    schema_in,
    table_writer,
    to_table,
)
from runs.store import TIMING, scan, split_timings
from studies.base.coordinates import OF_MAPS

_OF_MAPS = {coordinate.name for coordinate in OF_MAPS}
# A study is joined in chunks of this many rows, or of this many tables of cells.
_ROWS, _TABLES = 1 << 16, 1 << 9


def join_study(
    stamps: Iterable[Path],
    run: Path,
    points: dict[tuple[str, str, str, str], int],
    *,
    rows: Path,
    timings: Path,
    maps: Path | None,
    of_maps: Collection[str],
) -> None:
    """Join the cells of a study's batches in the order given and check that nothing is missing.

    Args:
        stamps: The stamps of the batches.
        run: The folder of the run.
        points: The number of grid points of each expected (study, dataset, mechanism, calibration).
        rows, timings: The files for the numbers, and for seconds and memory. The provenance of the
            cells goes into the manifest beside `rows`.
        maps: The file for the metrics `of_maps`, which are whole maps and not among the rows; None
            if the study has none.

    Raises:
        TableError: A cell is incomplete, rows are duplicated, or a value with status ok is
            not finite. See `scan`.
    """
    entries: dict[str, Entry] = {}
    tables = _chunk_tables(_record_entries(scan(stamps, run), entries))
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
            table, timed = split_timings(marked_rows)
            check.add(table)
            on_map = pc.is_in(table["metric"], pa.array(of_maps, pa.string()))
            of_rows.write(table.filter(pc.invert(on_map)).select(joined.names))
            of_timings.write(timed.select(joined.names))
            if on_maps:
                on_maps.write(table.filter(on_map))
        check.end()
    write_manifest(manifest_of(rows), entries)


def points_of(cells: Iterable[CellSpec]) -> dict[tuple[str, str, str, str], int]:
    """Count the grid points of each mechanism and calibration, which may span several cells."""
    points = defaultdict(set)
    for cell in cells:
        key = cell.study, cell.dataset, cell.mechanism, cell.calibration
        points[key] |= set(cell.points)
    return {key: len(of_one) for key, of_one in points.items()}


def _record_entries(
    cells: Iterable[tuple[str, Provenance, pa.Table]], entries: dict[str, Entry]
) -> Iterator[pa.Table]:
    """Pass on the tables of cells, and add the manifest entry of each to `entries`."""
    for stem, provenance, table in cells:
        entries[stem] = Entry(provenance, rows_digest(split_timings(table)[0]), seconds_of(table))
        yield table


def _chunk_tables(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Concatenate tables into fewer, as each costs about 20 KiB; never split a cell."""
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
    """Write the rows of a run, its seconds and its failures as CSV files; leave out maps."""
    with ExitStack() as files:
        of_rows, of_timings, of_failures = (
            files.enter_context(path.open("w", encoding="utf-8", newline=""))
            for path in (csv, timed, failed)
        )
        for frame in _frames(rows):
            header = not of_rows.tell()
            frame.to_csv(of_rows, index=False, header=header)
            frame[frame["status"].isin(FAILURES)].to_csv(of_failures, index=False, header=header)
        for frame in _frames(timings):
            frame.to_csv(of_timings, index=False, header=not of_timings.tell())


def _frames(paths: list[str]) -> Iterator[pd.DataFrame]:
    """Yield frames with the columns of all tables; the first has no rows, so only a header."""
    none = concatenate([schema_in(path).empty_table() for path in paths])
    for table in chain([none], *map(read_batches, paths)):
        yield frame_of(concatenate([none, table]))
