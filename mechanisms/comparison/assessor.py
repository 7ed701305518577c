"""A child process that assesses mechanisms one after another, each within a time limit.

A search for a strategy runs in native code, which neither an exception nor a signal handler stops:
it is killed with its process, and a new process continues with the next mechanism.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import select
import subprocess
import sys
from typing import Self

from mechanisms.base.registry import all_mechanisms
from mechanisms.comparison.assessment import (
    FAILED,
    TOO_SLOW,
    Task,
    assessed_rows,
    unserved_rows,
)

_PROGRAM = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from mechanisms.comparison.assessor import serve; serve()"
)
_READY = "ready\n"
_SECONDS_TO_START = 120.0


class Assessor:
    """Rows of mechanisms for one task; a context manager that ends its process.

    Args:
        task: What is asked of every mechanism.
        seconds: Time limit for one mechanism, all its budgets and calibrations together.
    """

    def __init__(self, task: Task, seconds: float) -> None:
        self.task = task
        self.seconds = seconds
        self._process: subprocess.Popen | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_) -> None:
        self._end()

    def rows(self, key: str) -> list[dict]:
        """One row for every budget and calibration; a mechanism over the limit says so."""
        if self._process is None:
            self._start()
        self._process.stdin.write(f"{json.dumps(key)}\n".encode())
        self._process.stdin.flush()
        answer = self._line(self.seconds)
        if answer is None:
            self._end()
            note = (
                f"takes longer than {self.seconds:g} seconds for this size (strategy, profile or "
                "draws); allow more with --seconds, or seconds= from Python"
            )
            return unserved_rows(self.task, key, TOO_SLOW, note)
        if not answer:
            self._end()
            note = "ended its process without an answer, which may be a lack of memory"
            return unserved_rows(self.task, key, FAILED, note)
        return json.loads(answer)

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # The searches multiply small matrices, where more threads mostly wait for each other.
            env={"OMP_NUM_THREADS": "1", **os.environ},
        )
        for message in (sys.path, self.task):
            pickle.dump(message, self._process.stdin)
        self._process.stdin.flush()
        if self._line(_SECONDS_TO_START) != _READY:
            self._end()
            raise RuntimeError("the process that assesses mechanisms did not start")

    def _line(self, seconds: float) -> str | None:
        """The next line of the child, empty if it has ended, None if it takes too long."""
        pipe = self._process.stdout
        if not select.select([pipe], [], [], seconds)[0]:
            return None
        return pipe.readline().decode()

    def _end(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            # What was not yet written to a dead process is lost with it.
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        self._process = None


def serve() -> None:
    """Answer every key on standard input with one line of JSON."""
    # What mechanisms print must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    task = pickle.load(sys.stdin.buffer)
    # Imports all mechanisms, so that no time limit counts it.
    all_mechanisms()
    answers.write(_READY)
    answers.flush()
    for line in sys.stdin.buffer:
        answers.write(json.dumps(assessed_rows(task, json.loads(line))) + "\n")
        answers.flush()
