"""Batches to one table per study, and those to the tables of a run."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from mechanisms.query.csv_cells import marked
from runs.frames import check_table, read_frame
from runs.result_table import OK, read_table, write_table
from studies.base.coordinates import OF_MAPS


def aggregate_study(
    rows: list[str],
    timings: list[str],
    points: dict[tuple[str, str, str, str], int],
    maps: tuple[str, ...],
    rows_out: Path,
    timings_out: Path,
) -> None:
    """Join batches in the order given and check that nothing is missing.

    Args:
        points: Number of grid points of every expected cell
            (study, dataset, mechanism, calibration).
        maps: Metrics that are whole maps; see `aggregate_maps`.

    Raises:
        TableError: A cell is incomplete, rows are duplicated, or a value with status ok is
            not finite.
    """
    table = read_table(*rows)
    check_table(table, points)
    of_maps = pc.is_in(table["metric"], pa.array(maps, pa.string()))
    write_table(_without_map_columns(table.filter(pc.invert(of_maps))), rows_out)
    write_table(_without_map_columns(read_table(*timings)), timings_out)


def aggregate_maps(rows: list[str], maps: tuple[str, ...], out: Path) -> None:
    """Join the maps of the batches, which `aggregate_study` leaves out."""
    table = read_table(*rows)
    write_table(table.filter(pc.is_in(table["metric"], pa.array(maps, pa.string()))), out)


def _without_map_columns(table: pa.Table) -> pa.Table:
    names = {coordinate.name for coordinate in OF_MAPS}
    return table.select([name for name in table.column_names if name not in names])


def aggregate_results(
    rows: list[str],
    timings: list[str],
    *,
    parquet: Path,
    csv: Path,
    timings_csv: Path,
    failures_csv: Path,
) -> None:
    """All rows of a run as Parquet and as CSV; what did not run, one row each. Maps stay apart."""
    write_table(read_table(*rows), parquet)
    frame = marked(read_frame(*rows))
    frame.to_csv(csv, index=False)
    frame[frame["status"] != OK].to_csv(failures_csv, index=False)
    marked(read_frame(*timings)).to_csv(timings_csv, index=False)
