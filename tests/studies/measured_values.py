"""Select the numbers of one metric from the values that a study measured."""

import numpy as np

from mechanisms import get_mechanism

# Its error is that of its noise and of the zeros that it puts in place of the answer.
ZEROED = type(
    "Zeroed",
    (get_mechanism("laplace"),),
    {"prepared": lambda self, value: 0 * value, "only_adds_noise": False},
)


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
