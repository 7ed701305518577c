"""The effort of `verify` in tests, and a clock that does not depend on the machine."""

import itertools
from types import SimpleNamespace

import pytest

from mechanisms import verify
from mechanisms.check import evidence
from mechanisms.check.checks import QUICK

# Seconds of a call for releases, about what the mechanisms of this suite take.
PACE = 1e-4


@pytest.fixture(autouse=True)
def few_releases(monkeypatch):
    """Let `verify` compare as few releases as a study does.

    The tests in tests/mechanisms/check cover the larger effort.
    """
    monkeypatch.setitem(verify.__kwdefaults__, "effort", QUICK)


@pytest.fixture
def steady_clock(monkeypatch, request):
    """Let every call for releases take `PACE` on the check's clock, or a given time.

    The number of draws, and thus what a check catches, is then the same on every machine.
    """
    instants = itertools.count(step=getattr(request, "param", PACE))
    clock = SimpleNamespace(process_time=lambda: next(instants))
    monkeypatch.setattr(evidence, "time", clock)
