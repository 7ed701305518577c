"""The comparisons that turn numbers into verdicts. A judge chooses a comparison, never a verdict.

Exact numbers confirm or contradict a claim. Effects over trials are compared with a margin, the
smallest difference that matters for the claim. A part about an order is

- confirmed if the 95% interval lies on the claimed side of zero;
- contradicted if the 99.99% interval lies on the other side and the difference may matter (the
  95% interval reaches beyond the margin);
- not found if the 95% interval stays below the margin, with 10 trials or more;
- inconclusive otherwise.

There is no signal if, within a margin, no compared mean is better than a random answer, or all
means equal the mean without noise. A part is then inconclusive. A judge does not ask for a signal
if usefulness is a part of its own: a release that is proven to be noise can still be ranked.

A claim makes at most 100 comparisons, so it is wrongly contradicted in at most 1% of cases
(Bonferroni), provided that intervals have their stated coverage. A part shows the interval that its
verdict rests on, with its confidence.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from claims.intervals import SHOWN, Effect, Mean, ratio_words, words
from claims.verdicts import (
    CONFIRMED,
    CONTRADICTED,
    INCONCLUSIVE,
    NOT_FOUND,
    NOT_RUN,
    Part,
    Verdict,
    joined,
)

SUPPORT = SHOWN
# The largest probability that a claim is wrongly contradicted, and the most comparisons of a claim.
WRONG, MOST_COMPARISONS = 0.01, 100
OPPOSE = 1 - WRONG / MOST_COMPARISONS
ENOUGH_TRIALS = 10
# A release whose total variation from noise is at most this counts as an answer without data.
NO_DATA = 0.01


@dataclass(frozen=True, kw_only=True)
class Signal:
    """The evidence that a study can tell mechanisms apart.

    Args:
        means: The mean score of every compared mechanism.
        floor: The mean score of the random answer, or of training on pure noise; None if unknown.
        ceiling: The mean score without noise; None if unknown.
        margin: Scores within this distance of the floor or the ceiling count as equal to it.
        floor_words: The answer whose score is the floor, in words.
        better: Whether larger or smaller scores are better. A score that is worse than the floor is
            no signal.
    """

    means: tuple[float, ...]
    floor: float | None = None
    ceiling: float | None = None
    margin: float
    floor_words: str = "the random answer"
    better: Literal["larger", "smaller"] = "larger"

    @property
    def missing(self) -> str:
        """The reason why there is no signal, or "" if there is one."""
        sign, ahead = (1, "score is above") if self.better == "larger" else (-1, "error is below")
        if self.floor is not None and all(
            sign * (mean - self.floor) <= self.margin for mean in self.means
        ):
            return (
                f"no signal: no {ahead} that of {self.floor_words} ({self.floor:.4g}), "
                f"within {self.margin:.3g}"
            )
        if self.ceiling is not None and all(
            abs(mean - self.ceiling) <= self.margin for mean in self.means
        ):
            return (
                f"no signal: all are within {self.margin:g} of the {self.ceiling:.4g} without noise"
            )
        return ""


def number(name: str, ours: float, stated: float, tolerance: float) -> Part:
    """Compare an exact number with the paper's, within a relative tolerance."""
    agrees = abs(ours - stated) <= tolerance * abs(stated)
    return Part(name, CONFIRMED if agrees else CONTRADICTED, f"{ours:.4g} (stated {stated:.4g})")


def statement(name: str, holds: bool, found: str = "", reason: str = "") -> Part:
    """Judge a mathematical statement that exact numbers decide."""
    return Part(name, CONFIRMED if holds else CONTRADICTED, found, reason)


def order(
    effects: Mapping[str, Effect],
    *,
    margin: float,
    signal: Signal | Mapping[str, Signal] | None = None,
    shown: Callable[[Effect, float], str] = words,
) -> list[Part]:
    """Judge effects that the claim says are positive.

    Args:
        effects: The differences by name, with the sign that the claim says is positive.
        margin: The smallest difference that matters, at least 0, in units of the effects.
        signal: The signal for all effects, or a signal for each by name. If the signal is missing,
            a part is inconclusive. The default asks for none.
        shown: The function that formats an effect at a confidence; use `ratio_words` for logarithms
            of ratios.
    """
    return [
        _order_part(name, effect, margin, _missing_signal(signal, name), shown)
        for name, effect in effects.items()
    ]


def _missing_signal(signal: Signal | Mapping[str, Signal] | None, name: str) -> str:
    own = signal[name] if isinstance(signal, Mapping) else signal
    return own.missing if own else ""


def _order_part(
    name: str,
    effect: Effect,
    margin: float,
    no_signal: str,
    shown: Callable[[Effect, float], str],
) -> Part:
    found = shown(effect, SUPPORT)
    low = effect.interval(SUPPORT).low
    if no_signal:
        return Part(name, INCONCLUSIVE, found, no_signal)
    if low > 0:
        return Part(name, CONFIRMED, found)
    if effect.interval(OPPOSE).high < 0 and low < -margin:
        return Part(name, CONTRADICTED, shown(effect, OPPOSE))
    return _absence_part(name, effect, margin, found)


def _absence_part(name: str, effect: Effect, margin: float, found: str) -> Part:
    """Judge an effect that is neither confirmed nor contradicted as not found, or inconclusive."""
    if effect.interval(SUPPORT).high > margin:
        reason = f"{effect.trials} trials leave room for a difference above {margin:g}"
        return Part(name, INCONCLUSIVE, found, reason)
    if effect.trials < ENOUGH_TRIALS:
        reason = f"{effect.trials} of the {ENOUGH_TRIALS} trials that `not found` needs"
        return Part(name, INCONCLUSIVE, found, reason)
    return Part(name, NOT_FOUND, found, f"below the margin of {margin:g}")


def beyond(name: str, effect: Effect, *, margin: float) -> Part:
    """Judge an effect that the claim says is larger than the margin: "clearly better".

    It is confirmed if the 95% interval lies above the margin, contradicted if the 99.99% interval
    lies below zero, and not found if the 95% interval stays below the margin with enough trials.
    """
    if effect.interval(SUPPORT).low > margin:
        return Part(name, CONFIRMED, words(effect))
    if effect.interval(OPPOSE).high < 0:
        return Part(name, CONTRADICTED, words(effect, OPPOSE))
    return _absence_part(name, effect, margin, words(effect))


def more_than_noise(name: str, distance: float, found: str = "") -> Part:
    """Judge the claim that results from a release are more useful than an answer without data.

    Args:
        name: The name of the part.
        distance: An upper bound on the total variation between the release and noise that does not
            depend on the data; see `mechanisms.comparison.no_data`. A bound of at most NO_DATA
            contradicts the claim, because the release is then an answer without data for every use.
            A larger bound decides nothing.
        found: Our number, as text.
    """
    if distance <= NO_DATA:
        return Part(name, CONTRADICTED, found)
    return Part(name, INCONCLUSIVE, found, f"a bound above {NO_DATA:g} decides nothing")


def at_most(name: str, effect: Effect, *, margin: float) -> Part:
    """Judge an effect that the claim says does not exceed the margin: "remains low".

    It is confirmed if the 95% interval stays at or below the margin, and contradicted if the 99.99%
    interval lies above it.
    """
    verdict, confidence = _verdict_between(effect, -math.inf, margin)
    reason = {
        CONFIRMED: "",
        CONTRADICTED: f"above the margin of {margin:g}",
        INCONCLUSIVE: f"the interval crosses the margin of {margin:g}",
    }[verdict]
    return Part(name, verdict, words(effect, confidence), reason)


def equal(
    effects: Mapping[str, Effect],
    *,
    margin: float,
    stated: float = 0.0,
    signal: Signal | Mapping[str, Signal] | None = None,
) -> list[Part]:
    """Judge differences that the claim says are small ("comparable"), or equal to a stated number.

    A part is confirmed if the whole 95% interval lies within the margin around the stated number,
    contradicted if the whole 99.99% interval lies outside that margin, and inconclusive otherwise.
    """
    return [
        _equal_part(name, effect, margin, stated, _missing_signal(signal, name))
        for name, effect in effects.items()
    ]


def _equal_part(
    name: str,
    effect: Effect,
    margin: float,
    stated: float,
    no_signal: str,
) -> Part:
    beside = f" (stated {stated:g})" if stated else ""
    if no_signal:
        return Part(name, INCONCLUSIVE, words(effect) + beside, no_signal)
    verdict, confidence = _verdict_between(effect, stated - margin, stated + margin)
    reason = {
        CONFIRMED: "",
        CONTRADICTED: f"outside the margin of {margin:g}",
        INCONCLUSIVE: f"the interval crosses the margin of {margin:g}",
    }[verdict]
    return Part(name, verdict, words(effect, confidence) + beside, reason)


def _verdict_between(effect: Effect, least: float, most: float) -> tuple[Verdict, float]:
    """Return the verdict on an effect that the claim puts between two bounds, and a confidence.

    The verdict rests on the interval at this confidence. It is `confirmed` if the 95% interval lies
    inside the bounds, `contradicted` if the 99.99% interval lies outside, and `inconclusive` if an
    interval crosses a bound: at 99.99% if the 95% interval lies outside, else at 95%.
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
    """Judge ratios that the claim puts between two bounds.

    A part is confirmed if the whole 95% interval lies between the bounds, and contradicted if the
    whole 99.99% interval lies outside of them.

    Args:
        factors: The logarithms of the ratios, by name.
        stated: The bounds on each ratio itself, by name.
    """
    parts = []
    for name, factor in factors.items():
        least, most = (math.log(bound) if bound > 0 else -math.inf for bound in stated[name])
        verdict, confidence = _verdict_between(factor, least, most)
        reason = "the interval crosses a bound" if verdict == INCONCLUSIVE else ""
        parts.append(Part(name, verdict, ratio_words(factor, confidence), reason))
    return parts


def timed_apart(part: Part, ratio: Effect, apart: float) -> Part:
    """Make a part about speed inconclusive if timings of equal work differ by as much.

    The two mechanisms are timed one after the other, and the state of the machine changes between
    them. The interval of a ratio covers only the spread within the timings of each.

    Args:
        part: The part.
        ratio: The logarithm of the ratio of seconds that the part is about.
        apart: The largest ratio of seconds that was seen for equal work timed in this way, at
            least 1.
    """
    if abs(ratio.value) > math.log(apart):
        return part
    reason = f"seconds of equal work differ by up to {apart:.2g} times"
    return replace(part, verdict=INCONCLUSIVE, reason=reason)


def universal(name: str, cases: Iterable[bool | None], found: str = "") -> Part:
    """Judge a statement about many cases that exact numbers decide.

    One false case contradicts the statement. The statement is confirmed if it holds in every case,
    and otherwise inconclusive.

    Args:
        name: The name of the part.
        cases: Whether the statement holds in each case; None if the numbers do not decide it.
        found: Our number, as text.

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
    """Judge scores over trials that the claim puts at a level: "about 0.9".

    `equal` gives the verdicts, with the margin `tolerance` times `stated`. If even the score
    without noise is below the level by more than the margin, the parts are inconclusive, because
    they say nothing about the noise.

    Args:
        scores: Our scores (not differences) by name.
        stated: The paper's score.
        tolerance: The relative tolerance.
        ceiling: The mean score without noise; None if unknown.
    """
    margin = tolerance * stated
    if ceiling is not None and ceiling < stated - margin:
        reason = f"{stated:g} is out of reach: {ceiling:.3g} without noise"
        return [Part(name, INCONCLUSIVE, words(score), reason) for name, score in scores.items()]
    return equal(scores, margin=margin, stated=stated)


def every(name: str, parts: Sequence[Part]) -> Part:
    """Combine parts into one that says that all of them hold.

    It is confirmed if each part is confirmed, contradicted if one part is contradicted, and not run
    if no part was.
    """
    return _decisive_part(name, parts, (CONTRADICTED, INCONCLUSIVE, NOT_FOUND, CONFIRMED, NOT_RUN))


def some(name: str, parts: Sequence[Part]) -> Part:
    """Combine parts into one that says that at least one of them holds.

    The 95% intervals of the parts are not corrected for their number.
    """
    return _decisive_part(name, parts, (CONFIRMED, INCONCLUSIVE, NOT_FOUND, CONTRADICTED))


def most(name: str, parts: Sequence[Part]) -> Part:
    """Combine parts into one that says that more than half of them hold.

    It is confirmed if more than half are confirmed, contradicted if at least half are contradicted,
    not found if at least half are contradicted or not found, and inconclusive otherwise.
    """
    verdicts = [part.verdict for part in parts]
    half, holding = len(parts) / 2, verdicts.count(CONFIRMED)
    found = f"{holding} of {len(parts)} hold"
    if holding > half:
        return Part(name, CONFIRMED, found)
    if verdicts.count(CONTRADICTED) >= half:
        return Part(name, CONTRADICTED, f"{found}, {verdicts.count(CONTRADICTED)} are contradicted")
    if verdicts.count(CONTRADICTED) + verdicts.count(NOT_FOUND) >= half:
        return Part(name, NOT_FOUND, found)
    return Part(name, INCONCLUSIVE, found, f"{verdicts.count(INCONCLUSIVE)} are open")


def _decisive_part(name: str, parts: Sequence[Part], decisive: Sequence[str]) -> Part:
    """Combine parts into one with the first verdict of `decisive` that a part has; list those."""
    verdict = next(verdict for verdict in decisive if verdict in {part.verdict for part in parts})
    shown = [part for part in parts if part.verdict == verdict]
    texts = [joined(part.name, part.found) for part in shown]
    more = [f"and {len(texts) - 4} more"] if len(texts) > 4 else []
    found = ", ".join(texts[:4] + more)
    reasons = dict.fromkeys(part.reason for part in shown if part.reason)
    return Part(name, verdict, found, "; ".join(reasons))


def confirm_or_leave_open(part: Part, source: str) -> Part:
    """Make a part about a stand-in for the paper's method inconclusive, unless it is confirmed.

    Args:
        part: The part.
        source: A clause that says how the stand-in differs: "LLAGP is rebuilt from two sentences".
    """
    if part.verdict == CONFIRMED:
        return part
    return replace(part, verdict=INCONCLUSIVE, reason=source)
