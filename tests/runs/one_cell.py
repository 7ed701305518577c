"""Cells under short paths or of made-up studies, and what a process of a cell did."""

import time

import psutil

from runs.cell_spec import CellSpec


def made_up(**fields):
    """A cell of no study; the fields that are not given say nothing."""
    texts = ("stem", "code", "asked", "paper", "study", "dataset", "data_source", "mechanism")
    nothing = dict.fromkeys([*texts, "calibration", "use", "data_folder"], "")
    nothing |= {name: () for name in ("packages", "reads", "points")}
    nothing |= {name: {} for name in ("options", "columns", "settings")}
    return CellSpec(**nothing | {"seed": 1} | fields)


def measured(folder):
    return [float(line) for line in (folder / "measured").read_text().split()]


def wait_for(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.05)


def ended(pid):
    """Whether a process has ended, possibly as a zombie."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
