"""Find and end processes that outlive a test and still work in its folder."""

import shlex
import time
from pathlib import Path

import psutil

# Processes that wait for another one poll about every second; Slurm kills after 2 s.
PATIENCE = 20.0


def at_work_in(folder: Path) -> list[psutil.Process]:
    """The processes whose working folder is `folder` or below it, even if it was deleted."""
    found = []
    for process in psutil.process_iter():
        try:
            place = Path(process.cwd())
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
        if place.is_relative_to(folder):
            found.append(process)
    return found


def end_left_over(folder: Path, patience: float = PATIENCE) -> list[str]:
    """End the processes that still work in a folder after some seconds; return their commands."""
    deadline = time.monotonic() + patience
    while (found := at_work_in(folder)) and time.monotonic() < deadline:
        time.sleep(0.2)
    commands = []
    # A process may start another one before it ends.
    while found:
        for process in found:
            try:
                commands.append(shlex.join(process.cmdline()))
                # Some ignore SIGTERM.
                process.kill()
            except psutil.NoSuchProcess:
                continue
        psutil.wait_procs(found, timeout=PATIENCE)
        found = at_work_in(folder)
    return commands
