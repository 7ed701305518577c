"""Scale records into [-1, 1]. Both scalings use the data themselves and are not private."""

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
