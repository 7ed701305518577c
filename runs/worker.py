"""The warm process of a batch: it imports a study once and forks a child for each cell.

The parent (runs/warm_process.py) sends one line of JSON for each cell and enforces the limits. The
problem that cells share is loaded before the fork. A child measures its grid points in sequence and
writes each to a file, so that a killed cell resumes where it stopped; the file ``current`` says
which point was being measured when a child died.
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
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from mechanisms import Inconsistent, OutOfRangeWarning, Unsupported, get_mechanism
from runs.cell_spec import CellSpec
from runs.descendants import adopt_orphans, descendants, end_descendants
from runs.job import exit_with_process
from runs.machine import MachineError, fault_of_machine
from runs.parts import clean, failure, read_part, set_current_point, write_part
from runs.result_table import CPU_SECONDS, ERROR, INCONSISTENT, OK, PEAK_MEMORY, UNSUPPORTED
from studies.base.agreement import require_agreement
from studies.base.case import Case, Point, Setup, Value, Variant
from studies.base.study import Study, study_named

WATCH_SECONDS = 0.2
# Most mechanisms import these modules when they are first calibrated.
_MECHANISMS_IMPORT = ("scipy.fft", "scipy.linalg", "scipy.optimize.elementwise", "scipy.special")


# The interval at which the warm process checks for a child that ended before its descendants.
WAIT_SECONDS = 0.05
# A cell that takes longer than this in total prints its progress after every point.
TOLD_SECONDS = 60.0
# The most bytes that are read of the reason that a child gives.
_MOST_TOLD = 1 << 16


def main(name: str) -> None:
    """Import a study, then run the cells that stdin names, one line of JSON each.

    A line holds `cell` (see `CellSpec.to_json`) and the `folder` of its unfinished work. The
    answers are lines of JSON on stdout. {"pid": ...} names the process at work: this one while it
    loads a problem, then the child. {"ended": status} has the exit status, negative for a signal,
    and the reason if it is known, as `machine` if the machine failed and as `reason` otherwise.
    Printed output goes to stderr. Whatever a child started has ended before the answer is sent.
    """
    # Otherwise an interrupt from outside would raise an exception, which blames the mechanism.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = os.getppid()
    adopt_orphans()
    problems = Problems(import_study(name))
    tasks, answers = os.dup(0), os.dup(1)
    # A mechanism that reads stdin gets nothing, and its output cannot be taken for an answer.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    for line in os.fdopen(tasks):
        task = json.loads(line)
        cell, folder = CellSpec.from_json(task["cell"]), Path(task["folder"])
        status, told = _status_of(functools.partial(problems.prepare, cell, answers), folder)
        if status == 0:
            measure = functools.partial(run_points, problems, cell, folder)
            status, told = _in_child(measure, folder, (tasks, answers), parent)
        _answer({"ended": status} | told, answers)


def import_study(name: str) -> Study:
    """Import a study, and the modules that each of its cells would otherwise import by itself."""
    study = study_named(name)
    for module in (*_MECHANISMS_IMPORT, *study.slow_imports):
        importlib.import_module(module)
    return study


class Problems:
    """The problems of a study, each loaded once for the cells that share it.

    A problem is loaded before the fork, so that cells share its memory. CUDA does not survive a
    fork, so every cell loads its own problem if the settings may use CUDA.
    """

    def __init__(self, study: Study) -> None:
        self.study = study
        self._kept: tuple | None = None
        self._problem: Any = None
        _freeze()

    def prepare(self, cell: CellSpec, answers: int) -> None:
        """Load the problem of a cell before the fork, in place of the last one, if it differs."""
        if self._kept == cell.problem or _setup(cell, self.study)["settings"].takes_gpu:
            return
        _answer({"pid": os.getpid()}, answers)
        self._kept = self._problem = None
        with exit_with_process(os.getppid()):
            self._problem = self._load(cell)
        self._kept = cell.problem
        sys.stdout.flush()
        _freeze()

    def get(self, cell: CellSpec) -> Any:
        """Return the problem of a cell."""
        return self._problem if self._kept == cell.problem else self._load(cell)

    def _load(self, cell: CellSpec) -> Any:
        return self.study.load(Setup(**_setup(cell, self.study)), Path(cell.data_folder))


def _setup(cell: CellSpec, study: Study) -> dict[str, Any]:
    """Return the arguments of the `Setup` of a cell."""
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


def case_of(cell: CellSpec, study: Study, folder: Path) -> Case:
    """Return the case that a cell measures; `folder` holds its unfinished work."""
    return Case(
        **_setup(cell, study),
        variant=Variant(
            name=cell.mechanism, mechanism=get_mechanism(cell.use), options=cell.options
        ),
        calibration=cell.calibration,
        folder=folder,
        trial=cell.trial,
    )


def _freeze() -> None:
    """Exempt existing objects from garbage collection, so that no child copies their memory."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def _status_of(work: Callable[[], None], folder: Path) -> tuple[int, dict]:
    """Do some work; return the exit status that it stands for, and the reason as in `main`."""
    try:
        work()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None), {}
    except BaseException as error:
        _print(traceback.format_exc())
        if reason := fault_of_machine(error, folder):
            return 1, {"machine": clean(reason)}
        return 1, {"reason": _error_text(error)}
    return 0, {}


def _error_text(error: BaseException) -> str:
    return clean(f"{type(error).__name__}: {clean(error)}")


def _print(text: str) -> None:
    # A mechanism may have closed the stream.
    with contextlib.suppress(Exception):
        sys.stderr.write(text)
        sys.stderr.flush()


def _in_child(
    work: Callable[[], None], folder: Path, own: tuple[int, int], parent: int
) -> tuple[int, dict]:
    """Do some work in a forked process; return its exit status and the reason, as in `main`.

    Both processes end once `parent` is gone: nothing else limits them. The child closes the
    files `own`, through which this process gets its tasks and answers them.
    """
    before = [process.pid for process in descendants()]
    ends, held = os.pipe()
    # The mark tells a reason from whatever a mechanism writes into open file descriptors.
    mark = os.urandom(16)
    child = os.fork()
    if child == 0:
        _become_child(work, folder, (*own, ends), lambda told: os.write(held, mark + told))
    os.close(held)
    # Parent and child both do this, so that the group exists before the child is announced.
    with contextlib.suppress(OSError):
        os.setpgid(child, child)
    _answer({"pid": child}, own[1])
    try:
        status = _exit_status(child, parent, ends)
        end_descendants(before)
        os.set_blocking(ends, False)
        told = os.read(ends, _MOST_TOLD).partition(mark)[2]
        return status, json.loads(told or "{}")
    except BlockingIOError:
        return status, {}
    finally:
        os.close(ends)


def _exit_status(child: int, parent: int, ends: int) -> int:
    """Wait for the child; end it and this process once `parent` is gone.

    The child and its forks hold the other end of the pipe `ends`.
    """
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if os.getppid() != parent:
            end_descendants()
            os._exit(1)
        # The child closes its end a little before it can be waited for.
        if select.select([ends], [], [], WAIT_SECONDS)[0]:
            time.sleep(0.001)


def _answer(message: dict, answers: int) -> None:
    os.write(answers, (json.dumps(message) + "\n").encode())


def _become_child(
    work: Callable[[], None], folder: Path, own: Iterable[int], tell: Callable[[bytes], object]
) -> None:
    """Do some work in this forked process, report the reason of a failure, and exit."""
    status = 1
    try:
        for file in own:
            os.close(file)
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        threading.Thread(target=_die_with_parent, args=(os.getppid(),), daemon=True).start()
        status, told = _status_of(work, folder)
        if told:
            tell(json.dumps(told).encode())
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
    finally:
        # Skip the interpreter's clean-up, which belongs to the process that forked this one.
        os._exit(status)


def _die_with_parent(parent: int) -> None:
    """Kill this process and its children once `parent` is gone: nothing else limits them."""
    while os.getppid() == parent:
        time.sleep(WATCH_SECONDS)
    os.killpg(os.getpgrp(), signal.SIGKILL)


def run_points(problems: Problems, cell: CellSpec, folder: Path) -> None:
    """Measure every point of the cell in `folder` that has no intact file there yet.

    Raises:
        MachineError: The machine failed while a point was measured; see `fault_of_machine`.
    """
    problem = problems.get(cell)
    case = case_of(cell, problems.study, folder)
    started, measured = time.monotonic(), 0
    own, mask = os.getpid(), os.umask(0)
    os.umask(mask)
    for index, point in enumerate(cell.points):
        if read_part(folder, index) is not None:
            continue
        set_current_point(folder, index)
        values = _measure_point(problems.study, problem, case, point)
        if os.getpid() != own:
            # The mechanism forked and its child returned here; the original goes on with the cell.
            os._exit(0)
        # The mechanism may have changed the mask, and the parent has to read the part.
        os.umask(mask)
        write_part(folder, index, values)
        measured += 1
        seconds = time.monotonic() - started
        left = seconds / measured * (len(cell.points) - index - 1)
        if seconds + left > TOLD_SECONDS:
            _print(
                f"{cell.study} {cell.dataset} {cell.mechanism} {cell.calibration}: point "
                f"{index + 1} of {len(cell.points)}, {seconds:.0f} s, about {left:.0f} s left\n"
            )


def _measure_point(study: Study, problem: Any, case: Case, point: Point) -> list[dict]:
    """Measure one point; an exception or a number that is not finite becomes a failure row."""
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
            return failure(UNSUPPORTED, reason)
        except Inconsistent as contradiction:
            return failure(INCONSISTENT, contradiction)
        except Exception as error:
            if reason := fault_of_machine(error, case.folder):
                raise MachineError(reason) from error
            _print(traceback.format_exc())
            return failure(ERROR, _error_text(error))
        finally:
            notices = _notices(caught)
    message = clean("; ".join(dict.fromkeys(notices)))
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
    """Return warnings of out-of-range use, which go into the rows; print the others to stderr."""
    notices = []
    for w in caught:
        if issubclass(w.category, OutOfRangeWarning):
            notices.append(clean(w.message))
        else:
            _print(warnings.formatwarning(w.message, w.category, w.filename, w.lineno))
    return notices


# getrusage reports kilobytes on Linux and bytes on macOS.
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024

if __name__ == "__main__":
    main(*sys.argv[1:])
