"""Scale records, and find the principal directions of a matrix and the variance along them.

Both scalings map into [-1, 1]. They use the data themselves, so they are not private.
"""

import numpy as np


def scale_columns(values: np.ndarray) -> np.ndarray:
    """Map every column of an array (N, m) onto [-1, 1]; a constant column becomes zero.

    The least and the largest value of a column become exactly -1 and 1, so that no value lies
    outside [-1, 1]. `sklearn.preprocessing.minmax_scale` may miss them by rounding.
    """
    low, high = values.min(axis=0), values.max(axis=0)
    varies = low < high
    # The scaling works in place, because the records of a study may fill gigabytes.
    scaled = np.subtract(values, low, dtype=float)
    scaled *= 2
    scaled /= np.where(varies, high - low, 1)
    scaled -= 1
    scaled[:, ~varies] = 0
    return scaled


def scale_by_largest(values: np.ndarray) -> np.ndarray:
    """Divide an array (N, m) by its largest absolute value."""
    return values / np.abs(values).max()


def first_records(values: np.ndarray, records: int) -> np.ndarray:
    """Return the first `records` rows of an array (N, m).

    Raises:
        ValueError: The array has fewer than `records` rows.
    """
    if len(values) < records:
        raise ValueError(
            f"records must be at most {len(values)}, the number in the data, got {records}; "
            "lower it"
        )
    return values[:records]


def principal_directions(symmetric: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Decompose the symmetric part of a matrix (m, m), such as a noisy covariance.

    Returns:
        The eigenvalues (m,) in decreasing order, and the eigenvectors as columns of an array
        (m, m), in the same order.
    """
    values, vectors = np.linalg.eigh((symmetric + symmetric.T) / 2)
    return values[::-1], vectors[:, ::-1]


def captured_variance(covariance: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Return the variance v^T C v along each column v of `directions`, as in mvg2018 eq. 4.

    C is `covariance` (m, m), `directions` is (m, k), and the result is (k,).
    """
    return np.einsum("ij,ik,kj->j", directions, covariance, directions)
