"""How fast a quantity grows with a size: the exponent of a power law."""

import math
from collections.abc import Sequence


def power(values: Sequence[float], sizes: Sequence[float]) -> float:
    """The exponent of the power law through two points: values and sizes are pairs, all > 0."""
    return math.log(values[1] / values[0]) / math.log(sizes[1] / sizes[0])
