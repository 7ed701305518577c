"""A child process that answers questions one after another, each within a time limit.

A signal handler cannot interrupt native code, and a mechanism may end its own process. So a process
that is late is killed, and the next question starts a new one.
"""

import contextlib
import importlib
import json
import os
import pickle
import signal
import subprocess
import sys
from typing import Any

from mechanisms.base.registry import all_mechanisms
from mechanisms.comparison.line_reader import LineReader

_PROGRAM = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from mechanisms.comparison.limited_process import serve; serve()"
)
_READY = b"ready\n"
_SECONDS_TO_START = 120.0


class NoAnswer(Exception):
    """A question has no answer; the message continues a sentence that begins with "It"."""


class TooSlow(NoAnswer):
    """The answer takes longer than the time limit."""


class LimitedProcess:
    """A child process, started by the first question.

    Args:
        function: "module:function" of (shared, question), which returns what JSON can hold.
        shared: The first argument for all questions; it is pickled once for each process.
    """

    def __init__(self, function: str, shared: object) -> None:
        self._messages = (sys.path, (*function.split(":"), shared))
        self._process: subprocess.Popen | None = None
        self._lines: LineReader | None = None

    def ask(self, question: object, seconds: float) -> Any:
        """The function's answer.

        Args:
            question: What JSON can hold.
            seconds: The time limit, which does not include the start of the process.

        Raises:
            TooSlow: No answer within the limit; the process is killed.
            NoAnswer: The process ended, or wrote something other than JSON.
            RuntimeError: The process did not start.
        """
        if self._process is None:
            self._start()
        # The pipe is broken if the process has ended; then `line` returns b"".
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(f"{json.dumps(question)}\n".encode())
            self._process.stdin.flush()
        answer = self._lines.line(seconds)
        if answer is None:
            self.close()
            raise TooSlow(f"takes longer than {seconds:.3g} seconds")
        if not answer:
            self.close()
            raise NoAnswer("ended its process without an answer, which may be a lack of memory")
        try:
            return json.loads(answer)
        except ValueError:
            self.close()
            raise NoAnswer("wrote into the answers of its process") from None

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # The matrices are small: more threads would mostly wait for each other.
            env={"OMP_NUM_THREADS": "1", **os.environ},
            start_new_session=True,
        )
        self._lines = LineReader(self._process.stdout)
        with contextlib.suppress(BrokenPipeError):
            for message in self._messages:
                pickle.dump(message, self._process.stdin)
            self._process.stdin.flush()
        if self._lines.line(_SECONDS_TO_START) != _READY:
            self.close()
            raise RuntimeError("the child process did not start")

    def close(self) -> None:
        """Kill the process, if there is one, and the others of its process group."""
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            # Closing flushes what was not yet written, which a dead process cannot read.
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        self._process = None


def serve() -> None:
    """Answer every question on standard input with one line of JSON."""
    # Text that the function prints must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    module, name, shared = pickle.load(sys.stdin.buffer)
    function = getattr(importlib.import_module(module), name)
    # Import all mechanisms now, so that the time limit of no question includes it.
    all_mechanisms()
    answers.write(_READY.decode())
    answers.flush()
    for line in sys.stdin.buffer:
        answers.write(json.dumps(function(shared, json.loads(line))) + "\n")
        answers.flush()
