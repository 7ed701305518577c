"""Bounds on the largest value of a number over the changes that a query allows."""

from collections.abc import Iterable
from typing import NamedTuple

# Relative difference up to which bounds count as equal.
_ROUNDING = 1e-12


class Supremum(NamedTuple):
    """Bounds on a supremum; equal up to rounding if it is known."""

    lower: float
    upper: float

    @property
    def exact(self) -> bool:
        """Whether the bounds are equal up to rounding."""
        return self.lower >= self.upper * (1 - _ROUNDING)


def best_bounds(lower: Iterable[float], upper: Iterable[float]) -> Supremum:
    """Return the best of several bounds, made equal if they differ by rounding alone."""
    best = Supremum(max(lower), min(upper))
    return Supremum(best.upper, best.upper) if best.exact else best
