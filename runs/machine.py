"""Faults of the machine, above all a full disk, told from faults of a mechanism."""

import errno
import re
import shutil
import tempfile
from pathlib import Path

from datasets import DataError

# Below this a file system counts as full: libraries hide the system's error in their own.
FULL_BYTES = 1 << 20
# Errors of the system as a whole. EMFILE is none: the limit is that of one process. EPIPE is what a
# cell meets that prints while the job that started it is being killed.
MACHINE_ERRORS = {
    errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.ESTALE, errno.ENFILE, errno.EPIPE,
}  # fmt: skip

# Looked up once, as that may write a file.
_TEMPORARY = tempfile.gettempdir()


class MachineError(Exception):
    """The machine failed, for example its disk is full; no mechanism is at fault."""


def fault_of_machine(error: BaseException, folder: str | Path) -> str | None:
    """What is wrong with the machine, or None where an error is not the machine's.

    Files of data that are missing or damaged say nothing about a mechanism either. Libraries may
    wrap the system's error, or replace it: hence the chain of errors, and the look at the disks
    that a cell writes to.
    """
    cause: BaseException | None = error
    while cause is not None:
        of_system = isinstance(cause, OSError) and cause.errno in MACHINE_ERRORS
        if of_system or isinstance(cause, MachineError | DataError):
            return str(cause)
        cause = cause.__cause__ or cause.__context__
    return full_disk(folder)


def full_disk(folder: str | Path) -> str | None:
    """Which of the disks that a cell writes to is full, in words; None where none is."""
    for place in (folder, _TEMPORARY):
        if shutil.disk_usage(place).free < FULL_BYTES:
            return f"the disk of {place} is full"
    return None


def kills_for_memory() -> int | None:
    """How often the system has killed a process for lack of memory; None where it does not say."""
    try:
        counters = Path("/proc/vmstat").read_text()
    except OSError:
        return None
    found = re.search(r"^oom_kill (\d+)$", counters, re.MULTILINE)
    return found and int(found[1])
