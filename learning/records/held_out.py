"""A random split for data sets that have no official one."""

from __future__ import annotations

import numpy as np


def held_out(
    inputs: np.ndarray, labels: np.ndarray, tests: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training inputs and labels, then test inputs and labels, in random order.

    tests: records to hold out, fewer than there are.
    """
    test, train = np.split(rng.permutation(len(labels)), [tests])
    return inputs[train], labels[train], inputs[test], labels[test]
