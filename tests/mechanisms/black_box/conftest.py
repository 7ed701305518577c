"""A black box to audit, and a clock that does not depend on the machine."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from black_boxes import CODE

from mechanisms.verification import timed_releases

# Seconds of a call for releases, about as those of this suite take.
PACE = 1e-4


@pytest.fixture
def black_box(tmp_path, monkeypatch):
    """The module's name and the file of a pair at l1 distance 1."""
    (tmp_path / "black_box_under_audit.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    np.savez("pair.npz", first=np.zeros(3), second=np.eye(3)[0])
    return "black_box_under_audit", "pair.npz"


@pytest.fixture
def steady_clock(monkeypatch, request):
    """By the clock of a check every call for releases takes `PACE`, or the seconds given.

    How many it draws, and so what it catches, is then the same on a fast, a slow and a busy
    machine.
    """
    instants = itertools.count(step=getattr(request, "param", PACE))
    clock = SimpleNamespace(process_time=lambda: next(instants))
    monkeypatch.setattr(timed_releases, "time", clock)
