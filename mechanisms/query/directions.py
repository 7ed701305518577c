"""Checks the directions of directional matrix noise."""

import numpy as np


def orthonormal(name: str, directions, size: int) -> np.ndarray | None:
    """An orthogonal (size, size) array with one direction per column; None for the identity.

    None costs no matrix product.

    Raises:
        ValueError: Not (size, size), or its columns are not orthonormal to 1e-8.
    """
    if directions is None:
        return None
    directions = np.asarray(directions, dtype=float)
    if directions.shape != (size, size):
        raise ValueError(f"option {name} must have shape {(size, size)}, got {directions.shape}")
    worst = float(np.abs(directions.T @ directions - np.eye(size)).max())
    if worst > 1e-8:
        raise ValueError(
            f"the columns of option {name} must be orthonormal, got inner products off by "
            f"{worst:.2g}; orthonormalise them first (numpy.linalg.qr)"
        )
    return None if np.array_equal(directions, np.eye(size)) else directions
