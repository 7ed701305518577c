"""Principal components of a released matrix, and the exact variance that they capture."""

import numpy as np


def principal_directions(symmetric: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues (m,) in decreasing order, and eigenvectors as the columns of (m, m).

    An asymmetric matrix (m, m), such as a noisy covariance, is replaced by its symmetric part.
    """
    values, vectors = np.linalg.eigh((symmetric + symmetric.T) / 2)
    return values[::-1], vectors[:, ::-1]


def captured_variance(covariance: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """v^T C v for every column v of `directions` (m, k), shape (k,) (mvg2018 eq. 4)."""
    return np.einsum("ij,ik,kj->j", directions, covariance, directions)
