"""The numbers of one metric among the values that a study measured."""

import numpy as np


def numbers(values, metric):
    """All, in order."""
    return [value.value for value in values if value.metric == metric]


def number(values, metric):
    """The only one."""
    (found,) = numbers(values, metric)
    return found


def series(values, metric):
    """Those of trials 0, 1, ... as an array."""
    found = [value for value in values if value.metric == metric]
    assert [value.trial for value in found] == list(range(len(found)))
    return np.array([value.value for value in found])
