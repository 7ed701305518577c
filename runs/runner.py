"""Runs the cells of a batch under their limits and stores what they gave.

What a mechanism does becomes rows of its cell. What the machine does (a full disk, a kill from
outside) fails the cell without a row, and the next run does it again.
"""

import shutil
from pathlib import Path
from typing import Any

from runs.cell_spec import CellSpec
from runs.parts import begun, failure, forget_begun, part_path, read_part, write_part
from runs.result_table import OK, TIMEOUT
from runs.sources import current_digest_of
from runs.store import TIMING, cell_file, is_current, write_cell, write_stamp
from runs.warm_process import Allowance, WarmProcess


class CellError(Exception):
    """Cells could not be finished, and no mechanism is at fault; the next run repeats them."""


def run_batch(cells: list[CellSpec], run: Path, stamp: Path, *, limits: dict[str, float]) -> None:
    """Bring the cells of a batch up to date and leave its stamp.

    Args:
        cells, run, limits: As in `run_cells`.
        stamp: See runs/store.py.

    Raises:
        CellError: A cell could not be finished; the others were.
    """
    run_cells(cells, run, limits=limits)
    write_stamp(stamp, cells)


def run_cells(cells: list[CellSpec], run: Path, *, limits: dict[str, float]) -> None:
    """Measure the cells that have no current result, one after the other in one warm process.

    Args:
        cells: Cells of one study.
        run: Folder of the run: cells/ and logs/cells/ are below it.
        limits: `seconds` of wall clock and `memory_gib` of resident memory for each cell.

    Raises:
        CellError: A cell could not be finished; the others were.
    """
    stale = [cell for cell in cells if not is_current(cell, run)]
    if not stale:
        return
    errors = []
    warm = WarmProcess(stale[0].study)
    try:
        for cell in stale:
            try:
                _run_cell(cell, run, limits, warm)
            except CellError as error:
                errors.append(str(error))
            except OSError as error:
                errors.append(f"cell {cell.stem} could not be written: {error}")
    finally:
        warm.close()
    if errors:
        raise CellError("; ".join(errors))


def require_sources(sources: list[str], digest: str) -> None:
    """Raise CellError where files of code are no longer those that a run was planned with."""
    try:
        changed = current_digest_of(sources) != digest
    except FileNotFoundError:
        changed = True
    if changed:
        raise CellError("the code has changed since this run began; start it again")


def _run_cell(cell: CellSpec, run: Path, limits: dict, warm: WarmProcess) -> None:
    log = run / "logs" / "cells" / f"{cell.stem}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    folder = _partial_folder(cell, run)
    indices = range(len(cell.points))
    allowance = Allowance(limits["seconds"])
    while missing := [i for i in indices if read_part(folder, i) is None]:
        forget_begun(folder)
        ended = warm.run(cell, folder, log, allowance, limits)
        unfinished = [i for i in missing if read_part(folder, i) is None]
        if not unfinished:
            break
        if ended.status is None:
            raise CellError(f"cell {cell.stem} failed: {ended.message}")
        if ended.status == TIMEOUT:
            failed = unfinished
        elif (index := begun(folder)) is not None:
            # The child may have ended after it had written the point.
            failed = [index] if index in unfinished else []
        else:
            raise CellError(
                f"cell {cell.stem} failed before its first grid point: {ended.message}; "
                f"{log} has the traceback"
            )
        if len(unfinished) == len(missing) and not failed:
            raise CellError(f"cell {cell.stem} makes no progress: {ended.message}")
        for index in failed:
            write_part(folder, index, failure(ended.status, ended.message))
    write_cell(cell, _rows(cell, folder), run)
    shutil.rmtree(folder)


def _partial_folder(cell: CellSpec, run: Path) -> Path:
    """The folder of finished points, emptied when it belongs to other code or settings."""
    rows = cell_file(run, cell.stem)
    folder = rows.with_name(f".{rows.stem}.partial")
    stamp = folder / "digest"
    # As bytes: a damaged stamp may be no text.
    if not stamp.exists() or stamp.read_bytes() != cell.digest.encode():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        stamp.write_text(cell.digest)
    return folder


def _rows(cell: CellSpec, folder: Path) -> list[dict[str, Any]]:
    """The rows of a cell whose grid points are all finished."""
    names = ("paper", "study", "dataset", "data_source", "mechanism", "calibration")
    fixed = {name: getattr(cell, name) for name in names}
    rows = []
    for index, point in enumerate(cell.points):
        values = read_part(folder, index)
        if values is None:
            raise CellError(f"{part_path(folder, index)} was lost while its cell ran; run again")
        here = {"shape": point.shape_name, "epsilon": point.epsilon, "delta": point.delta}
        rows += [fixed | here | value for value in _of_trial(cell.trial, values)]
    return rows


def _of_trial(trial: int | None, values: list[dict]) -> list[dict]:
    """The values that a cell contributes: all of them, unless it is for one trial only.

    Then numbers that belong to no trial are kept by the cell of trial 0 alone; failures and seconds
    are kept by every cell and get its trial.
    """
    if trial is None:
        return values
    owned = [value[TIMING] or value["status"] != OK for value in values]
    return [
        value | {"trial": trial} if own else value
        for value, own in zip(values, owned, strict=True)
        if own or trial == 0 or value["trial"] is not None
    ]
