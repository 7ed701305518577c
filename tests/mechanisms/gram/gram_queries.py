"""Queries for Gram matrices, and the mechanisms calibrated to them."""

import warnings

from mechanisms import Budget, OutOfRangeWarning, Query, get_mechanism

BUDGET = Budget(epsilon=0.8, delta=1e-6)


def gram(size, *, bound=1.0, adjacency="replace", **more):
    # No mechanism may use this l2 sensitivity: everything follows from the record bound.
    stated = {"l2_sensitivity": 1e9, "structure": "gram", "record_bound": bound}
    return Query(shape=(size, size), adjacency=adjacency, **stated | more)


def calibrated(key, query, budget=BUDGET, calibration="published", **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutOfRangeWarning)
        return get_mechanism(key).calibrate(query, budget, calibration, **options)
