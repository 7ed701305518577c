"""Queries on which every mechanism's assumptions hold."""

import math

import pytest
from queries import box

from mechanisms import Budget, Query, verify
from mechanisms.check.checks import QUICK

# 89 x 89 elements with the l2 sensitivity of r1smg2024's count query. With this element range
# IDN's s_hat^2 is also 2. The l1 sensitivity is that of all elements changing at once.
UBER = Query(
    shape=(89, 89),
    l2_sensitivity=math.sqrt(2),
    l1_sensitivity=math.sqrt(2) * 89,
    element_range=(0.0, math.sqrt(2 / 89**2)),
    frobenius_bound=50_000.0,
    adjacency="replace",
)
UBER_BUDGET = Budget(epsilon=0.5, delta=1e-7)


@pytest.fixture(autouse=True)
def few_releases(monkeypatch):
    """Let `verify` compare as few releases as a study does.

    The tests in tests/mechanisms/check cover the larger effort.
    """
    monkeypatch.setitem(verify.__kwdefaults__, "effort", QUICK)


@pytest.fixture
def uber():
    return UBER


@pytest.fixture
def uber_budget():
    return UBER_BUDGET


@pytest.fixture
def make_query():
    """Returns a function that makes a complete query of any shape with l2 sensitivity 1."""
    return box
