"""Start the warm process of a batch from the parent's side, and limit the child of each cell."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from runs.cell_spec import CellSpec
from runs.descendants import adopt_orphans, descendants, end_descendants
from runs.machine import full_disk, kills_for_memory
from runs.result_table import ERROR, TIMEOUT

POLL_SECONDS = 0.05
# Limits on the imports of a study, and on the report that a killed child has ended.
SECONDS_TO_START, SECONDS_TO_END = 600.0, 10.0
CHUNK = 1 << 16
# Listing descendants takes long, because it looks at every process of the machine.
DESCENDANTS_SECONDS = 1.0
GIB = 1 << 30
# Signals that come from outside: from the out-of-memory killer, a scheduler or a user.
FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
# By default glibc returns freed arrays to the system, which then clears their pages for the next
# draw: 7% of the CPU seconds of drawing noise. Other allocators ignore these variables.
_KEEP_FREED_MEMORY = {
    "MALLOC_MMAP_THRESHOLD_": str(64 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(256 << 20),
    "MALLOC_TOP_PAD_": str(16 << 20),
}
# A poll takes far less time; a longer one means that a scheduler or a user paused this process.
LONGEST_POLL_SECONDS = 5.0
# A mechanism that is killed this close to its limit was killed for its memory.
NEAR_LIMIT = 0.8
# The most bytes that a run adds to the log of a cell.
MOST_BYTES = 1 << 20
_STDERR = 2
# This leaves room for the line that says how much was left out.
_HALF = MOST_BYTES // 2 - 100


@dataclass(frozen=True)
class Ended:
    """The end of a cell's child, as the status and message of the point that it did not finish.

    Args:
        status: ERROR or TIMEOUT, or None if the machine is at fault and the point gets no row.
        message: The reason.
        certain: Whether the machine is certainly at fault: its disk is full, or it lacks memory.
    """

    status: str | None
    message: str
    certain: bool = False


class Allowance:
    """The seconds that a cell has left.

    Time in which this process was paused does not count, because the cell is usually paused too.

    Args:
        seconds: The wall-clock seconds without pauses.
    """

    def __init__(self, seconds: float) -> None:
        self.left = seconds
        self.looked = time.monotonic()

    def is_spent(self) -> bool:
        """Return whether nothing is left; call this at every poll."""
        now = time.monotonic()
        self.left -= min(now - self.looked, LONGEST_POLL_SECONDS)
        self.looked = now
        return self.left < 0


class CellLog:
    """A log file of limited size; use it as a context manager, which writes the end on exit.

    It adds at most `MOST_BYTES` to what earlier runs of the cell have written. The first half is
    written as it arrives; of the rest, only the end is kept. A failed write, as on a full disk,
    does not stop the cell: the OSError is raised on exit.

    Args:
        path: The path of the file.
    """

    def __init__(self, path: Path) -> None:
        self._fault: OSError | None = None
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = open(path, "ab", buffering=0)  # noqa: SIM115
        self._room = _HALF
        self._end = bytearray()
        self._left_out = 0

    def __enter__(self) -> "CellLog":
        return self

    def __exit__(self, kind: type | None, *_) -> None:
        if self._left_out:
            self._write(b"\n... %d bytes left out ...\n" % self._left_out)
        self._write(bytes(self._end))
        self._file.close()
        if self._fault and kind is None:
            raise self._fault

    def add(self, printed: bytes) -> None:
        """Append bytes to the log."""
        self._write(printed[: self._room])
        self._end += printed[self._room :]
        self._room = max(self._room - len(printed), 0)
        over = max(len(self._end) - _HALF, 0)
        del self._end[:over]
        self._left_out += over

    def _write(self, printed: bytes) -> None:
        # The terminal may be closed, or its file full: neither ends a cell. A stream with a buffer
        # would try the same bytes again when this process exits.
        with contextlib.suppress(OSError):
            os.write(_STDERR, printed)
        try:
            self._file.write(printed)
        except OSError as error:
            self._fault = error


class WarmProcess:
    """A process that has imported a study and forks a child for each cell; see runs/worker.py.

    If it has ended, `run` starts a new one.
    """

    def __init__(self, study: str) -> None:
        self.study = study
        self._start()

    def _start(self) -> None:
        # If the warm process is killed, this process adopts what its cells left behind.
        adopt_orphans()
        self._others = {process.pid for process in descendants()}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "runs.worker", self.study],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            # Use one thread unless the caller says otherwise: the last bits of a matrix product,
            # and every measured second, depend on the number of threads.
            env={
                "OMP_NUM_THREADS": "1",
                **_KEEP_FREED_MEMORY,
                **os.environ,
                # The child finds outside mechanisms too.
                "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path),
            },
        )
        os.set_blocking(self.process.stderr.fileno(), False)
        self._answered = b""

    def run(
        self, cell: CellSpec, folder: Path, log: CellLog, allowance: Allowance, limits: dict
    ) -> Ended:
        """Run a cell until its child ends, or kill it at a limit.

        Args:
            cell: The cell.
            folder: The folder of its unfinished work.
            log: The log that gets the child's output.
            allowance: The time that the cell has left; the cell is stopped once it is spent.
            limits: `memory_gib` of resident memory, and `seconds`, which only a message needs.
        """
        if self.process.poll() is not None:
            self.close()
            self._start()
        task = {"cell": cell.to_json(), "folder": str(folder.absolute())}
        kills = kills_for_memory()
        try:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.write((json.dumps(task) + "\n").encode())
            ended = self._watch(allowance, limits, log)
        finally:
            self._copy(log)
        if ended.status == TIMEOUT:
            return ended
        if full := full_disk(folder):
            return Ended(None, ended.message if ended.status is None else full, certain=True)
        return replace(ended, certain=kills is None or kills_for_memory() != kills)

    def _watch(self, allowance: Allowance, limits: dict, log: CellLog) -> Ended:
        # The warm process is at work while it loads a problem, then the cell's child is.
        at_work, largest, listed = None, 0, time.monotonic()
        start = Allowance(SECONDS_TO_START)
        while True:
            select.select([self.process.stdout, self.process.stderr], [], [], POLL_SECONDS)
            self._copy(log)
            while (line := self._answer(0.0)) is not None:
                if not line:
                    self.close()
                    lost = "the process that runs the cells ended; see the messages above"
                    return Ended(None, lost)
                answer = json.loads(line)
                at_work = answer.get("pid", at_work)
                if "ended" in answer:
                    return _interpret_end(answer, largest, limits)
            if at_work is None:
                if start.is_spent():
                    self.close()
                    return Ended(None, "the process that runs the cells does not answer")
                continue
            if allowance.is_spent():
                self._kill(at_work)
                return Ended(TIMEOUT, f"stopped at the cell's limit of {limits['seconds']:g} s")
            now = time.monotonic()
            look = now - listed > DESCENDANTS_SECONDS
            listed = now if look else listed
            resident = _resident_bytes(at_work, self.process.pid if look else None)
            largest = max(largest, resident)
            if resident > limits["memory_gib"] * GIB:
                self._kill(at_work)
                return Ended(ERROR, f"exceeded the memory limit of {limits['memory_gib']:g} GiB")

    def _kill(self, at_work: int) -> None:
        """Kill a child and wait for the report of its end; without one, close the warm process."""
        # The child may have left the group that it started with.
        for kill in (os.kill, os.killpg):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(at_work, signal.SIGKILL)
        while at_work != self.process.pid and (line := self._answer(SECONDS_TO_END)):
            if "ended" in json.loads(line):
                return
        self.close()

    def _answer(self, seconds: float) -> bytes | None:
        """Return the next line that the process answers, from what it has written so far.

        Returns:
            None if nothing comes within `seconds`, or only a part of a line, which is kept; b"" if
            the process has ended or answers without end.
        """
        readable = [self.process.stdout]
        if b"\n" not in self._answered and select.select(readable, [], [], seconds)[0]:
            written = os.read(self.process.stdout.fileno(), CHUNK)
            if not written:
                return b""
            self._answered += written
        line, end, rest = self._answered.partition(b"\n")
        if not end:
            # No answer is that long, so the process is out of order.
            return b"" if len(self._answered) > MOST_BYTES else None
        self._answered = rest
        return line + end

    def _copy(self, log: CellLog) -> None:
        """Append the output so far to the log, at most as much as a log holds."""
        for _ in range(MOST_BYTES // CHUNK):
            try:
                printed = os.read(self.process.stderr.fileno(), CHUNK)
            except (BlockingIOError, ValueError):
                return
            if not printed:
                return
            log.add(printed)

    def close(self) -> None:
        """End the process and whatever its cells left behind."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.kill()
        self.process.wait()
        end_descendants(self._others)
        adopt_orphans(False)
        self.process.stdout.close()


def _interpret_end(answer: dict, largest: int, limits: dict) -> Ended:
    """Decide what the end of a child means; `runs.worker.main` describes the answer."""
    status = answer["ended"]
    if "machine" in answer:
        return Ended(None, answer["machine"])
    if status >= 0:
        return Ended(ERROR, answer.get("reason", f"the process ended with status {status}"))
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


def _resident_bytes(pid: int, root: int | None) -> int:
    """Sum the resident memory of a process and of the descendants of `root`, if it is given."""
    total = 0
    with contextlib.suppress(psutil.NoSuchProcess):
        members = {psutil.Process(pid)}
        members |= set(psutil.Process(root).children(recursive=True) if root else [])
        for member in members:
            with contextlib.suppress(psutil.Error):
                total += member.memory_info().rss
    return total
