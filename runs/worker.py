"""The warm process of a batch: it imports a study once and forks a child for each cell.

The parent (runs/warm_process.py) sends one line of JSON for each cell and enforces the limits. A
child measures one grid point after the other and writes each to a file, so that a killed cell goes
on where it stopped; the file ``current`` says which point was being measured when a child died.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import importlib
import json
import math
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path

from datasets import DataError
from mechanisms import Inconsistent, OutOfRangeWarning, Unsupported, get_mechanism
from runs.parts import SPECIFICATION, begin, failure, read_part, write_part
from runs.result_table import CPU_SECONDS, ERROR, INCONSISTENT, OK, PEAK_MEMORY, UNSUPPORTED
from studies.base.coordinates import check_declared
from studies.base.study import Names, Point, Value, Variant

WATCH_SECONDS = 0.2
# How often the warm process looks whether a child has ended whose descendants live on.
WAIT_SECONDS = 0.05
# Below this a file system counts as full: libraries hide the system's error in their own.
FULL_BYTES = 1 << 20
# What most mechanisms load when they are first calibrated.
_MECHANISMS_IMPORT = ("scipy.fft", "scipy.linalg", "scipy.optimize", "scipy.special")
# Errors of the system that no mechanism causes.
MACHINE_ERRORS = {
    errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.ESTALE, errno.EMFILE, errno.ENFILE,
}  # fmt: skip


class MachineError(Exception):
    """The machine failed, for example its disk is full; no mechanism is at fault."""


def main(study: str) -> None:
    """Import a study, then run the cells that stdin names, one line of JSON each.

    A line holds `folder` (of the cell's unfinished work) and `log`. The answers, lines of JSON on
    stdout, are {"pid": ...} when the child has started, {"machine": reason} where the machine
    failed, and {"ended": status} with the child's exit status, negative for a signal.
    """
    parent = os.getppid()
    study = import_study(study)
    # Objects that exist now are never collected, so that a child's collector does not copy them.
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        cell = json.loads(line)
        ends, held = os.pipe()
        child = os.fork()
        if child == 0:
            _become_child(study, cell["folder"], cell["log"])
        os.close(held)
        # The child does the same: whichever is first, its group exists before it is named.
        with contextlib.suppress(OSError):
            os.setpgid(child, child)
        _answer({"pid": child})
        _answer({"ended": _exit_status(child, parent, ends)})
        os.close(ends)


def import_study(name: str):
    """The module of a study, with the modules that its cells would import one by one."""
    study = importlib.import_module(f"studies.{name}")
    for module in (*_MECHANISMS_IMPORT, *getattr(study, "SLOW_IMPORTS", ())):
        importlib.import_module(module)
    return study


def _exit_status(child: int, parent: int, ends: int) -> int:
    """Wait for the child; end it and this process once `parent` is gone.

    The other end of the pipe `ends` is held by the child, and by what it forks.
    """
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if os.getppid() != parent:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            os._exit(1)
        # The child closes its end a little before it can be waited for.
        if select.select([ends], [], [], WAIT_SECONDS)[0]:
            time.sleep(0.001)


def _answer(message: dict, to: int = 1) -> None:
    os.write(to, (json.dumps(message) + "\n").encode())


def _become_child(study, folder: str, log: str) -> None:
    """Measure the cell in this forked process, which ends here."""
    status = 1
    try:
        parent = os.getppid()
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
        answers = os.dup(1)
        _redirect(log)
        try:
            run_points(study, folder)
            status = 0
        except MachineError as error:
            traceback.print_exc()
            _answer({"machine": str(error)}, answers)
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        # Without the clean-up of the interpreter, which belongs to the process it was forked from.
        os._exit(status)


def _redirect(log: str) -> None:
    """Send what this process prints to the log; a mechanism that reads stdin reads nothing."""
    sys.stdout.flush()
    files = [(os.open(os.devnull, os.O_RDONLY), 0)]
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for file, standard in [*files, (output, 1), (output, 2)]:
        os.dup2(file, standard)


def _end_with(parent: int) -> None:
    """Kill this process and its children once `parent` is gone, as nothing else limits them."""
    while os.getppid() == parent:
        time.sleep(WATCH_SECONDS)
    os.killpg(os.getpgrp(), signal.SIGKILL)


def run_points(study, folder: str) -> None:
    """Measure every point of the cell in `folder` that has no intact file there yet.

    Raises:
        MachineError: The machine failed, or files of data are missing or damaged. Neither says
            anything about the mechanism.
    """
    with _machine_errors(folder):
        specification = json.loads(Path(folder, SPECIFICATION).read_text())
    variant = Variant(
        name=specification["mechanism"],
        mechanism=get_mechanism(specification["use"]),
        options=specification["options"],
    )
    names = Names(
        base_seed=specification["seed"],
        study=specification["study"],
        dataset=specification["dataset"],
        mechanism=specification["mechanism"],
        folder=Path(folder),
    )
    settings, dataset = specification["settings"], specification["dataset"]
    try:
        problem = study.load(settings, dataset, Path(specification["data_folder"]), names)
    except DataError as error:
        raise MachineError(str(error)) from error
    points = [Point.from_list(data) for data in specification["points"]]
    started, measured = time.monotonic(), 0
    for index, point in enumerate(points):
        with _machine_errors(folder):
            if read_part(folder, index) is not None:
                continue
            begin(folder, index)
        values = _measured(study, problem, variant, specification["calibration"], point, names)
        with _machine_errors(folder):
            write_part(folder, index, values)
        measured += 1
        seconds = time.monotonic() - started
        left = seconds / measured * (len(points) - index - 1)
        print(
            f"{specification['study']} {dataset} {variant.name} "
            f"{specification['calibration']}: point {index + 1} of {len(points)}, "
            f"{seconds:.1f} s, about {left:.0f} s left",
            file=sys.stderr,
            flush=True,
        )


@contextlib.contextmanager
def _machine_errors(folder: str | Path) -> Iterator[None]:
    """Raise MachineError in place of an error that is the machine's."""
    try:
        yield
    except Exception as error:
        if reason := _fault_of_machine(error, folder):
            raise MachineError(reason) from error
        raise


def _fault_of_machine(error: BaseException, folder: str | Path) -> str | None:
    """What is wrong with the machine, or None where an error is not the machine's.

    Libraries may wrap the system's error, or replace it: hence the chain of errors, and the look at
    the disks that a cell writes to.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in MACHINE_ERRORS:
            return str(cause)
        cause = cause.__cause__ or cause.__context__
    for place in (folder, tempfile.gettempdir()):
        if shutil.disk_usage(place).free < FULL_BYTES:
            return f"the disk of {place} is full"
    return None


def _measured(
    study, problem, variant: Variant, calibration: str, point: Point, names: Names
) -> list[dict]:
    """Rows of one point; an exception, or a number that is not finite, is a row, not a crash."""
    started = _cpu_seconds()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", OutOfRangeWarning)
        try:
            values = list(study.measure(problem, variant, calibration, point, names))
            _require_declared(study, values)
            _require_finite(values)
        except Unsupported as reason:
            return failure(UNSUPPORTED, str(reason))
        except Inconsistent as contradiction:
            return failure(INCONSISTENT, str(contradiction))
        except Exception as error:
            if reason := _fault_of_machine(error, names.folder):
                raise MachineError(reason) from error
            traceback.print_exc()
            return failure(ERROR, f"{type(error).__name__}: {error}")
        finally:
            notices = _notices(caught)
    message = "; ".join(dict.fromkeys(notices))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT
    values.append(Value(PEAK_MEMORY, float(peak), timing=True))
    values.append(Value(CPU_SECONDS, _cpu_seconds() - started, timing=True))
    return [
        {
            "metric": value.metric,
            "value": float(value.value),
            "trial": value.trial,
            **value.at,
            "seed": value.seed,
            "status": OK,
            "message": message,
            "timing": value.timing,
        }
        for value in values
    ]


def _cpu_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _require_declared(study, values: list[Value]) -> None:
    for value in values:
        check_declared(value.metric, value.at, study.METRICS, study.COORDINATES)


def _require_finite(values: list[Value]) -> None:
    for value in values:
        if not math.isfinite(value.value):
            where = "" if value.trial is None else f" in trial {value.trial}"
            raise ArithmeticError(f"{value.metric} is {value.value}{where}")


def _notices(caught: list[warnings.WarningMessage]) -> list[str]:
    """Out-of-range use, which goes into the rows; every other warning goes to stderr."""
    notices = []
    for w in caught:
        if issubclass(w.category, OutOfRangeWarning):
            notices.append(str(w.message))
        else:
            text = warnings.formatwarning(w.message, w.category, w.filename, w.lineno)
            sys.stderr.write(text)
    return notices


# getrusage gives kilobytes on Linux and bytes on macOS.
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024

if __name__ == "__main__":
    main(*sys.argv[1:])
