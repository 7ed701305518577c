"""The effort of `verify` in tests."""

import pytest

from mechanisms import verify
from mechanisms.check.checks import QUICK


@pytest.fixture(autouse=True)
def few_releases(monkeypatch):
    """Let `verify` compare as few releases as a study does.

    The tests in tests/mechanisms/check cover the larger effort.
    """
    monkeypatch.setitem(verify.__kwdefaults__, "effort", QUICK)
