"""Runs a cell in a child process with a time and a memory limit; failures become rows."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO

import psutil

from experiments.contract.coordinates import TYPES, Coordinate
from runs.parts import (
    SPECIFICATION,
    begun,
    failure,
    forget_begun,
    part_path,
    write_part,
)
from runs.result_table import (
    ERROR,
    OK,
    TIMEOUT,
    to_table,
    write_table,
)

POLL_SECONDS = 0.05
GIB = 1 << 30


class CellError(Exception):
    """The cell could not start, for example without its data; no mechanism is at fault."""


def run_cell(
    specification: dict,
    sources: list[str],
    rows: Path,
    timings: Path,
    *,
    limits: dict[str, float],
    log: Path | None = None,
) -> None:
    """Measure a cell and write its two tables.

    Args:
        specification: `Cell.specification`.
        sources: Files whose content the numbers depend on; a partial result of other content
            is discarded.
        rows: Parquet file for the reproducible numbers.
        timings: Parquet file for seconds and memory, which no two runs share.
        limits: `seconds` of wall clock and `memory_gib` of resident memory for the cell.
        log: File for what is also shown on stderr: progress and tracebacks.

    Raises:
        CellError: The child ended before it reached its first grid point.
    """
    folder = _partial_folder(specification, sources, rows)
    (folder / SPECIFICATION).write_text(json.dumps(specification))
    points = specification["points"]
    deadline = time.monotonic() + limits["seconds"]
    while missing := [i for i in range(len(points)) if not part_path(folder, i).exists()]:
        forget_begun(folder)
        status, message = _watch(folder, deadline, limits, log)
        if status == TIMEOUT:
            failed = missing
        elif (index := begun(folder)) is not None:
            failed = [index]
        else:
            raise CellError(
                f"cell {rows.stem} failed before its first grid point: {message}; "
                "see the traceback above"
            )
        for index in failed:
            # The child may have ended after it had written the point.
            if not part_path(folder, index).exists():
                write_part(folder, index, failure(status, message))
    _assemble(specification, folder, rows, timings)
    shutil.rmtree(folder)


def _watch(folder: Path, deadline: float, limits: dict, log: Path | None) -> tuple[str, str]:
    """Run one child until it ends, or kill it at the deadline or over the memory limit.

    Returns the status and the message of a point that the child began but did not finish.
    """
    child = subprocess.Popen(
        [sys.executable, "-m", "runs.worker", str(folder), str(os.getpid())],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        # One thread unless the caller says otherwise: the last bits of a matrix product, and every
        # second measured, depend on their number.
        env={"OMP_NUM_THREADS": "1", **os.environ, "PYTHONPATH": _python_path()},
    )
    reader = threading.Thread(target=_show, args=(child.stdout, log), daemon=True)
    reader.start()
    try:
        while child.poll() is None:
            time.sleep(POLL_SECONDS)
            if time.monotonic() > deadline:
                return TIMEOUT, f"stopped at the cell's limit of {limits['seconds']:g} s"
            if _resident_bytes(child.pid) > limits["memory_gib"] * GIB:
                return ERROR, f"exceeded the memory limit of {limits['memory_gib']:g} GiB"
    finally:
        # The whole session, so that processes the mechanism started end too.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        reader.join(timeout=5)
    if child.returncode < 0:
        number = -child.returncode
        return ERROR, f"the process died of signal {number} ({signal.strsignal(number)})"
    return ERROR, f"the process ended with status {child.returncode}"


def _show(lines: IO[bytes], log: Path | None) -> None:
    """Copy the child's output to stderr and to the log."""
    with open(log or os.devnull, "ab") as kept:
        for line in lines:
            sys.stderr.write(line.decode(errors="replace"))
            sys.stderr.flush()
            kept.write(line)
            kept.flush()


def _resident_bytes(pid: int) -> int:
    try:
        parent = psutil.Process(pid)
        return sum(p.memory_info().rss for p in [parent, *parent.children(recursive=True)])
    except psutil.NoSuchProcess:
        return 0


def _python_path() -> str:
    """The child finds what the parent finds: the project, and modules of outside mechanisms."""
    return os.pathsep.join(path or os.getcwd() for path in sys.path)


def _partial_folder(specification: dict, sources: list[str], rows: Path) -> Path:
    """The folder of finished points, emptied when it belongs to other code or settings."""
    digest = hashlib.sha256(json.dumps(specification, sort_keys=True).encode())
    for source in sorted(sources):
        digest.update(hashlib.sha256(Path(source).read_bytes()).digest())
    folder = rows.parent / f".{rows.stem}.partial"
    stamp = folder / "digest"
    if not stamp.exists() or stamp.read_text() != digest.hexdigest():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        stamp.write_text(digest.hexdigest())
    return folder


def _assemble(specification: dict, folder: Path, rows: Path, timings: Path) -> None:
    cell = ("paper", "experiment", "dataset", "data_source", "mechanism", "calibration")
    tables: dict[bool, list[dict]] = {False: [], True: []}
    for index, (shape, epsilon, delta) in enumerate(specification["points"]):
        fixed = {name: specification[name] for name in cell} | {
            "shape": "x".join(map(str, shape)),
            "epsilon": epsilon,
            "delta": delta,
        }
        values = json.loads(part_path(folder, index).read_text())
        for value in _of_trial(specification["settings"].get("trial"), values):
            timing = value.pop("timing")
            tables[timing].append(fixed | value)
    types = {name: kind for kind, name in TYPES.items()}
    coordinates = [
        Coordinate(name, types[kind], "") for name, kind in specification["columns"].items()
    ]
    write_table(to_table(tables[False], coordinates), rows)
    write_table(to_table(tables[True], coordinates), timings)


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
