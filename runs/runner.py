"""Runs the cells of a batch under their limits and writes their tables.

What a mechanism does becomes rows of its cell. What the machine does (a full disk, a kill from
outside) fails the cell without a row, and the next run does it again. Every cell keeps its own
files below cells/, so that a batch repeats only those whose code or settings have changed.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from runs.parts import (
    SPECIFICATION,
    begun,
    failure,
    forget_begun,
    part_path,
    read_part,
    write_part,
)
from runs.result_table import (
    OK,
    TIMEOUT,
    DamagedTable,
    digest_in,
    read_table,
    to_table,
    write_table,
)
from runs.sources import current_digest_of
from runs.warm_process import Allowance, WarmProcess
from studies.base.coordinates import TYPES, Coordinate


class CellError(Exception):
    """Cells could not be finished, and no mechanism is at fault; the next run repeats them."""


def run_batch(
    cells: list[dict[str, Any]],
    run: Path,
    rows: Path,
    timings: Path,
    *,
    limits: dict[str, float],
) -> None:
    """Bring the cells of a batch up to date and write the tables of all of them.

    Args:
        cells, run, limits: As in `run_cells`.
        rows: Parquet file for the reproducible numbers.
        timings: Parquet file for seconds and memory, which no two runs share.

    Raises:
        CellError: A cell could not be finished; the others were.
    """
    run_cells(cells, run, limits=limits)
    files = zip(*(cell_files(cell, run) for cell in cells), strict=True)
    try:
        for parts, out in zip(files, (rows, timings), strict=True):
            write_table(read_table(*parts), out)
    except DamagedTable as error:
        error.path.unlink()
        raise CellError(f"{error}; it is removed: run again") from None


def run_cells(cells: list[dict[str, Any]], run: Path, *, limits: dict[str, float]) -> None:
    """Measure the cells that have no current result, one after the other in one warm process.

    Args:
        cells: `Cell.planned` of cells of one study.
        run: Folder of the run: cells/ and logs/cells/ are below it.
        limits: `seconds` of wall clock and `memory_gib` of resident memory for each cell.

    Raises:
        CellError: A cell could not be finished; the others were.
    """
    stale = [cell for cell in cells if not is_current(cell, run)]
    if not stale:
        return
    errors = []
    warm = WarmProcess(stale[0]["specification"]["study"])
    try:
        for cell in stale:
            try:
                _run_cell(cell, run, limits, warm)
            except CellError as error:
                errors.append(str(error))
            except OSError as error:
                errors.append(f"cell {cell['stem']} could not be written: {error}")
    finally:
        warm.close()
    if errors:
        raise CellError("; ".join(errors))


def cell_files(cell: dict[str, Any], run: Path) -> tuple[Path, Path]:
    """The files of a cell's rows and of its timings."""
    rows = run / "cells" / f"{cell['stem']}.parquet"
    return rows, rows.with_suffix(".timings.parquet")


def is_current(cell: dict[str, Any], run: Path) -> bool:
    """Whether a cell has results of the code and the settings that it has now."""
    return all(digest_in(path) == cell["digest"] for path in cell_files(cell, run))


def require_sources(sources: list[str], digest: str) -> None:
    """Raise CellError where files of code are no longer those that a run was planned with."""
    try:
        changed = current_digest_of(sources) != digest
    except FileNotFoundError:
        changed = True
    if changed:
        raise CellError("the code has changed since this run began; start it again")


def _run_cell(cell: dict[str, Any], run: Path, limits: dict, warm: WarmProcess) -> None:
    specification = cell["specification"]
    log = run / "logs" / "cells" / f"{cell['stem']}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    rows, timings = cell_files(cell, run)
    folder = _partial_folder(cell, rows)
    (folder / SPECIFICATION).write_text(json.dumps(specification))
    indices = range(len(specification["points"]))
    allowance = Allowance(limits["seconds"])
    while missing := [i for i in indices if read_part(folder, i) is None]:
        forget_begun(folder)
        ended = warm.run(folder, log, allowance, limits)
        unfinished = [i for i in missing if read_part(folder, i) is None]
        if ended.status is None:
            raise CellError(f"cell {cell['stem']} failed: {ended.message}")
        if ended.status == TIMEOUT:
            failed = unfinished
        elif (index := begun(folder)) is not None:
            # The child may have ended after it had written the point.
            failed = [index] if index in unfinished else []
        else:
            raise CellError(
                f"cell {cell['stem']} failed before its first grid point: {ended.message}; "
                f"{log} has the traceback"
            )
        if len(unfinished) == len(missing) and not failed:
            raise CellError(f"cell {cell['stem']} makes no progress: {ended.message}")
        for index in failed:
            write_part(folder, index, failure(ended.status, ended.message))
    _assemble(cell, folder, rows, timings)
    shutil.rmtree(folder)


def _partial_folder(cell: dict[str, Any], rows: Path) -> Path:
    """The folder of finished points, emptied when it belongs to other code or settings."""
    folder = rows.with_name(f".{rows.stem}.partial")
    stamp = folder / "digest"
    # As bytes: a damaged stamp may be no text.
    if not stamp.exists() or stamp.read_bytes() != cell["digest"].encode():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        stamp.write_text(cell["digest"])
    return folder


def _assemble(cell: dict[str, Any], folder: Path, rows: Path, timings: Path) -> None:
    specification = cell["specification"]
    names = ("paper", "study", "dataset", "data_source", "mechanism", "calibration")
    tables: dict[bool, list[dict]] = {False: [], True: []}
    for index, (shape, epsilon, delta) in enumerate(specification["points"]):
        fixed = {name: specification[name] for name in names} | {
            "shape": "x".join(map(str, shape)),
            "epsilon": epsilon,
            "delta": delta,
        }
        values = read_part(folder, index)
        if values is None:
            raise CellError(f"{part_path(folder, index)} was lost while its cell ran; run again")
        for value in _of_trial(specification["settings"].get("trial"), values):
            timing = value.pop("timing")
            tables[timing].append(fixed | value)
    types = {name: kind for kind, name in TYPES.items()}
    coordinates = [
        Coordinate(name, types[kind], "") for name, kind in specification["columns"].items()
    ]
    write_table(to_table(tables[False], coordinates), rows, cell["digest"])
    write_table(to_table(tables[True], coordinates), timings, cell["digest"])


def _of_trial(trial: int | None, values: list[dict]) -> list[dict]:
    """The values that a cell contributes: all of them, unless it is for one trial only.

    Then numbers that belong to no trial are kept by the cell of trial 0 alone; failures and seconds
    are kept by every cell and get its trial.
    """
    if trial is None:
        return values
    owned = [value["timing"] or value["status"] != OK for value in values]
    return [
        value | {"trial": trial} if own else value
        for value, own in zip(values, owned, strict=True)
        if own or trial == 0 or value["trial"] is not None
    ]
