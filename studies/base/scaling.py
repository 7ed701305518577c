"""Records scaled into [-1, 1]. Both scalings use the data themselves and are not private."""

import numpy as np


def scale_columns(values: np.ndarray, *, constant: float | None = None) -> np.ndarray:
    """Every column of (N, m) mapped onto [-1, 1], its least value to -1 and its largest to 1.

    The ends are exact, so that the result lies in the box; those of
    `sklearn.preprocessing.minmax_scale` are off by rounding.

    Args:
        values: (N, m).
        constant: What a column that has one value only becomes; None: there must be none.

    Raises:
        ValueError: A column has one value only, and `constant` is None.
    """
    low, high = values.min(axis=0), values.max(axis=0)
    varies = low < high
    if constant is None and not varies.all():
        column = int(np.argmin(varies))
        raise ValueError(f"column {column} has one value only and cannot be scaled onto [-1, 1]")
    # In place: the records of a study may fill gigabytes.
    scaled = np.subtract(values, low, dtype=float)
    scaled *= 2
    scaled /= np.where(varies, high - low, 1)
    scaled -= 1
    scaled[:, ~varies] = constant
    return scaled


def scale_by_largest(values: np.ndarray) -> np.ndarray:
    """All of (N, m) divided by its largest absolute value."""
    return values / np.abs(values).max()


def first_records(values: np.ndarray, records: int) -> np.ndarray:
    """The first `records` rows of (N, m).

    Raises:
        ValueError: There are fewer.
    """
    if len(values) < records:
        raise ValueError(
            f"records must be at most {len(values)}, the number in the data, got {records}; "
            "lower it"
        )
    return values[:records]
