"""Implied epsilon: the budget at which a mechanism reaches a number that a paper states for it."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from claims.discovery import paper_modules
from claims.intervals import SHOWN, Effect, Interval
from claims.judged_rows import listed
from claims.verdicts import CALIBRATION_TITLES

# The budgets that a closed form is searched in.
LEAST, MOST = 1e-15, 1e15
# Of log(epsilon), from one budget that is tried to the next.
_STEP = math.log(1e3)
# Of one budget over the one before it.
_FAR_APART = 10.0


@dataclass(frozen=True)
class Implied:
    """Where a curve over epsilon first reaches a number.

    Args:
        value: The epsilon; infinite where the curve does not reach the number.
        interval: The epsilons at which the upper and the lower end of the curve's interval reach
            it; infinite where they do not, and 0 where the upper end does at the smallest epsilon.
        tried: The smallest and the largest epsilon of the curve.
    """

    value: float
    interval: Interval
    tried: Interval

    @property
    def reached(self) -> bool:
        """Whether the curve reaches the number."""
        return self.value < math.inf

    def __str__(self) -> str:
        """ "12.3 [10, 15]", "1 [0.5 or less, 2]", "at most 0.1" or "not reached up to 50"."""
        if not self.reached:
            near = self.interval.low < math.inf
            words = f"not reached up to {self.tried.high:g}"
            return f"{words}, within the interval from {self.interval.low:.3g}" if near else words
        if self.interval.high <= self.tried.low:
            return f"at most {self.tried.low:g}"
        if self.interval.low == self.value == self.interval.high:
            return f"{self.value:.3g}"
        low, high = self.interval
        first = f"[{low:.3g}" if low > 0 else f"[{self.tried.low:g} or less"
        last = f"{high:.3g}]" if high < math.inf else f"above {self.tried.high:g}]"
        return f"{self.value:.3g} {first}, {last}"


@dataclass(frozen=True, kw_only=True)
class StatedNumber:
    """A number that a paper states for a mechanism, and the epsilons at which it has it.

    Args:
        claim: Id of the claim about the number; empty where the ledger has none.
        where: The table or figure of the paper.
        mechanism: Title of the mechanism.
        number: The number in words.
        epsilon: What the paper says of its epsilon.
        implied: The epsilon by calibration; one may be missing.
        source: What ours rests on: "closed form", or a study and its trials.
    """

    claim: str
    where: str
    mechanism: str
    number: str
    epsilon: str
    implied: Mapping[str, Implied]
    source: str

    def __str__(self) -> str:
        """ "TLDP-L, F1 0.9, MNIST: 2.02 as published (paper: below 1; private_data, 5 trials)"."""
        found = listed(
            f"{self.implied[calibration]} {words}"
            for calibration, words in CALIBRATION_TITLES.items()
            if calibration in self.implied
        )
        return f"{self.mechanism}, {self.number}: {found} (paper: {self.epsilon}; {self.source})"


def implies(*studies: str):
    """Declare a function of the rows of a run that yields numbers of its module's paper.

    Args:
        studies: Those whose rows it reads.
    """

    def declare(function: Callable[[pd.DataFrame], Iterator[StatedNumber]]):
        function.implied_by = studies
        return function

    return declare


def _declared() -> Iterator[tuple[str, Callable[[pd.DataFrame], Iterator[StatedNumber]]]]:
    """The declared functions with the keys of their papers."""
    for module in paper_modules():
        # A list, as a warning that a function raises adds a name to its module.
        for function in list(vars(module).values()):
            if hasattr(function, "implied_by") and function.__module__ == module.__name__:
                yield module.__name__.split(".")[1], function


def implying_studies() -> list[str]:
    """The studies whose rows `stated_numbers` reads, in alphabetical order."""
    return sorted({study for _, function in _declared() for study in function.implied_by})


def stated_numbers(rows: pd.DataFrame) -> Iterator[tuple[str, StatedNumber]]:
    """The numbers of all papers with the paper's key, as far as the rows have what they need."""
    for paper, function in _declared():
        for stated in function(rows):
            yield paper, stated


def implied_by_claim(rows: pd.DataFrame) -> dict[str, list[str]]:
    """The same by the id of the claim about them, in words."""
    found: dict[str, list[str]] = {}
    for _, stated in stated_numbers(rows):
        found.setdefault(stated.claim, []).append(str(stated))
    return found


def on_curve(effects: Mapping[float, Effect], stated: float, confidence: float = SHOWN) -> Implied:
    """The first epsilon at which measured scores reach the stated one; more is better.

    Between two budgets the score follows a line in log(epsilon). The ends of the interval are where
    the upper and the lower ends of the scores' intervals, each at this confidence, reach it; or the
    budgets around those places, where they are more than tenfold apart and a line says little.

    Args:
        effects: The score at every budget.
        stated: The paper's score.
    """
    epsilons = np.array(sorted(effects))
    intervals = [effects[epsilon].interval(confidence) for epsilon in epsilons]
    means = [effects[epsilon].value for epsilon in epsilons]
    upper, value, lower = (
        _first(epsilons, np.array(curve), stated)
        for curve in ([high for _, high in intervals], means, [low for low, _ in intervals])
    )
    # Where the score may be the number at the first budget, it may be below that, too.
    least = 0.0 if upper == epsilons[0] else _around(epsilons, upper).low
    interval = Interval(least, _around(epsilons, lower).high)
    return Implied(value, interval, Interval(epsilons[0], epsilons[-1]))


def _around(epsilons: np.ndarray, epsilon: float) -> Interval:
    """The budgets on both sides of an epsilon if they are far apart, else the epsilon alone."""
    after = np.searchsorted(epsilons, epsilon)
    if 0 < after < len(epsilons) and epsilons[after] > _FAR_APART * epsilons[after - 1]:
        return Interval(float(epsilons[after - 1]), float(epsilons[after]))
    return Interval(epsilon, epsilon)


def _first(epsilons: np.ndarray, scores: np.ndarray, stated: float) -> float:
    """Where a line through these scores in log(epsilon) first reaches the stated one."""
    above = np.flatnonzero(scores >= stated)
    if not len(above):
        return math.inf
    after = above[0]
    if after == 0:
        return float(epsilons[0])
    before = after - 1
    share = (stated - scores[before]) / (scores[after] - scores[before])
    return float(epsilons[before] * (epsilons[after] / epsilons[before]) ** share)


def in_closed_form(error: Callable[[float], float], stated: float) -> Implied:
    """The epsilon at which an error, a continuous function that falls with it, is the stated one.

    Its interval has no width.
    """

    def excess(power: float) -> float:
        return math.log(error(math.exp(power)) / stated)

    def implied(value: float) -> Implied:
        return Implied(value, Interval(value, value), Interval(LEAST, MOST))

    # From epsilon 1 to where the error is on the other side of the stated one: extreme budgets,
    # where calibration is slow or fails, are seldom needed.
    power, above = 0.0, excess(0.0) > 0
    end, step = (math.log(MOST), _STEP) if above else (math.log(LEAST), -_STEP)
    while (excess(power) > 0) == above:
        if power == end:
            return implied(math.inf if above else LEAST)
        before, power = power, min(power + step, end) if above else max(power + step, end)
    return implied(math.exp(scipy.optimize.brentq(excess, before, power, rtol=1e-10)))
