"""Processes that a cell started: they end with it, whatever session or parent they have by then.

On Linux an orphan becomes a child of its nearest ancestor that has asked for orphans; elsewhere it
becomes a child of the system's first process and is not found.
"""

import contextlib
import ctypes
import sys
from collections.abc import Collection

import psutil

_PR_SET_CHILD_SUBREAPER = 36
# A pass kills what it sees; a process that starts others meanwhile needs another pass.
_PASSES = 100
_SECONDS_TO_END = 1.0


def adopt_orphans(adopt: bool = True) -> None:
    """Become the parent of every descendant whose own parent ends, or stop being it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(adopt), 0, 0, 0)


def descendants(spared: Collection[int] = ()) -> list[psutil.Process]:
    """The processes that stem from this one, except those of the numbers `spared`."""
    found = psutil.Process().children(recursive=True)
    return [process for process in found if process.pid not in spared]


def end_descendants(spared: Collection[int] = ()) -> None:
    """Kill the descendants of this process, except those of the numbers `spared`."""
    for _ in range(_PASSES):
        if not (found := descendants(spared)):
            return
        # A process that is stopped starts no other one while the rest is killed.
        for act in (psutil.Process.suspend, psutil.Process.kill):
            for process in found:
                with contextlib.suppress(psutil.Error):
                    act(process)
        psutil.wait_procs(found, timeout=_SECONDS_TO_END)
