"""Implied epsilons: the epsilons at which mechanisms reach the numbers that papers state."""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from claims.discovery import functions_with, paper_modules
from claims.intervals import SHOWN, Effect, Interval
from claims.judged_rows import listed
from claims.verdicts import CALIBRATION_TITLES

# `in_closed_form` searches between these epsilons, in so many steps from 1 to either of them.
LEAST, MOST, _STEPS = 1e-15, 1e15, 5
# Two neighbouring epsilons of a curve are far apart if their ratio exceeds this.
_FAR_APART = 10.0


@dataclass(frozen=True)
class Implied:
    """The epsilon at which a curve over epsilon first reaches a number.

    Args:
        value: The epsilon; infinite if the curve does not reach the number.
        interval: The epsilons at which the upper and the lower ends of the curve's 95% intervals
            reach the number. An end that does not reach it gives infinity. `low` is 0 if the upper
            end reaches it at the smallest epsilon.
        tried: The smallest and the largest epsilon of the curve.
    """

    value: float
    interval: Interval
    tried: Interval

    def __str__(self) -> str:
        """Format as "12.3 [10, 15]", "1 [0.5 or less, 2]" or "not reached up to 50"."""
        if self.value == math.inf:
            near = self.interval.low < math.inf
            words = f"not reached up to {self.tried.high:g}"
            return f"{words}, within the interval from {self.interval.low:.3g}" if near else words
        if self.interval.high <= self.tried.low:
            return f"at most {self.tried.low:g}"
        if self.interval.low == self.value == self.interval.high:
            return f"{self.value:.3g}"
        low, high = self.interval
        value = f"{self.value:.3g}" + (" or less" if self.value <= self.tried.low else "")
        first = f"[{low:.3g}" if low > 0 else f"[{self.tried.low:g} or less"
        last = f"{high:.3g}]" if high < math.inf else f"above {self.tried.high:g}]"
        return f"{value} {first}, {last}"


@dataclass(frozen=True, kw_only=True)
class StatedNumber:
    """A number that a paper states for a mechanism, and the epsilons at which it is reached.

    Args:
        claim: The id of the claim about the number; "" if the ledger has none.
        where: The table or figure of the paper.
        mechanism: The title of the mechanism.
        number: The number in words.
        epsilon: The epsilon that the paper gives, in words.
        implied: The implied epsilon by calibration; a calibration may be missing.
        source: The source of `implied`: "closed form", or a study and its trials.
    """

    claim: str
    where: str
    mechanism: str
    number: str
    epsilon: str
    implied: Mapping[str, Implied]
    source: str

    def __str__(self) -> str:
        """Format as "TLDP-L, F1 0.9: 2.02 as published (paper: below 1; 5 trials)"."""
        found = listed(
            f"{self.implied[calibration]} {words}"
            for calibration, words in CALIBRATION_TITLES.items()
            if calibration in self.implied
        )
        return f"{self.mechanism}, {self.number}: {found} (paper: {self.epsilon}; {self.source})"


def implies(*studies: str):
    """Declare a function that takes the rows of a run and yields the stated numbers of its paper.

    Args:
        studies: The studies whose rows it reads.
    """

    def declare(function: Callable[[pd.DataFrame], Iterator[StatedNumber]]):
        function.implied_by = studies
        return function

    return declare


def _declared() -> Iterator[tuple[str, Callable[[pd.DataFrame], Iterator[StatedNumber]]]]:
    """Yield each declared function after the key of its paper."""
    for module in paper_modules():
        for function in functions_with(module, "implied_by"):
            yield module.__name__.split(".")[1], function


def implying_studies() -> list[str]:
    """Return the studies whose rows `stated_numbers` reads, in alphabetical order."""
    return sorted({study for _, function in _declared() for study in function.implied_by})


def stated_numbers(rows: pd.DataFrame) -> Iterator[tuple[str, StatedNumber]]:
    """Yield the stated numbers for which the rows suffice, each after the key of its paper."""
    for paper, function in _declared():
        for stated in function(rows):
            yield paper, stated


def on_curve(effects: Mapping[float, Effect], stated: float) -> Implied:
    """Find the first epsilon at which measured scores reach the stated one; larger is better.

    Between two epsilons, the score is interpolated linearly in log(epsilon). The ends of the
    interval are the epsilons at which the upper and the lower ends of the scores' intervals reach
    the stated score. If the measured epsilons around such an end are more than tenfold apart,
    interpolation says little, and the outer one of the two is used instead.

    Args:
        effects: The score by epsilon; at least one.
        stated: The paper's score.
    """
    epsilons = np.array(sorted(effects))
    low, high = np.array([effects[epsilon].interval(SHOWN) for epsilon in epsilons]).T
    means = np.array([effects[epsilon].value for epsilon in epsilons])
    upper, value, lower = (_first_crossing(epsilons, curve, stated) for curve in (high, means, low))
    # A score that may reach the number at the first epsilon may reach it at a smaller one too.
    least = 0.0 if upper == epsilons[0] else _enclosing_epsilons(epsilons, upper).low
    interval = Interval(least, _enclosing_epsilons(epsilons, lower).high)
    return Implied(value, interval, Interval(epsilons[0], epsilons[-1]))


def _enclosing_epsilons(epsilons: np.ndarray, epsilon: float) -> Interval:
    """Return the measured epsilons around an epsilon if they are far apart, else it twice."""
    after = np.searchsorted(epsilons, epsilon)
    if 0 < after < len(epsilons) and epsilons[after] > _FAR_APART * epsilons[after - 1]:
        return Interval(float(epsilons[after - 1]), float(epsilons[after]))
    return Interval(epsilon, epsilon)


def _first_crossing(epsilons: np.ndarray, scores: np.ndarray, stated: float) -> float:
    """Return the first epsilon at which scores, interpolated in log(epsilon), reach a number."""
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
    """Find the epsilon at which an error equals the stated one; the interval has no width.

    The epsilon is infinite if the error at 1e15 is still larger than the stated one, and 1e-15 if
    the error at 1e-15 is at most the stated one.

    Args:
        error: A continuous decreasing function of epsilon, with values above 0.
        stated: The paper's error, above 0.
    """

    def excess(log_epsilon: float) -> float:
        return math.log(error(math.exp(log_epsilon)) / stated)

    # Step from epsilon 1 until the error is on the other side of the stated one. This seldom tries
    # extreme epsilons, at which calibration is slow or fails.
    above = excess(0.0) > 0
    value = math.inf if above else LEAST
    logs = np.linspace(0.0, math.log(MOST if above else LEAST), _STEPS + 1)
    for near, far in itertools.pairwise(logs):
        if (excess(far) > 0) != above:
            value = math.exp(scipy.optimize.brentq(excess, near, far, rtol=1e-10))
            break
    return Implied(value, Interval(value, value), Interval(LEAST, MOST))
