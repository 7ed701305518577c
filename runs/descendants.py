"""Kill the processes that a cell started, even if they have changed their session or parent.

On Linux an orphan is adopted by its nearest ancestor that is a subreaper. On other systems the
init process adopts it, so it is not found here.
"""

import contextlib
import ctypes
import sys
from collections.abc import Collection

import psutil

_PR_SET_CHILD_SUBREAPER = 36
# A pass kills the processes it sees; those that are started meanwhile need another pass.
_PASSES = 100
_SECONDS_TO_END = 1.0


def adopt_orphans(adopt: bool = True) -> None:
    """Become the parent of descendants whose own parent ends, or stop doing so."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(adopt), 0, 0, 0)


def descendants(spared: Collection[int] = ()) -> list[psutil.Process]:
    """Return the descendants of this process, except those with the process ids `spared`."""
    found = psutil.Process().children(recursive=True)
    return [process for process in found if process.pid not in spared]


def end_descendants(spared: Collection[int] = ()) -> None:
    """Kill the descendants of this process, except those with the process ids `spared`."""
    for _ in range(_PASSES):
        if not (found := descendants(spared)):
            return
        # A suspended process cannot start another one while the rest are killed.
        for act in (psutil.Process.suspend, psutil.Process.kill):
            for process in found:
                with contextlib.suppress(psutil.Error):
                    act(process)
        psutil.wait_procs(found, timeout=_SECONDS_TO_END)
