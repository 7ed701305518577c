"""A clock that does not depend on the machine."""

import itertools
from types import SimpleNamespace

import pytest

from mechanisms.check import stated_profile, timed_releases

# Seconds of a call for releases, about as those of this suite take.
PACE = 1e-4


@pytest.fixture
def steady_clock(monkeypatch, request):
    """By the clock of a check every call for releases, or losses, takes `PACE`, or what is given.

    How many it draws, and so what it catches, is then the same on a fast, a slow and a busy
    machine.
    """
    instants = itertools.count(step=getattr(request, "param", PACE))
    clock = SimpleNamespace(process_time=lambda: next(instants))
    for module in (timed_releases, stated_profile):
        monkeypatch.setattr(module, "time", clock)
