"""Measure how fast a quantity grows with a size, as the exponent of a power law."""

import math
from collections.abc import Sequence


def power(values: Sequence[float], sizes: Sequence[float]) -> float:
    """Return the exponent of the power law through two points.

    Args:
        values, sizes: The coordinates of the points, all positive; the sizes differ.
    """
    return math.log(values[1] / values[0]) / math.log(sizes[1] / sizes[0])
