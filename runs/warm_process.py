"""The parent's side of a batch's warm process: starts it, and limits the child of each cell."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from runs.cell_spec import CellSpec
from runs.machine import full_disk
from runs.result_table import ERROR, TIMEOUT

POLL_SECONDS = 0.05
# To list a process's descendants costs a look at every process of the machine.
DESCENDANTS_SECONDS = 1.0
GIB = 1 << 30
# Signals that come from outside: the system out of memory, a scheduler, a user.
FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
# glibc gives freed arrays back to the system, which clears their pages again for the next draw: 7%
# of the CPU seconds where noise is drawn. Other allocators ignore these.
_KEEP_FREED_MEMORY = {
    "MALLOC_MMAP_THRESHOLD_": str(64 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(256 << 20),
    "MALLOC_TOP_PAD_": str(16 << 20),
}
# A poll takes far less. What takes longer is a pause: of this process, by a scheduler or a user.
LONGEST_POLL_SECONDS = 5.0
# A mechanism this close to its limit was killed for its memory.
NEAR_LIMIT = 0.8


@dataclass(frozen=True)
class Ended:
    """How the child of a cell ended: the status and message of the point that it did not finish.

    Args:
        status: ERROR or TIMEOUT, or None where the machine is at fault and the point gets no row.
        message: Why.
    """

    status: str | None
    message: str


LOST = Ended(None, "the process that runs the cells ended; see the messages above")


class Allowance:
    """The seconds that a cell has left. While this process is paused, so is the cell, as a rule.

    Args:
        seconds: Of wall clock, without pauses.
    """

    def __init__(self, seconds: float) -> None:
        self.left = seconds
        self.looked = time.monotonic()

    def is_spent(self) -> bool:
        """Whether nothing is left; called at every poll."""
        now = time.monotonic()
        self.left -= min(now - self.looked, LONGEST_POLL_SECONDS)
        self.looked = now
        return self.left < 0


class WarmProcess:
    """A process that has imported a study and forks a child for each cell; see runs/worker.py.

    A new one is started where the last has ended.
    """

    def __init__(self, study: str) -> None:
        self.study = study
        self.process = self._start()

    def _start(self) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, "-m", "runs.worker", self.study],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Unbuffered, so that `select` sees every answer.
            bufsize=0,
            start_new_session=True,
            # One thread unless the caller says otherwise: the last bits of a matrix product, and
            # every second measured, depend on their number.
            env={
                "OMP_NUM_THREADS": "1",
                **_KEEP_FREED_MEMORY,
                **os.environ,
                "PYTHONPATH": _python_path(),
            },
        )

    def run(
        self, cell: CellSpec, folder: Path, log: Path, allowance: Allowance, limits: dict
    ) -> Ended:
        """Run a cell until its child ends, or kill it at a limit.

        Args:
            cell: The cell.
            folder: Its unfinished work.
            log: File that what the child prints is added to, and shown on stderr.
            allowance: What the cell has left; it is stopped where that is spent.
            limits: `seconds` and `memory_gib`, for the messages and the memory.
        """
        if self.process.poll() is not None:
            self.close()
            self.process = self._start()
        task = {"cell": cell.to_json(), "folder": str(folder), "log": str(log)}
        with open(log, "ab+") as shown:
            shown.seek(0, os.SEEK_END)
            try:
                self.process.stdin.write((json.dumps(task) + "\n").encode())
                return self._watch(folder, allowance, limits, shown)
            except BrokenPipeError:
                return LOST
            finally:
                _show(shown)

    def _watch(self, folder: Path, allowance: Allowance, limits: dict, shown) -> Ended:
        # The process that works: the warm one while it loads a problem, then the cell's child.
        at_work, machine, largest, listed = None, None, 0, time.monotonic()
        try:
            while True:
                for answer in self._answers():
                    if answer is None:
                        return LOST
                    at_work = answer.get("pid", at_work)
                    machine = answer.get("machine", machine)
                    if "ended" in answer:
                        machine = machine or full_disk(folder)
                        return _ended(answer["ended"], machine, largest, limits)
                _show(shown)
                now = time.monotonic()
                if at_work is not None:
                    if allowance.is_spent():
                        self._kill(at_work)
                        return Ended(
                            TIMEOUT, f"stopped at the cell's limit of {limits['seconds']:g} s"
                        )
                    descendants = now - listed > DESCENDANTS_SECONDS
                    listed = now if descendants else listed
                    resident = _resident_bytes(at_work, descendants)
                    largest = max(largest, resident)
                    if resident > limits["memory_gib"] * GIB:
                        self._kill(at_work)
                        return Ended(
                            ERROR, f"exceeded the memory limit of {limits['memory_gib']:g} GiB"
                        )
        finally:
            # Processes that the mechanism started end with its child.
            if at_work not in (None, self.process.pid):
                _kill_group(at_work)

    def _kill(self, at_work: int) -> None:
        """Kill a child and wait until its end is reported, or the warm process itself."""
        _kill_group(at_work)
        while not any(answer is None or "ended" in answer for answer in self._answers()):
            pass
        if at_work == self.process.pid:
            # Its pipe closes before its end can be seen: the next cell would be sent to it.
            self.process.wait()

    def _answers(self) -> list[dict | None]:
        """The answer that came within POLL_SECONDS, if any; None where the process has ended."""
        if not select.select([self.process.stdout], [], [], POLL_SECONDS)[0]:
            return []
        line = self.process.stdout.readline()
        return [json.loads(line) if line else None]

    def close(self) -> None:
        """End the process."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()


def _ended(status: int, machine: str | None, largest: int, limits: dict) -> Ended:
    """What the end of a child means; `machine` is what is wrong with the machine, or None."""
    if machine is not None:
        return Ended(None, machine)
    if status >= 0:
        return Ended(ERROR, f"the process ended with status {status}")
    number = -status
    died = f"the process died of signal {number} ({signal.strsignal(number)})"
    if number not in FROM_OUTSIDE:
        return Ended(ERROR, died)
    if largest > NEAR_LIMIT * limits["memory_gib"] * GIB:
        return Ended(
            ERROR,
            f"{died} while it held {largest / GIB:.2f} of the {limits['memory_gib']:g} GiB of its "
            "memory limit",
        )
    return Ended(None, f"{died}, which comes from outside: out of memory, a scheduler or a user")


def _kill_group(child: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)


def _show(log) -> None:
    """Copy what was added to a log to stderr."""
    sys.stderr.write(log.read().decode(errors="replace"))
    sys.stderr.flush()


def _resident_bytes(pid: int, descendants: bool) -> int:
    try:
        parent = psutil.Process(pid)
        children = parent.children(recursive=True) if descendants else []
        return sum(p.memory_info().rss for p in [parent, *children])
    except psutil.NoSuchProcess:
        return 0


def _python_path() -> str:
    """The child finds what the parent finds: the project, and modules of outside mechanisms."""
    return os.pathsep.join(path or os.getcwd() for path in sys.path)
