"""Histograms of records, mechanisms on them, errors of their workloads, and trees as matrices."""

import math

import numpy as np

from mechanisms import Budget, Query, get_mechanism
from mechanisms.strategies.workload_options import workload_factors


def histogram(*shape, l1=1.0):
    """If l1 = 1, a record is added or removed; otherwise it is replaced and changes two cells."""
    adjacency = "add-remove" if l1 == 1 else "replace"
    return Query(shape=shape, l2_sensitivity=l1**0.5, l1_sensitivity=l1, adjacency=adjacency)


def calibrated(key, *shape, epsilon=1.0, l1=1.0, **options):
    """A mechanism for the pure budget `epsilon` on such a query."""
    return get_mechanism(key).calibrate(
        histogram(*shape, l1=l1), Budget(epsilon=epsilon), **options
    )


def workload_error(mechanism):
    """E||W n||^2, the total squared error over the workload W."""
    return mechanism.noise.workload_variance(
        workload_factors(mechanism.query, **mechanism.settings)
    )


def tree_matrix(tree):
    """The measured blocks as a matrix (measurements, cells)."""
    size = math.prod(tree.shape)
    levels = tree.counts(np.eye(size).reshape(size, *tree.shape))
    return np.concatenate([level.reshape(size, -1).T for level in levels])
