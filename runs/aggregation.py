"""The store of a run to one table per study, and those to the files that people open."""

from collections.abc import Collection, Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from mechanisms.query.csv_cells import marked
from runs.frames import check_table, read_frame
from runs.result_table import OK, write_table
from runs.store import scan
from studies.base.coordinates import OF_MAPS


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
        points: Number of grid points of every expected cell
            (study, dataset, mechanism, calibration).
        rows, timings: Files for the numbers, and for seconds and memory.
        maps: File for the metrics `of_maps`, which are whole maps and apart from the rows.

    Raises:
        TableError: A cell is incomplete, rows are duplicated, or a value with status ok is
            not finite. See `scan`.
    """
    table, timed = scan(stamps, run)
    check_table(table, points)
    on_map = pc.is_in(table["metric"], pa.array(of_maps, pa.string()))
    write_table(_without_map_columns(table.filter(pc.invert(on_map))), rows)
    write_table(_without_map_columns(timed), timings)
    if maps is not None:
        write_table(table.filter(on_map), maps)


def _without_map_columns(table: pa.Table) -> pa.Table:
    names = {coordinate.name for coordinate in OF_MAPS}
    return table.select([name for name in table.column_names if name not in names])


def write_csv(rows: list[str], timings: list[str], *, csv: Path, timed: Path, failed: Path) -> None:
    """All rows of a run, its seconds, and what did not run, as CSV. Maps stay apart."""
    frame = marked(read_frame(*rows))
    frame.to_csv(csv, index=False)
    frame[frame["status"] != OK].to_csv(failed, index=False)
    marked(read_frame(*timings)).to_csv(timed, index=False)
