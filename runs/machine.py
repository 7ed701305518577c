"""Tell faults of the machine, above all a full disk, from faults of a mechanism."""

import errno
import re
import select
import shutil
import tempfile
from pathlib import Path

from datasets import DataError

# A file system with less free space counts as full: libraries may hide the system's own error.
FULL_BYTES = 1 << 20
# Errors of the system as a whole. EMFILE is not among them: it is a limit of one process.
MACHINE_ERRORS = {
    errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.ESTALE, errno.ENFILE,
}  # fmt: skip

# Looked up once, because the lookup may write a file.
_TEMPORARY = tempfile.gettempdir()


class MachineError(Exception):
    """The machine failed, for example because its disk is full; no mechanism is at fault."""


def fault_of_machine(error: BaseException, folder: str | Path) -> str | None:
    """Describe the fault of the machine behind an error, or return None if there is none.

    Missing or damaged data files count too, because they say nothing about a mechanism. Libraries
    may wrap or replace the system's error, so this function follows the chain of errors. It then
    checks whether stderr is still read and whether a disk that the cell writes to is full.
    """
    cause: BaseException | None = error
    while cause is not None:
        of_system = isinstance(cause, OSError) and cause.errno in MACHINE_ERRORS
        if of_system or isinstance(cause, MachineError | DataError):
            return str(cause)
        cause = cause.__cause__ or cause.__context__
    return "nobody reads the output of this process any more" if is_unread(2) else full_disk(folder)


def is_unread(file: int) -> bool:
    """Return whether a file descriptor is a pipe whose reading end is closed.

    The cells of a job print to a pipe. It breaks if they, or commands that they start, go on while
    the job is being killed; an error that follows says nothing about a mechanism.
    """
    poll = select.poll()
    poll.register(file, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def full_disk(folder: str | Path) -> str | None:
    """Name a full disk among those that a cell writes to; return None if none is full."""
    for place in (folder, _TEMPORARY):
        if shutil.disk_usage(place).free < FULL_BYTES:
            return f"the disk of {place} is full"
    return None


def kills_for_memory() -> int | None:
    """Return how many processes Linux has killed for lack of memory since boot; None if unknown."""
    try:
        counters = Path("/proc/vmstat").read_text()
    except OSError:
        return None
    found = re.search(r"^oom_kill (\d+)$", counters, re.MULTILINE)
    return found and int(found[1])
