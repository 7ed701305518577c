"""Queries for Gram matrices, and the mechanisms calibrated to them."""

from mechanisms import Budget, Query, get_mechanism

BUDGET = Budget(epsilon=0.8, delta=1e-6)


def gram(size, *, bound=1.0, adjacency="replace", **more):
    # The largest allowed l2 sensitivity. No mechanism may use it; the record bound decides.
    largest = bound**2 if adjacency == "add-remove" else 2 * bound**2
    stated = {"l2_sensitivity": largest, "structure": "gram", "record_bound": bound}
    return Query(shape=(size, size), adjacency=adjacency, **stated | more)


def calibrated(key, query, budget=BUDGET, calibration="published", **options):
    return get_mechanism(key).calibrate(query, budget, calibration, **options)
