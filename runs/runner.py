"""Run the cells of a batch under their limits, and store their rows.

A failure of a mechanism becomes a row of its cell. A failure of the machine (a full disk, a kill
from outside) fails the cell without a row, and the next run measures it again.
"""

import shutil
from collections.abc import Iterable
from pathlib import Path

from runs.cell_spec import CellSpec
from runs.parts import (
    LostPart,
    clear_current_point,
    current_point,
    failure,
    read_part,
    rows_of,
    write_part,
)
from runs.provenance import data_of, provenance_now
from runs.result_table import ERROR, TIMEOUT
from runs.store import cell_file, cells_to_run, write_cell
from runs.warm_process import Allowance, CellLog, Ended, WarmProcess


class CellError(Exception):
    """Cells could not be finished, but no mechanism is at fault; the next run repeats them."""


def run_cells(
    cells: Iterable[CellSpec], run: Path, *, limits: dict[str, float], commit: str
) -> None:
    """Measure the cells that have no current result, in sequence in one warm process.

    Args:
        cells: Cells of one study.
        run: The folder of the run, which has cells/ and logs/cells/.
        limits: `seconds` of wall clock and `memory_gib` of resident memory for each cell.
        commit: The commit of the code, for the provenance of the rows; empty outside of git.

    Raises:
        CellError: A cell could not be finished; the others were.
    """
    stale = cells_to_run(cells, run)
    if not stale:
        return
    errors = []
    warm = WarmProcess(stale[0].study)
    try:
        for cell in stale:
            try:
                _run_cell(cell, run, limits, commit, warm)
            except (CellError, LostPart) as error:
                errors.append(str(error))
            except OSError as error:
                errors.append(f"cell {cell.stem} could not be written: {error}")
    finally:
        warm.close()
    if errors:
        raise CellError("; ".join(errors))


def _run_cell(cell: CellSpec, run: Path, limits: dict, commit: str, warm: WarmProcess) -> None:
    folder = _partial_folder(cell, run)
    with CellLog(run / "logs" / "cells" / f"{cell.stem}.log") as log:
        _finish(cell, folder, log, limits, warm)
    write_cell(cell, rows_of(cell, folder), run, provenance_now(cell, commit))
    shutil.rmtree(folder)


def _finish(cell: CellSpec, folder: Path, log: CellLog, limits: dict, warm: WarmProcess) -> None:
    """Finish every point of a cell, in as many processes as that takes.

    If a process was killed, or failed in a way that looks like a fault of the machine, its point is
    measured once more. The second time the cell is blamed, unless the machine is certainly at
    fault.
    """
    allowance, suspect = Allowance(limits["seconds"]), None
    while missing := [i for i in range(len(cell.points)) if read_part(folder, i) is None]:
        clear_current_point(folder)
        ended = warm.run(cell, folder, log, allowance, limits)
        unfinished = [i for i in missing if read_part(folder, i) is None]
        if not unfinished:
            return
        index = current_point(folder)
        if ended.status is None:
            if ended.certain or index not in unfinished:
                raise CellError(f"cell {cell.stem} failed: {ended.message}")
            if index != suspect:
                suspect = index
                continue
            ended = Ended(ERROR, f"twice at this grid point: {ended.message}")
        failed = _failed_points(cell, ended, index, unfinished)
        if len(unfinished) == len(missing) and not failed:
            raise CellError(f"cell {cell.stem} makes no progress: {ended.message}")
        for index in failed:
            write_part(folder, index, failure(ended.status, ended.message))


def _failed_points(cell: CellSpec, ended: Ended, index: int | None, unfinished: list) -> list[int]:
    """Return the points that get a failure row; `index` is the one that was being measured.

    Raises:
        CellError: The process ended before it measured a point.
    """
    if ended.status == TIMEOUT:
        return unfinished
    if index is None:
        raise CellError(
            f"cell {cell.stem} failed before its first grid point: {ended.message}; "
            f"logs/cells/{cell.stem}.log has what it printed"
        )
    # The child may have ended after it wrote the point.
    return [index] if index in unfinished else []


def _partial_folder(cell: CellSpec, run: Path) -> Path:
    """Return the folder of finished points; empty it if code, settings or data have changed."""
    rows = cell_file(run, cell.stem)
    folder = rows.with_name(f".{rows.stem}.partial")
    stamp = folder / "digest"
    digest = f"{cell.digest}-{data_of(cell)}"
    # Compare bytes, because a damaged stamp may not be valid text.
    if not stamp.exists() or stamp.read_bytes() != digest.encode():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        stamp.write_text(digest)
    return folder
