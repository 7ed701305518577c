"""A random split for data sets that have no official one."""

import numpy as np


def random_split(
    inputs: np.ndarray, labels: np.ndarray, tests: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return training inputs and labels, then test inputs and labels, in random order.

    Args:
        inputs: (n, ...).
        labels: (n,).
        tests: Number of test records, below n.
        rng: Draws the order; scikit-learn's `train_test_split` would draw another one.
    """
    test, train = np.split(rng.permutation(len(labels)), [tests])
    return inputs[train], labels[train], inputs[test], labels[test]
