"""One cell in a folder: its specification, and the measured epsilons."""

import time
from dataclasses import replace

import psutil


def spec_as(stem, cell, config, code=None):
    """The specification of a cell under another path, or with the digest of other code."""
    spec = cell.spec(config)
    return replace(spec, stem=stem, code=code or spec.code)


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
