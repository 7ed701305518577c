"""The largest of a number over the changes that a query allows, between two bounds."""

from collections.abc import Iterable
from typing import NamedTuple

# Relative difference up to which bounds count as equal.
_ROUNDING = 1e-12


class Supremum(NamedTuple):
    """Bounds of a supremum; equal but for rounding where it is known."""

    lower: float
    upper: float

    @property
    def exact(self) -> bool:
        """Whether they are equal but for rounding."""
        return self.lower >= self.upper * (1 - _ROUNDING)


def best_bounds(lower: Iterable[float], upper: Iterable[float]) -> Supremum:
    """The best of several bounds; made equal where they differ by rounding alone."""
    best = Supremum(max(lower), min(upper))
    return Supremum(best.upper, best.upper) if best.exact else best
