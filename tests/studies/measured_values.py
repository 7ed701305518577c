"""Select the numbers of one metric from the values that a study measured."""

import numpy as np


def numbers(values, metric):
    """All numbers of the metric, in order."""
    return [value.value for value in values if value.metric == metric]


def number(values, metric):
    """The only number of the metric."""
    (found,) = numbers(values, metric)
    return found


def series(values, metric):
    """The numbers of trials 0, 1, ... as an array."""
    found = [value for value in values if value.metric == metric]
    assert [value.trial for value in found] == list(range(len(found)))
    return np.array([value.value for value in found])
