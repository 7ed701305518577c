"""Rows of a comparison, computed in this process."""

import pandas as pd
from known_losses import gaussian_sigma

from mechanisms import Budget, Query
from mechanisms.comparison.advisor import COLUMNS, checked_task, ranked
from mechanisms.comparison.assessment import assessed_rows

BUDGET = Budget(epsilon=1.0, delta=1e-5)


def histogram(*shape, **others):
    """A histogram in which one record is added to or removed from one cell."""
    return Query(shape=shape, l2_sensitivity=1.0, l1_sensitivity=1.0, **others)


def rows_of(query, *keys, budget=BUDGET, workload="identity"):
    """The rows of some mechanisms, computed in this process."""
    task = checked_task(query, budget, workload)
    rows = [row for key in keys for row in assessed_rows(task, key)]
    return ranked(pd.DataFrame(rows, columns=list(COLUMNS)))


def row_of(frame, key, calibration):
    found = frame[(frame["mechanism"] == key) & (frame["calibration"] == calibration)]
    assert len(found) == 1
    return found.iloc[0]


SIGMA = gaussian_sigma(1.0)
