"""Metrics of studies, and how far a value may differ between machines at the same seed.

The default tolerance is `EXACT`: another order of sums and products changes only the last digits.
Training amplifies these differences, so studies that train networks declare wider tolerances.
"""

import math
from dataclasses import KW_ONLY, dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Tolerance:
    """The largest allowed |again - before|: relative * |before| + absolute + spreads * spread.

    Args:
        relative: The part proportional to the value.
        absolute: The constant part, in units of the metric.
        spreads: The part in standard deviations of the difference of two trials of a grid point.
    """

    relative: float = 0.0
    absolute: float = 0.0
    spreads: float = 0.0

    def allowed(self, before: float, spread: float) -> float:
        """Return the largest difference from `before`; `spread` is in the unit of `spreads`."""
        return self.relative * abs(before) + self.absolute + self.spreads * spread


EXACT = Tolerance(relative=1e-9)
# Like EXACT, but for numbers of order one that are zero up to rounding if there is no noise.
ROUNDED = Tolerance(relative=1e-9, absolute=1e-12)
# For budgets and scales found by the numerical search of an accountant.
ACCOUNTED = Tolerance(relative=1e-4)
# For deltas of an accountant, whose relative error is tens of times larger; below 1e-14 they are
# negligible.
ACCOUNTED_DELTA = Tolerance(relative=2e-3, absolute=1e-14)
# For shares of test records after training: one percentage point, plus the usual spread of trials.
SCORE = Tolerance(absolute=0.01, spreads=2.0)


@dataclass(frozen=True)
class Metric:
    """A number that a study measures.

    Args:
        name: The name in the tables.
        meaning: One line for the data dictionary, with the range.
        unit: The unit; empty if the number has none or `meaning` states it.
        tolerance: How far the value may differ on another machine.
        is_map: Whether the values are whole maps, which are stored in a separate file.
        title: The name shown to readers. Leaderboards rank by the metrics that have a title; the
            first one is the main one.
        better: Whether smaller or larger values rank first.
        largest: The largest possible value; the least value of a ranked metric is 0.
        closed_form: The metric that states the mean of this one in closed form. Mechanisms that
            have it are ranked by it instead.
    """

    name: str
    meaning: str
    unit: str = ""
    _: KW_ONLY
    tolerance: Tolerance = EXACT
    is_map: bool = False
    title: str = ""
    better: Literal["smaller", "larger"] = "smaller"
    largest: float = math.inf
    closed_form: str = ""

    @property
    def described(self) -> str:
        """The meaning with the unit."""
        return f"{self.meaning}, {self.unit}" if self.unit else self.meaning

    @property
    def heading(self) -> str:
        """The title with the unit."""
        return f"{self.title} ({self.unit})" if self.unit else self.title

    @property
    def columns(self) -> tuple[str, ...]:
        """The metrics that rank, in order of preference."""
        return (self.closed_form, self.name) if self.closed_form else (self.name,)
