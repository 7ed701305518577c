"""Principal components of a released matrix, their exact variance, and scaled records.

Records are scaled into [-1, 1]. Both scalings use the data themselves and are not private.
"""

import numpy as np


def scale_columns(values: np.ndarray) -> np.ndarray:
    """Map every column of (N, m) onto [-1, 1], its least value to -1 and its largest to 1.

    A constant column becomes zero. The ends are exact, so that the result lies in the box;
    `sklearn.preprocessing.minmax_scale` misses them by rounding.
    """
    low, high = values.min(axis=0), values.max(axis=0)
    varies = low < high
    # Computed in place, because the records of a study may fill gigabytes.
    scaled = np.subtract(values, low, dtype=float)
    scaled *= 2
    scaled /= np.where(varies, high - low, 1)
    scaled -= 1
    scaled[:, ~varies] = 0
    return scaled


def scale_by_largest(values: np.ndarray) -> np.ndarray:
    """Divide all of (N, m) by its largest absolute value."""
    return values / np.abs(values).max()


def first_records(values: np.ndarray, records: int) -> np.ndarray:
    """The first `records` rows of (N, m).

    Raises:
        ValueError: There are fewer rows.
    """
    if len(values) < records:
        raise ValueError(
            f"records must be at most {len(values)}, the number in the data, got {records}; "
            "lower it"
        )
    return values[:records]


def principal_directions(symmetric: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues (m,) in decreasing order, and eigenvectors as the columns of (m, m).

    An asymmetric matrix (m, m), such as a noisy covariance, is replaced by its symmetric part.
    """
    values, vectors = np.linalg.eigh((symmetric + symmetric.T) / 2)
    return values[::-1], vectors[:, ::-1]


def captured_variance(covariance: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """v^T C v for every column v of `directions` (m, k), shape (k,) (mvg2018 eq. 4)."""
    return np.einsum("ij,ik,kj->j", directions, covariance, directions)
