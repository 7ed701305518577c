"""How far a value may lie from the one that another machine computed with the same seed.

A study declares `TOLERANCES`, from its metrics to a `Tolerance`. A metric without an entry is
`EXACT`: sums and products in another order change its last digits only. Training amplifies such
digits, so that studies that train declare what is still the same result.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Tolerance:
    """The largest |again - before|: relative * |before| + absolute + spreads * spread.

    Args:
        relative: Share of the value.
        absolute: In units of the metric.
        spreads: In standard deviations of the metric over the trials of its grid point.
    """

    relative: float = 0.0
    absolute: float = 0.0
    spreads: float = 0.0

    def allowed(self, before: float, spread: float) -> float:
        """The largest difference at a value `before` and a standard deviation over trials."""
        return self.relative * abs(before) + self.absolute + self.spreads * spread


EXACT = Tolerance(relative=1e-9)
# As EXACT, for numbers of order one that are zero but for rounding where there is no noise.
ROUNDED = Tolerance(relative=1e-9, absolute=1e-12)
# Budgets and scales that a numerical search of an accountant found.
ACCOUNTED = Tolerance(relative=1e-4)
# Their deltas move by tens of times as much; one below 1e-14 is nothing.
ACCOUNTED_DELTA = Tolerance(relative=2e-3, absolute=1e-14)
# Shares of test records, after training: a point, and what trials differ by anyway.
SCORE = Tolerance(absolute=0.01, spreads=2.0)


def tolerances(tolerance: Tolerance, *metrics: str) -> dict[str, Tolerance]:
    """The same tolerance for several metrics."""
    return dict.fromkeys(metrics, tolerance)
