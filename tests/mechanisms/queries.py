"""Queries of every structure and any size, mechanisms on counts, trees and directions."""

import math

import numpy as np

from mechanisms import Budget, Query, get_mechanism
from mechanisms.strategies.workload_options import workload_factors


def box(*shape):
    """A complete query with l2 sensitivity 1; any answer in the range may become any other."""
    size = math.prod(shape)
    return Query(
        shape=shape,
        l2_sensitivity=1.0,
        l1_sensitivity=math.sqrt(size),
        element_range=(0.0, 1 / math.sqrt(size)),
        frobenius_bound=1.0,
        adjacency="local",
    )


def counts(*shape, adjacency="add-remove", record_bound=1.0):
    """A histogram of records that states only the l2 sensitivity, from which the others follow."""
    cells = 2 if adjacency == "replace" else 1
    return Query(
        shape=shape,
        l2_sensitivity=math.sqrt(cells) * record_bound,
        adjacency=adjacency,
        structure="histogram",
        record_bound=record_bound,
    )


def gram(size, *, bound=1.0, adjacency="replace", **stated):
    """A Gram matrix of records; the largest l2 sensitivity excludes no pair of them."""
    largest = bound**2 if adjacency == "add-remove" else 2 * bound**2
    kind = {"l2_sensitivity": largest, "structure": "gram", "record_bound": bound}
    return Query(**{"shape": (size, size), "adjacency": adjacency} | kind | stated)


def records(rows, columns, **stated):
    """A matrix whose columns are records, anywhere in [-1, 1]^rows; one of them is replaced."""
    kind = {
        "shape": (rows, columns),
        "l2_sensitivity": 2 * math.sqrt(rows),
        "element_range": (-1.0, 1.0),
        "frobenius_bound": math.sqrt(rows * columns),
        "adjacency": "replace",
        "structure": "records",
        "record_bound": math.sqrt(rows),
    }
    return Query(**kind | stated)


def rotation(size, seed):
    """Random directions (size, size)."""
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((size, size)))[0]


def on_counts(key, *shape, epsilon=1.0, adjacency="add-remove", **options):
    """A mechanism on a histogram, for the pure budget `epsilon`."""
    query = counts(*shape, adjacency=adjacency)
    return get_mechanism(key).calibrate(query, Budget(epsilon=epsilon), **options)


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
