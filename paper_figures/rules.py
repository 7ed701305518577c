"""The rules that turn numbers into verdicts. A judge chooses a rule; it never chooses a verdict.

Exact numbers confirm or contradict. Numbers over trials are compared with a margin, the smallest
difference that matters for the claim:

- confirmed, where the 95% interval lies on the claimed side;
- contradicted, where the interval at 99%, corrected for the number of comparisons (Bonferroni),
  lies on the other side and the difference may matter (the 95% interval leaves the margin);
- not found, where the interval stays below the margin, with 10 trials or more;
- inconclusive otherwise, and wherever there is no signal: all compared means are as good as a
  random answer's, or all as good as without noise.

The thresholds keep the rate of false contradictions below 1% for a whole claim.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from paper_figures.intervals import Effect, words
from paper_figures.verdicts import (
    CONFIRMED,
    CONTRADICTED,
    INCONCLUSIVE,
    NOT_FOUND,
    Part,
)

SUPPORT, OPPOSE = 0.95, 0.99
ENOUGH_TRIALS = 10


@dataclass(frozen=True, kw_only=True)
class Signal:
    """Whether a study can tell mechanisms apart at all.

    Args:
        means: Mean score of every compared mechanism.
        floor: Mean score of the random answer, or of training on pure noise; None where unknown.
        ceiling: Mean score without noise; None where unknown.
        margin: Scores within this of the floor, or of the ceiling, are as good as it.
        larger_is_better: For scores such as accuracies: where all are below the floor, there is no
            signal either.
    """

    means: tuple[float, ...]
    floor: float | None = None
    ceiling: float | None = None
    margin: float
    larger_is_better: bool = False

    @property
    def missing(self) -> str:
        """Why there is no signal, or "" where there is one."""
        if self._all_at(self.floor):
            return (
                f"no signal: all are within {self.margin:g} of the random answer's {self.floor:.4g}"
            )
        if self._all_at(self.ceiling):
            return (
                f"no signal: all are within {self.margin:g} of the {self.ceiling:.4g} without noise"
            )
        if self.larger_is_better and self.floor is not None and max(self.means) < self.floor:
            return f"no signal: all are below the random answer's {self.floor:.4g}"
        return ""

    def _all_at(self, level: float | None) -> bool:
        return level is not None and all(abs(mean - level) <= self.margin for mean in self.means)


def number(name: str, ours: float, stated: float, tolerance: float) -> Part:
    """An exact number against the paper's: within a relative tolerance, or contradicted."""
    agrees = abs(ours - stated) <= tolerance * abs(stated)
    return Part(name, CONFIRMED if agrees else CONTRADICTED, f"{ours:.4g} (stated {stated:.4g})")


def statement(name: str, holds: bool, found: str = "", reason: str = "") -> Part:
    """A mathematical statement, decided by exact numbers."""
    return Part(name, CONFIRMED if holds else CONTRADICTED, found, reason)


def order(
    effects: Mapping[str, Effect], *, margin: float, signal: Signal | None = None
) -> list[Part]:
    """Effects that the claim says are positive, by name.

    Args:
        effects: Differences, the larger one first; of one sign of the score, so that positive is
            what the paper says.
        margin: The smallest difference that matters, at least 0, in units of the effects.
        signal: Where given and missing, every part is inconclusive.
    """
    return [
        _ordered(name, effect, len(effects), margin, signal) for name, effect in effects.items()
    ]


def _ordered(
    name: str, effect: Effect, comparisons: int, margin: float, signal: Signal | None
) -> Part:
    found = words(effect)
    if signal is not None and signal.missing:
        return Part(name, INCONCLUSIVE, found, signal.missing)
    low = effect.interval(SUPPORT).low
    if low > 0:
        return Part(name, CONFIRMED, found)
    opposite = effect.interval(1 - (1 - OPPOSE) / comparisons).high < 0
    if opposite and low < -margin:
        return Part(name, CONTRADICTED, found)
    return _absent(name, effect, margin, found)


def _absent(name: str, effect: Effect, margin: float, found: str) -> Part:
    """No whole interval on either side: the effect is absent, or the trials are too few to say."""
    if effect.trials is None:
        return Part(name, NOT_FOUND, found, f"no difference above {margin:g}")
    if effect.interval(SUPPORT).high > margin:
        reason = f"{effect.trials} trials leave room for a difference above {margin:g}"
        return Part(name, INCONCLUSIVE, found, reason)
    if effect.trials < ENOUGH_TRIALS:
        reason = f"{effect.trials} of the {ENOUGH_TRIALS} trials that `not found` needs"
        return Part(name, INCONCLUSIVE, found, reason)
    return Part(name, NOT_FOUND, found, f"below the margin of {margin:g}")


def equal(
    effects: Mapping[str, Effect], *, margin: float, signal: Signal | None = None
) -> list[Part]:
    """Differences that the claim says are small: "comparable", "about the same".

    Confirmed where the whole 95% interval lies within the margin, contradicted where the whole
    99% interval (Bonferroni) lies outside of it, inconclusive otherwise.
    """
    return [_equal(name, effect, len(effects), margin, signal) for name, effect in effects.items()]


def _equal(
    name: str, effect: Effect, comparisons: int, margin: float, signal: Signal | None
) -> Part:
    found = words(effect)
    if signal is not None and signal.missing:
        return Part(name, INCONCLUSIVE, found, signal.missing)
    low, high = effect.interval(SUPPORT)
    if -margin <= low and high <= margin:
        return Part(name, CONFIRMED, found)
    low, high = effect.interval(1 - (1 - OPPOSE) / comparisons)
    if low > margin or high < -margin:
        return Part(name, CONTRADICTED, found, f"outside of the margin of {margin:g}")
    return Part(name, INCONCLUSIVE, found, f"the interval crosses the margin of {margin:g}")


def ratios(
    factors: Mapping[str, Effect], *, stated: Mapping[str, tuple[float, float]]
) -> list[Part]:
    """Logarithms of ratios that the claim puts between two bounds, by name; bounds as ratios.

    Confirmed where the whole 95% interval lies between the bounds, contradicted where the 99% one
    (Bonferroni) lies outside of them.
    """

    parts = []
    for name, effect in factors.items():
        least, most = (math.log(bound) if bound > 0 else -math.inf for bound in stated[name])
        low, high = effect.interval(SUPPORT)
        found = f"{math.exp(effect.value):.3g} [{math.exp(low):.3g}, {math.exp(high):.3g}] times"
        if least <= low and high <= most:
            parts.append(Part(name, CONFIRMED, found))
            continue
        low, high = effect.interval(1 - (1 - OPPOSE) / len(factors))
        if low > most or high < least:
            parts.append(Part(name, CONTRADICTED, found))
        else:
            parts.append(Part(name, INCONCLUSIVE, found, "the interval crosses a bound"))
    return parts
