"""The comparisons that turn numbers into verdicts. A judge chooses one, and never a verdict.

Exact numbers confirm or contradict. Numbers over trials are compared with a margin, the smallest
difference that matters for the claim:

- confirmed, where the 95% interval lies on the claimed side;
- contradicted, where the 99.99% interval lies on the other side and the difference may matter (the
  95% interval leaves the margin);
- not found, where the interval stays below the margin, with 10 trials or more;
- inconclusive otherwise.

Where there is no signal (all compared means are as good as a random answer's, or all as good as
without noise) nothing is confirmed or contradicted; an effect that stays below the margin is still
not found. A signal is not asked for where usefulness is a part of its own: a release that is proven
to be noise is useless, and an order of it is still an order.

A claim makes at most 100 comparisons, so that it is wrongly contradicted in at most 1% of cases
(Bonferroni). A part shows the interval that its verdict rests on, with its confidence.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from claims.intervals import SHOWN, Effect, Mean, ratio_words, words
from claims.verdicts import (
    CONFIRMED,
    CONTRADICTED,
    INCONCLUSIVE,
    NOT_FOUND,
    Part,
    Verdict,
    joined,
)

SUPPORT = SHOWN
# Of a whole claim, and the comparisons that one may make.
WRONG, MOST_COMPARISONS = 0.01, 100
OPPOSE = 1 - WRONG / MOST_COMPARISONS
ENOUGH_TRIALS = 10
# At most one release in a hundred differs from noise alone.
NO_DATA = 0.01


@dataclass(frozen=True, kw_only=True)
class Signal:
    """Whether a study can tell mechanisms apart at all.

    Args:
        means: Mean score of every compared mechanism.
        floor: Mean score of the random answer, or of training on pure noise; None where unknown.
        ceiling: Mean score without noise; None where unknown.
        margin: Scores within this of the floor, or of the ceiling, are as good as it.
        floor_words: What has the score of the floor.
        better: "larger" or "smaller" for scores that are better on that side: then scores on the
            other side of the floor show no more than the floor does. None: both sides are a signal.
    """

    means: tuple[float, ...]
    floor: float | None = None
    ceiling: float | None = None
    margin: float
    floor_words: str = "the random answer"
    better: str | None = None

    @property
    def missing(self) -> str:
        """Why there is no signal, or "" where there is one."""
        if self.floor is not None and all(map(self._no_better_than_floor, self.means)):
            where = {
                "larger": "no score is above that of",
                "smaller": "no error is below that of",
                None: "every score equals that of",
            }[self.better]
            return (
                f"no signal: {where} {self.floor_words} ({self.floor:.4g}), "
                f"within {self.margin:.3g}"
            )
        if self.ceiling is not None and all(
            abs(mean - self.ceiling) <= self.margin for mean in self.means
        ):
            return (
                f"no signal: all are within {self.margin:g} of the {self.ceiling:.4g} without noise"
            )
        return ""

    def _no_better_than_floor(self, mean: float) -> bool:
        above = mean - self.floor
        if self.better is None:
            return abs(above) <= self.margin
        return (above if self.better == "larger" else -above) <= self.margin


def number(name: str, ours: float, stated: float, tolerance: float) -> Part:
    """An exact number against the paper's: within a relative tolerance, or contradicted."""
    agrees = abs(ours - stated) <= tolerance * abs(stated)
    return Part(name, CONFIRMED if agrees else CONTRADICTED, f"{ours:.4g} (stated {stated:.4g})")


def statement(name: str, holds: bool, found: str = "", reason: str = "") -> Part:
    """A mathematical statement, decided by exact numbers."""
    return Part(name, CONFIRMED if holds else CONTRADICTED, found, reason)


def order(
    effects: Mapping[str, Effect],
    *,
    margin: float,
    signal: Signal | Mapping[str, Signal] | None = None,
    shown: Callable[[Effect, float], str] = words,
) -> list[Part]:
    """Effects that the claim says are positive, by name.

    Args:
        effects: Differences, the larger one first; of one sign of the score, so that positive is
            what the paper says.
        margin: The smallest difference that matters, at least 0, in units of the effects.
        signal: Where it is given and missing, a part is inconclusive; or one for each effect by
            name.
        shown: An effect and a confidence as text: `ratio_words` for logarithms of ratios.
    """
    return [
        _ordered(name, effect, margin, _of_effect(signal, name), shown)
        for name, effect in effects.items()
    ]


def _of_effect(signal: Signal | Mapping[str, Signal] | None, name: str) -> Signal | None:
    return signal[name] if isinstance(signal, Mapping) else signal


def _ordered(
    name: str,
    effect: Effect,
    margin: float,
    signal: Signal | None,
    shown: Callable[[Effect, float], str],
) -> Part:
    found = shown(effect, SUPPORT)
    low = effect.interval(SUPPORT).low
    if signal is not None and signal.missing:
        return Part(name, INCONCLUSIVE, found, signal.missing)
    if low > 0:
        return Part(name, CONFIRMED, found)
    if effect.interval(OPPOSE).high < 0 and low < -margin:
        return Part(name, CONTRADICTED, shown(effect, OPPOSE))
    return _absent(name, effect, margin, found)


def _absent(name: str, effect: Effect, margin: float, found: str) -> Part:
    """No whole interval on either side: the effect is absent, or the trials are too few to say."""
    if effect.interval(SUPPORT).high > margin:
        reason = f"{effect.trials} trials leave room for a difference above {margin:g}"
        return Part(name, INCONCLUSIVE, found, reason)
    if effect.trials < ENOUGH_TRIALS:
        reason = f"{effect.trials} of the {ENOUGH_TRIALS} trials that `not found` needs"
        return Part(name, INCONCLUSIVE, found, reason)
    return Part(name, NOT_FOUND, found, f"below the margin of {margin:g}")


def beyond(name: str, effect: Effect, *, margin: float) -> Part:
    """One effect that the claim says is larger than the margin: "reasonably small", "clearly".

    Confirmed where the 95% interval lies above the margin, contradicted where the 99.99% one
    lies below zero, not found where the 95% one stays below the margin, with enough trials.
    """
    if effect.interval(SUPPORT).low > margin:
        return Part(name, CONFIRMED, words(effect))
    if effect.interval(OPPOSE).high < 0:
        return Part(name, CONTRADICTED, words(effect, OPPOSE))
    return _absent(name, effect, margin, words(effect))


def more_than_noise(name: str, distance: float, found: str = "") -> Part:
    """What is computed from a release is more useful than an answer without data.

    Args:
        distance: Upper bound on the total variation between the release and noise that does not
            depend on the data, see `mechanisms.comparison.no_data`. At most NO_DATA contradicts:
            the release is an answer without data, whatever reads it. A larger one decides nothing.
    """
    if distance <= NO_DATA:
        return Part(name, CONTRADICTED, found)
    return Part(name, INCONCLUSIVE, found, f"a bound above {NO_DATA:g} decides nothing")


def at_most(name: str, effect: Effect, *, margin: float) -> Part:
    """One effect that the claim says does not exceed the margin: "remains low".

    Confirmed where the 95% interval stays at or below it, contradicted where the 99.99% one is
    above it.
    """
    low, high = effect.interval(SUPPORT)
    if high <= margin:
        return Part(name, CONFIRMED, words(effect))
    # Above at 95% alone: then it is the wider interval that crosses.
    found = words(effect, OPPOSE if low > margin else SUPPORT)
    if effect.interval(OPPOSE).low > margin:
        return Part(name, CONTRADICTED, found, f"above the margin of {margin:g}")
    return Part(name, INCONCLUSIVE, found, f"the interval crosses the margin of {margin:g}")


def equal(
    effects: Mapping[str, Effect],
    *,
    margin: float,
    stated: float = 0.0,
    signal: Signal | Mapping[str, Signal] | None = None,
) -> list[Part]:
    """Differences that the claim says are small ("comparable"), or as large as it states.

    Confirmed where the whole 95% interval lies within the margin around what is stated,
    contradicted where the whole 99.99% interval lies outside of it, inconclusive otherwise.
    """
    return [
        _equal(name, effect, margin, stated, _of_effect(signal, name))
        for name, effect in effects.items()
    ]


def _equal(
    name: str,
    effect: Effect,
    margin: float,
    stated: float,
    signal: Signal | None,
) -> Part:
    beside = f" (stated {stated:g})" if stated else ""
    if signal is not None and signal.missing:
        return Part(name, INCONCLUSIVE, words(effect) + beside, signal.missing)
    verdict, confidence = _placed(effect, stated - margin, stated + margin)
    reason = {
        CONFIRMED: "",
        CONTRADICTED: f"outside the margin of {margin:g}",
        INCONCLUSIVE: f"the interval crosses the margin of {margin:g}",
    }[verdict]
    return Part(name, verdict, words(effect, confidence) + beside, reason)


def _placed(effect: Effect, least: float, most: float) -> tuple[Verdict, float]:
    """The verdict on an effect that the claim puts between two bounds.

    With the confidence of the interval that it rests on: inside at 95%, outside at 99.99%, or
    across a bound, at 99.99% where the 95% interval lies outside.
    """
    low, high = effect.interval(SUPPORT)
    if least <= low and high <= most:
        return CONFIRMED, SUPPORT
    if low <= most and high >= least:
        return INCONCLUSIVE, SUPPORT
    low, high = effect.interval(OPPOSE)
    outside = low > most or high < least
    return CONTRADICTED if outside else INCONCLUSIVE, OPPOSE


def ratios(
    factors: Mapping[str, Effect], *, stated: Mapping[str, tuple[float, float]]
) -> list[Part]:
    """Logarithms of ratios that the claim puts between two bounds, by name; bounds as ratios.

    Confirmed where the whole 95% interval lies between the bounds, contradicted where the
    99.99% one lies outside of them.
    """
    parts = []
    for name, factor in factors.items():
        least, most = (math.log(bound) if bound > 0 else -math.inf for bound in stated[name])
        verdict, confidence = _placed(factor, least, most)
        reason = "the interval crosses a bound" if verdict == INCONCLUSIVE else ""
        parts.append(Part(name, verdict, ratio_words(factor, confidence), reason))
    return parts


def timed_apart(part: Part, ratio: Effect, apart: float) -> Part:
    """A part on which of two takes less time: open where equal work differs by as much.

    Each is timed by itself, while the state of the machine changes: the interval of a ratio has the
    spread within the timings of each alone.

    Args:
        ratio: The logarithm of the ratio of their seconds, which the part is about.
        apart: The largest ratio of seconds of equal work that is timed in this way, at least 1.
    """
    if abs(ratio.value) > math.log(apart):
        return part
    reason = f"seconds of equal work differ by up to {apart:.2g} times"
    return replace(part, verdict=INCONCLUSIVE, reason=reason)


def universal(name: str, cases: Iterable[bool | None], found: str = "") -> Part:
    """A statement about many cases, decided by exact numbers.

    Args:
        cases: For each case whether the statement holds; None where the numbers do not decide it.

    One false case contradicts the statement; it is confirmed where every case holds.

    Raises:
        ValueError: There are no cases.
    """
    answers = list(cases)
    if not answers:
        raise ValueError("a statement about no cases has no verdict")
    if False in answers:
        return Part(name, CONTRADICTED, found)
    return Part(name, INCONCLUSIVE if None in answers else CONFIRMED, found)


def levels(
    scores: Mapping[str, Mean],
    *,
    stated: float,
    tolerance: float,
    ceiling: float | None = None,
) -> list[Part]:
    """Scores over trials that the claim puts at a level, by name: "about 0.9".

    As `equal`, with the tolerance as the margin. Where even the score without noise lies below
    the level, nothing can be said about what noise does to it: inconclusive.

    Args:
        scores: Our scores, not differences.
        stated: The paper's score.
        tolerance: Relative.
        ceiling: Mean score without noise; None where unknown.
    """
    margin = tolerance * stated
    if ceiling is not None and ceiling < stated - margin:
        reason = f"{stated:g} is out of reach: {ceiling:.3g} without noise"
        return [Part(name, INCONCLUSIVE, words(score), reason) for name, score in scores.items()]
    return equal(scores, margin=margin, stated=stated)


def every(name: str, parts: Sequence[Part]) -> Part:
    """One part that says something of all of several things, given the parts on each of them.

    It holds where each holds, and is contradicted where one is.
    """
    return _one(name, parts, (CONTRADICTED, INCONCLUSIVE, NOT_FOUND, CONFIRMED))


def some(name: str, parts: Sequence[Part]) -> Part:
    """One part that says something of at least one of several things, given those on each."""
    return _one(name, parts, (CONFIRMED, INCONCLUSIVE, NOT_FOUND, CONTRADICTED))


def most(name: str, parts: Sequence[Part]) -> Part:
    """One part that says something of more than half of several things, given those on each.

    It holds where more than half hold. It cannot hold where too few are left that do or may: then
    it is contradicted if at least half are, and else not found.
    """
    verdicts = [part.verdict for part in parts]
    half, holding = len(parts) / 2, verdicts.count(CONFIRMED)
    found = f"{holding} of {len(parts)} hold"
    if holding > half:
        return Part(name, CONFIRMED, found)
    if verdicts.count(CONTRADICTED) >= half:
        return Part(name, CONTRADICTED, f"{found}, {verdicts.count(CONTRADICTED)} are reversed")
    if verdicts.count(CONTRADICTED) + verdicts.count(NOT_FOUND) >= half:
        return Part(name, NOT_FOUND, found)
    return Part(name, INCONCLUSIVE, found, f"{verdicts.count(INCONCLUSIVE)} are open")


def _one(name: str, parts: Sequence[Part], decisive: Sequence[str]) -> Part:
    """The verdict that comes first in `decisive`, with the parts that have it."""
    verdict = next(verdict for verdict in decisive if verdict in {part.verdict for part in parts})
    shown = [part for part in parts if part.verdict == verdict]
    texts = [joined(part.name, part.found) for part in shown]
    more = [f"and {len(texts) - 4} more"] if len(texts) > 4 else []
    found = ", ".join(texts[:4] + more)
    reasons = dict.fromkeys(part.reason for part in shown if part.reason)
    return Part(name, verdict, found, "; ".join(reasons))


def of_reconstruction(part: Part, source: str) -> Part:
    """A part about something that stands in for the paper's: its failure decides nothing.

    Args:
        source: What stands in for what, as a clause: "LLAGP is rebuilt from two sentences".
    """
    if part.verdict == CONFIRMED:
        return part
    return replace(part, verdict=INCONCLUSIVE, reason=source)
