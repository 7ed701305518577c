"""Checks that a privacy profile agrees with itself, with the noise, and with releases."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mechanisms.check.audit_statistics import (
    ROUNDING,
    TAIL,
    hockey_stick,
    largest_probability,
    least_probability,
)
from mechanisms.check.evidence import EPSILONS, LEAST, Evidence, other_releases, projected
from mechanisms.check.neighbours import has_covariance, pair_that_differs

# The tail of the bounds that only choose an event, on which no verdict rests.
CHOICE = 0.01
# Eigenvalues below this share of the largest are rounding errors.
FLOOR = 1e-12
# Quantiles of the scores, midway between which thresholds lie.
QUANTILES = (0.01, 0.03, 0.1, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.9, 0.97, 0.99)
# The quantiles are computed from this many scores of either side: all scores would take too long.
PLACING = 1 << 12
# Additive noise is tested at multiples of a change, about this many standard deviations long: few
# releases suffice to show them, and the profile of scaled noise is known.
SHIFTS = (1.0, 3.0)
# The change, in standard deviations, at which i.i.d. elements show most about the size of a change
# that a profile covers. There a relative error r in that size moves the delta(0) of a Gaussian by
# 1.14 r standard deviations of one draw.
ELEMENT_SHIFT = 3.0
# At most this many scores choose an event.
MOST_TRAINED = 1 << 15
# Below this share of a change's length, noise along the change is rounding error.
CANCELLED = 1e-6
# The median absolute value of a standard normal variable.
NORMAL_MEDIAN = 0.6745
# At most this many elements are looked up among earlier numbers.
GRID_ELEMENTS = 4096


def find_wrong_curve(evidence: Evidence) -> Iterator[str]:
    """Yield sentences if a stated delta is not a probability, or grows with epsilon.

    Delta is looked at for `EPSILONS` and the budget's epsilon.
    """
    epsilons = np.unique(np.append(EPSILONS, evidence.mechanism.budget.epsilon))
    stated = evidence.profile.delta(epsilons)
    for name in ("lower", "value", "upper"):
        deltas = np.asarray(getattr(stated, name), dtype=float)
        wrong = ~((deltas >= 0) & (deltas <= 1 + ROUNDING))
        if wrong.any():
            place = int(np.argmax(wrong))
            yield (
                f"the profile states delta({epsilons[place]:g}) = {deltas[place]:.4g} ({name}), "
                "which is not a probability"
            )
    if (np.asarray(stated.lower)[1:] > np.asarray(stated.upper)[:-1] * (1 + ROUNDING)).any():
        yield (
            f"the profile states a delta that grows with epsilon: at least {stated.lower} at "
            f"{epsilons}"
        )


def find_other_profile(evidence: Evidence) -> Iterator[str]:
    """Yield sentences if a profile excludes that of the noise, which is only added.

    The bounds of either contain the delta of the worst pair, however wide they are.
    """
    mechanism = evidence.mechanism
    if not (evidence.is_additive and mechanism.only_adds_noise):
        return
    noise = mechanism.noise.profile(mechanism.query)
    if noise is None:
        return
    epsilons = np.array([0.0, mechanism.budget.epsilon])
    stated, true = evidence.profile.delta(epsilons), noise.delta(epsilons)
    for place, epsilon in enumerate(epsilons):
        if true.lower[place] > stated.upper[place] * (1 + ROUNDING):
            yield (
                f"the profile states delta({epsilon:g}) of at most {stated.upper[place]:.4g}, and "
                f"that of the noise has at least {true.lower[place]:.4g}"
            )
        if stated.lower[place] > true.upper[place] * (1 + ROUNDING):
            yield (
                f"the profile states delta({epsilon:g}) of at least {stated.lower[place]:.4g}, and "
                f"that of the noise has at most {true.upper[place]:.4g}; where the claim covers "
                "several releases, override profile_of_release, which is of one"
            )


def find_shown_change(evidence: Evidence, name: str, change: np.ndarray) -> Iterator[str]:
    """Yield a sentence for each multiple of a change that noise hides less than the profile states.

    Args:
        name: A change of the value, in words.
        change: The change (*query.shape) of the prepared value that it causes.
    """
    if not change.any():
        return
    direction = telling_direction(change, evidence.training)
    length = float(direction.ravel() @ change.ravel())
    trained = projected(evidence.training, direction)
    tested = projected(evidence.judging, direction)
    deviation_along = _deviation(trained)
    multiples = {1.0}
    # If noise cancels along the change, a change as small as the noise would be lost in rounding.
    if deviation_along > CANCELLED * length:
        # Powers of two, which changes share, so that the profile is computed once for each.
        multiples = {2.0 ** round(math.log2(s * deviation_along / length)) for s in SHIFTS}
    for multiple in sorted(multiples):
        found = _judged(evidence, trained, tested, multiple, multiple * length)
        if found is not None:
            times = "" if multiple == 1 else f", multiplied by {multiple:g}"
            yield (f"{len(tested)} releases show a change of {name}{times}, with {found}")


def find_shown_elements(evidence: Evidence) -> Iterator[str]:
    """Do as `find_shown_change` for i.i.d. elements of noise: all draws form one sample."""
    half = evidence.query.size // 2
    moves = [change for _, change in evidence.prepared_moves if change.any()]
    by_size = {np.count_nonzero(change): change for change in moves}
    for size, change in by_size.items():
        if size > half:
            continue
        length = float(np.linalg.norm(change))
        trained = pooled(evidence.sampled, change)[:MOST_TRAINED]
        tested = pooled(evidence.many_sampled, change)
        larger = 2.0 ** round(math.log2(ELEMENT_SHIFT * _deviation(trained) / length))
        for multiple in sorted({1.0, larger}):
            found = _judged(evidence, trained, tested, multiple, multiple * length)
            if found is not None:
                yield (
                    f"{len(tested):,} elements of the noise, which states that they are "
                    f"independent and alike, show a change of {size} multiplied by "
                    f"{multiple:g}, with {found}"
                )


def _judged(
    evidence: Evidence, trained: np.ndarray, tested: np.ndarray, multiple: float, moved: float
) -> str | None:
    """Say how scores contradict the claim for `multiple` times a change; None if they do not.

    Args:
        trained, tested: (n,) scores, which choose the event and judge it.
        moved: What `multiple` times the change adds to a score.
    """
    evidence.compared += 1
    event = chosen_event((trained, trained + moved), evidence.claims(multiple), paired=True)
    return event.contradiction((tested, tested + moved))


def _deviation(scores: np.ndarray) -> float:
    """Return the root mean square of scores (n,), or a smaller estimate of their deviation.

    Heavy tails inflate the root mean square. The estimate, unless 0, is the standard deviation of a
    normal variable with the same median absolute value.
    """
    squares = scores**2
    middle = math.sqrt(float(np.median(squares)))
    spread = math.sqrt(float(np.mean(squares)))
    return min(spread, middle / NORMAL_MEDIAN) or spread


def find_telling_pair(
    evidence: Evidence, pairs: Sequence[tuple[str, np.ndarray, Sequence[np.ndarray]]]
) -> Iterator[str]:
    """Yield sentences on the pair and event that stand out in some releases, judged by others.

    Args:
        pairs: At least one of: the name of a change, the change, and two values that differ by it.
    """
    epsilons = np.unique(np.append(EPSILONS, evidence.mechanism.budget.epsilon))
    claims = evidence.profile.delta(epsilons).upper
    # All pairs together have as many releases to choose from as judge the chosen pair.
    few = max(LEAST, evidence.count // len(pairs))
    # Only one pair is judged, so that it may have the releases that several would need.
    count = max(evidence.count, min(len(pairs), 2) * LEAST)
    best = None
    for name, change, pair in pairs:
        if best and evidence.time_is_up():
            break
        trained = [evidence.answers(value, few) for value in pair]
        for score in scores_of(change):
            event = chosen_event([score(answers) for answers in trained], claims, epsilons)
            if best is None or event.gain > best[0].gain:
                best = event, score, name, pair
    event, score, name, pair = best
    for way in (None, *other_releases(evidence.mechanism)):
        draws = count
        if way is not None:
            draws = 0 if evidence.time_is_up() else evidence.affordable(pair[0], count, way)
        if not draws:
            continue
        found = event.contradiction([score(evidence.answers(value, draws, way)) for value in pair])
        if found is not None:
            by = f" by {way}" if way else ""
            yield (
                f"{draws} releases{by} of each of two values that differ by a change of {name} "
                f"show {found}"
            )


def find_moving_grid(evidence: Evidence, count: int) -> Iterator[str]:
    """Yield sentences if numbers of answers recur until the value has changed at their place.

    Args:
        count: The number of releases in each sample.
    """
    query, constant = evidence.query, evidence.constant
    claim = float(evidence.claims(1.0)[0])
    earlier, later = (evidence.answers(constant, count) for _ in range(2))
    every = query.shape[1] if query.one_column else query.size // GRID_ELEMENTS + 1
    looked_up = np.arange(query.size) % every == 0
    if not _repeats(earlier, later, looked_up):
        return
    for name, change in evidence.changes(earlier):
        places = looked_up & (change.ravel() != 0)
        hits = _repeats(earlier, later, places)
        if not hits:
            continue
        lower = least_probability(hits, count, TAIL)
        pair = pair_that_differs(query, change, constant) if lower > claim else None
        if pair is None or not np.array_equal(pair[0], constant):
            continue
        moved = _repeats(earlier, evidence.answers(pair[1], count), places)
        upper = largest_probability(moved, count, TAIL)
        if lower - upper > claim:
            yield (
                "the answers lie on a grid that moves with the value: where a change of "
                f"{name} is, {hits / count:.2g} of {count} releases repeat an earlier number or "
                f"have single precision, and {moved / count:.2g} do once the value has changed, so "
                f"that delta(0) is at least {lower - upper:.4g}; the profile states at most "
                f"{claim:.4g}"
            )


def _repeats(earlier: np.ndarray, answers: np.ndarray, places: np.ndarray) -> int:
    """Count the `answers` that hold, at one of the places, a number of `earlier` or a float32."""
    seen, found = (draws.reshape(len(draws), -1)[:, places] for draws in (earlier, answers))
    known = np.unique(seen)
    # `known` is sorted already; np.isin would sort both arrays.
    place = np.searchsorted(known, found).clip(max=known.size - 1)
    again = (known[place] == found).any(axis=1)
    # Noise of single precision seldom repeats numbers, but shows in all numbers of an answer.
    if 2 * known.size > seen.size:
        again |= (found == found.astype(np.float32)).all(axis=1)
    return int(np.count_nonzero(again))


@dataclass(frozen=True)
class Event:
    """The event {score > threshold}, or {score < threshold} unless it is `above`.

    For the sides (A, B) in this `order`, delta(epsilon) >= A(event) - e^epsilon B(event).

    Attributes:
        gain: By how much this exceeds the claimed delta, `claim`, in the scores that chose it.
        paired: See `event_bounds`.
    """

    gain: float
    order: tuple[int, int]
    threshold: float
    above: bool
    epsilon: float
    claim: float
    paired: bool

    def contradiction(self, tested: Sequence[np.ndarray]) -> str | None:
        """Say how other scores (n,) of each side contradict the claim; None if they do not.

        Each bound errs with probability at most `TAIL`.
        """
        thresholds = np.array([self.threshold])
        lower, upper = event_bounds(
            tested, self.order, thresholds, above=self.above, paired=self.paired
        )
        proved = float(hockey_stick(lower, upper, self.epsilon)[0])
        if proved <= self.claim * (1 + ROUNDING):
            return None
        return (
            f"delta({self.epsilon:g}) of at least {proved:.4g}; the profile states at most "
            f"{self.claim:.4g}"
        )


def chosen_event(
    trained: Sequence[np.ndarray],
    claims: np.ndarray,
    epsilons: np.ndarray = EPSILONS,
    *,
    paired: bool = False,
) -> Event:
    """Return the event that stands out most, of all thresholds, directions and epsilons.

    Args:
        trained: The scores (n,) of each side.
        claims: The largest delta that is claimed at each of `epsilons`.
        paired: See `event_bounds`.
    """
    placing = np.concatenate([side[:PLACING] for side in trained])
    ends = np.unique(np.quantile(placing, QUANTILES))
    # Thresholds lie between scores, which rounding may move: if noise cancels, all are alike.
    thresholds = (ends[1:] + ends[:-1]) / 2 if len(ends) > 1 else ends
    found = []
    for order in ((0, 1), (1, 0)):
        for above in (True, False):
            lower, upper = event_bounds(
                trained, order, thresholds, above=above, paired=paired, tail=CHOICE
            )
            for epsilon, claim in zip(epsilons, claims, strict=True):
                gains = hockey_stick(lower, upper, epsilon) - claim
                best = int(np.argmax(gains))
                event = (float(gains[best]), order, float(thresholds[best]), above)
                found.append(Event(*event, float(epsilon), float(claim), paired))
    return max(found, key=lambda event: event.gain)


def event_bounds(
    scores: Sequence[np.ndarray],
    order: tuple[int, int],
    thresholds: np.ndarray,
    *,
    above: bool,
    paired: bool = False,
    tail: float = TAIL,
) -> tuple[np.ndarray, np.ndarray]:
    """Return a lower bound on A(event) and an upper bound on B(event) for each threshold.

    Args:
        paired: Whether one side is the other one, moved. Then one event contains the other, and
            A(event) - B(event) is the probability of what lies between: one bound on it is tighter
            than two.
    """
    beyond = np.greater if above else np.less
    hits = [
        np.array([np.count_nonzero(beyond(scores[side], each)) for each in thresholds])
        for side in order
    ]
    upper = largest_probability(hits[1], len(scores[order[1]]), tail)
    more = np.maximum(hits[0] - hits[1], 0) if paired else hits[0]
    lower = least_probability(more, len(scores[order[0]]), tail)
    return lower + upper if paired else lower, upper


def pooled(draws: np.ndarray, change: np.ndarray) -> np.ndarray:
    """Return scores along a change, many for each draw (n, *shape) of noise with i.i.d. elements.

    A change of k elements gives a score of the same law on every k elements.
    """
    part = change[change != 0]
    flat = draws.reshape(len(draws), -1)
    groups = flat.shape[1] // part.size
    return (flat[:, : groups * part.size].reshape(-1, part.size) @ part) / np.linalg.norm(part)


def telling_direction(change: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Return the direction along which a change stands out from draws (n, *shape) of noise.

    For few elements it is Fisher's discriminant, the inverse covariance times the change, which
    removes noise that elements have in common. For many elements it is the change itself.
    """
    flat, wanted = draws.reshape(len(draws), -1), change.ravel() / np.linalg.norm(change)
    if has_covariance(flat):
        squares, axes = np.linalg.eigh(flat.T @ flat)
        if squares[-1]:
            wanted = axes @ ((axes.T @ wanted) / np.maximum(squares, FLOOR * squares[-1]))
    return (wanted / np.linalg.norm(wanted)).reshape(change.shape)


def scores_of(change: np.ndarray) -> list[Callable[[np.ndarray], np.ndarray]]:
    """Return scores that distinguish answers for two values: along the change, and across it."""
    unit = change / np.linalg.norm(change)
    scores = [lambda draws: projected(draws, unit)]
    if change.ndim == 2:
        scores.append(lambda draws: squared_products(unit, draws))
    return scores


def squared_products(unit: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Return ||unit^T A||_F^2 of every draw A, by products of the size of the shorter axis."""
    rows, columns = unit.shape
    if rows >= columns:
        return np.sum((unit.T @ draws) ** 2, axis=(1, 2))
    return np.sum((unit @ unit.T) * (draws @ draws.transpose(0, 2, 1)), axis=(1, 2))
