"""Checking the seeds and sizes that simulated data take."""

import numpy as np


def require_counts(**counts: tuple[int, int]) -> None:
    """Compare arguments with their minima, both by the argument's name.

    Raises:
        TypeError: an argument is not an int.
        ValueError: an argument is below its minimum.
    """
    for name, (value, lowest) in counts.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise TypeError(f"{name} must be an int, got {value!r}")
        if value < lowest:
            raise ValueError(f"{name} must be at least {lowest}, got {value}")
