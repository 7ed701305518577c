"""What a study measures, and how far a value may lie from another machine's with the same seed.

A metric is `EXACT` unless it says otherwise: sums and products in another order change its last
digits only. Training amplifies such digits, so that studies that train declare what is still the
same result.
"""

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import Literal


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


@dataclass(frozen=True)
class Metric:
    """A number that a study measures.

    Args:
        name: As in the tables.
        meaning: One line for the data dictionary, with the range.
        unit: Empty where the number has none, or `meaning` says it.
        tolerance: How far it may lie from its value on another machine.
        is_map: Whether its values are whole maps, which a file of their own keeps.
        title: Its name for readers. A leaderboard ranks by the metrics that have one, the first
            is the main one.
        better: The direction in which it ranks.
        largest: The largest value that it can have; the least of what ranks is 0.
        closed_form: The metric that it is the mean of, in closed form: ranks in its place where a
            mechanism has it.
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


def ranked(metric: Metric, title: str) -> Metric:
    """A share of test records as what a leaderboard ranks by."""
    return replace(metric, title=title, better="larger", largest=1.0)
