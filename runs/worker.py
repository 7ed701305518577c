"""The warm process of a batch: it imports a study once and forks a child for each cell.

The parent (runs/warm_process.py) sends one line of JSON for each cell and enforces the limits. What
cells share is loaded before the fork. A child measures one grid point after the other and writes
each to a file, so that a killed cell goes on where it stopped; the file ``current`` says which
point was being measured when a child died.
"""

import contextlib
import functools
import gc
import importlib
import json
import math
import os
import resource
import select
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mechanisms import Inconsistent, OutOfRangeWarning, Unsupported, get_mechanism
from runs.cell_spec import CellSpec
from runs.job import ending_with
from runs.machine import MachineError, fault_of_machine
from runs.parts import begin, failure, read_part, write_part
from runs.result_table import CPU_SECONDS, ERROR, INCONSISTENT, OK, PEAK_MEMORY, UNSUPPORTED
from studies.base.agreement import require_agreement
from studies.base.case import Case, Point, Setup, Value, Variant
from studies.base.study import Study, study_named

WATCH_SECONDS = 0.2
# What most mechanisms load when they are first calibrated.
_MECHANISMS_IMPORT = ("scipy.fft", "scipy.linalg", "scipy.optimize.elementwise", "scipy.special")


# How often the warm process looks whether a child has ended whose descendants live on.
WAIT_SECONDS = 0.05


def main(name: str) -> None:
    """Import a study, then run the cells that stdin names, one line of JSON each.

    A line holds `cell` (see `CellSpec.to_json`), `folder` (of its unfinished work) and `log`. The
    answers, lines of JSON on stdout, are {"pid": ...} of the process that is at work (this one
    while it loads a problem, then the child), {"machine": reason} where the machine failed, and
    {"ended": status} with the exit status, negative for a signal.
    """
    parent = os.getppid()
    problems = Problems(import_study(name))
    tasks, answers = os.fdopen(os.dup(0)), os.dup(1)
    # A mechanism that reads stdin reads nothing.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for line in tasks:
        task = json.loads(line)
        cell, folder = CellSpec.from_json(task["cell"]), Path(task["folder"])
        prepare = functools.partial(problems.prepare, cell, task["log"], answers)
        status = _status_of(prepare, folder, answers)
        if status == 0:
            measure = functools.partial(run_points, problems, cell, folder)
            status = _in_child(measure, folder, answers, parent)
        _answer({"ended": status}, answers)


def import_study(name: str) -> Study:
    """A study, with the modules that its cells would import one by one."""
    study = study_named(name)
    for module in (*_MECHANISMS_IMPORT, *study.slow_imports):
        importlib.import_module(module)
    return study


class Problems:
    """The problems of a study, each loaded once for the cells that share it.

    Loaded before the fork, so that cells share the memory too. CUDA does not survive a fork: where
    the settings may use it, every cell loads its own.
    """

    def __init__(self, study: Study) -> None:
        self.study = study
        self._kept: tuple | None = None
        self._problem: Any = None
        _freeze()

    def prepare(self, cell: CellSpec, log: str, answers: int) -> None:
        """Load the problem of a cell before the fork, unless it is there; forget the last one."""
        _print_to(log)
        if self._kept == cell.problem or _setup(cell, self.study)["settings"].takes_gpu:
            return
        _answer({"pid": os.getpid()}, answers)
        self._kept = self._problem = None
        with ending_with(os.getppid()):
            self._problem = self._load(cell)
        self._kept = cell.problem
        sys.stdout.flush()
        _freeze()

    def of(self, cell: CellSpec) -> Any:
        """The problem of a cell."""
        return self._problem if self._kept == cell.problem else self._load(cell)

    def _load(self, cell: CellSpec) -> Any:
        return self.study.load(Setup(**_setup(cell, self.study)), Path(cell.data_folder))


def _setup(cell: CellSpec, study: Study) -> dict[str, Any]:
    """What all mechanisms share: the arguments of a `Setup`."""
    settings = study.Settings.of_cell(
        cell.settings,
        datasets=[cell.dataset],
        mechanisms=[cell.mechanism],
        calibrations=[cell.calibration],
        epsilons=list(dict.fromkeys(point.epsilon for point in cell.points)),
    )
    return {
        "study": cell.study,
        "dataset": cell.dataset,
        "settings": settings,
        "base_seed": cell.seed,
    }


def case_of(cell: CellSpec, study: Study, folder: Path | None = None) -> Case:
    """What a cell measures; `folder` is that of its unfinished work."""
    mechanism = get_mechanism(cell.use)
    return Case(
        **_setup(cell, study),
        variant=Variant(name=cell.mechanism, mechanism=mechanism, options=cell.options),
        calibration=cell.calibration,
        folder=folder,
        trial=cell.trial,
    )


def _freeze() -> None:
    """Never collect the objects that exist now, so that a child's collector copies none."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def _print_to(log: str) -> None:
    """Send what this process and its children print to the end of a log."""
    sys.stdout.flush()
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)


def _status_of(work: Callable[[], None], folder: Path, answers: int) -> int:
    """Do some work; returns the exit status that it means.

    A fault of the machine is answered before anything is printed: the disk that holds the log may
    be full.
    """
    try:
        work()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException as error:
        if reason := fault_of_machine(error, folder):
            _answer({"machine": reason}, answers)
        with contextlib.suppress(OSError):
            traceback.print_exc()
        return 1
    return 0


def _in_child(work: Callable[[], None], folder: Path, answers: int, parent: int) -> int:
    """Do some work in a forked process; returns its exit status, negative for a signal.

    Both end once `parent` is gone, as nothing else limits them.
    """
    ends, held = os.pipe()
    child = os.fork()
    if child == 0:
        _become_child(work, folder, answers)
    os.close(held)
    # The child does the same: whichever is first, its group exists before it is named.
    with contextlib.suppress(OSError):
        os.setpgid(child, child)
    _answer({"pid": child}, answers)
    try:
        return _exit_status(child, parent, ends)
    finally:
        os.close(ends)


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


def _answer(message: dict, answers: int) -> None:
    os.write(answers, (json.dumps(message) + "\n").encode())


def _become_child(work: Callable[[], None], folder: Path, answers: int) -> None:
    """Do some work in this forked process, which ends here."""
    status = 1
    try:
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
        status = _status_of(work, folder, answers)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        # Without the clean-up of the interpreter, which belongs to the process it was forked from.
        os._exit(status)


def _end_with(parent: int) -> None:
    """Kill this process and its children once `parent` is gone, as nothing else limits them."""
    while os.getppid() == parent:
        time.sleep(WATCH_SECONDS)
    os.killpg(os.getpgrp(), signal.SIGKILL)


def run_points(problems: Problems, cell: CellSpec, folder: Path) -> None:
    """Measure every point of the cell in `folder` that has no intact file there yet.

    Raises:
        MachineError: The machine failed while a point was measured; see `fault_of_machine`.
    """
    problem = problems.of(cell)
    case = case_of(cell, problems.study, folder)
    started, measured = time.monotonic(), 0
    for index, point in enumerate(cell.points):
        if read_part(folder, index) is not None:
            continue
        begin(folder, index)
        values = _measured(problems.study, problem, case, point)
        write_part(folder, index, values)
        measured += 1
        seconds = time.monotonic() - started
        left = seconds / measured * (len(cell.points) - index - 1)
        print(
            f"{cell.study} {cell.dataset} {cell.mechanism} {cell.calibration}: "
            f"point {index + 1} of {len(cell.points)}, {seconds:.1f} s, about {left:.0f} s left",
            file=sys.stderr,
            flush=True,
        )


def _measured(study: Study, problem: Any, case: Case, point: Point) -> list[dict]:
    """Rows of one point; an exception, or a number that is not finite, is a row, not a crash."""
    started = _cpu_seconds()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", OutOfRangeWarning)
        try:
            values = list(study.measure(problem, case, point))
            for value in values:
                study.check_declared(value)
            _require_finite(values)
            require_agreement(study, values)
        except Unsupported as reason:
            return failure(UNSUPPORTED, str(reason))
        except Inconsistent as contradiction:
            return failure(INCONSISTENT, str(contradiction))
        except Exception as error:
            if reason := fault_of_machine(error, case.folder):
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
