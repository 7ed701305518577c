"""Ctrl-C while a command is still being imported, which takes seconds."""

import os
import signal

INTERRUPTED = 130  # 128 + SIGINT


def end_quietly() -> None:
    """Let Ctrl-C end this process with the status 130, without a traceback of the imports.

    A command calls it before its other imports; `arguments.run` gives Ctrl-C its usual meaning.
    """
    signal.signal(signal.SIGINT, _end)


def _end(number: int, frame: object) -> None:
    os._exit(INTERRUPTED)
