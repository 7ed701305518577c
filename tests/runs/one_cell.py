"""One cell in a folder: its plan, and what was measured."""

import time

import psutil


def planned_as(stem, cell, config, digest=None):
    """The plan of a cell under another path, or with another digest."""
    plan = cell.planned(config) | {"stem": stem}
    return plan | ({} if digest is None else {"digest": digest})


def measured(folder):
    return [float(line) for line in (folder / "measured").read_text().split()]


def wait_for(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.05)


def ended(pid):
    """Whether a process is gone (or only waits for its parent to notice)."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
