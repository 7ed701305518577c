"""Mechanisms calibrated to queries for Gram matrices."""

from mechanisms import Budget, get_mechanism

BUDGET = Budget(epsilon=0.8, delta=1e-6)


def calibrated(key, query, budget=BUDGET, calibration="published", **options):
    return get_mechanism(key).calibrate(query, budget, calibration, **options)
