"""Evidence against a stated profile in releases of two neighbouring values.

A score may tell them apart; or their answers lie on a grid, or have few digits, until the value
moves.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from mechanisms.check.audit_statistics import largest_probability, least_probability
from mechanisms.check.events import EPSILONS, TAIL, chosen_event, scores_of
from mechanisms.check.neighbours import pair_that_differs
from mechanisms.check.timed_releases import LEAST, TimedReleases, other_releases
from mechanisms.privacy.profile import PrivacyProfile
from mechanisms.query.query import Query

# At most this many elements are looked up among earlier values.
GRID_ELEMENTS = 4096

Pair = tuple[str, np.ndarray, tuple[np.ndarray, np.ndarray]]


def find_telling_pair(
    source: TimedReleases, pairs: Sequence[Pair], profile: PrivacyProfile, count: int
) -> Iterator[str]:
    """Sentences on the pair and the event that stand out in some releases, judged by others.

    Args:
        pairs: At least one: the name of a change, the change, and two values that differ by it.
        count: Releases of either value that judge, at least; as many are shared by all pairs to
            choose.
    """
    epsilons = np.unique(np.append(EPSILONS, source.mechanism.budget.epsilon))
    claims = profile.delta(epsilons).upper
    few = max(LEAST, count // len(pairs))
    # Only one pair is judged, and it may use the releases that several would have needed.
    count = max(count, min(len(pairs), 2) * LEAST)
    best = None
    for name, change, pair in pairs:
        if best and source.time_is_up():
            break
        trained = [source.answers(value, few) for value in pair]
        for score in scores_of(change):
            event = chosen_event([score(answers) for answers in trained], claims, epsilons)
            if best is None or event.gain > best[0].gain:
                best = event, score, name, pair
    event, score, name, pair = best
    for way in (None, *other_releases(source.mechanism)):
        draws = count
        if way is not None:
            draws = 0 if source.time_is_up() else source.affordable(pair[0], count, way)
        if not draws:
            continue
        found = event.contradiction([score(source.answers(value, draws, way)) for value in pair])
        if found is not None:
            by = f" by {way}" if way else ""
            yield (
                f"{draws} releases{by} of each of two values that differ by a change of {name} "
                f"show {found}"
            )


def find_moving_grid(
    answers: Callable[[np.ndarray, int], np.ndarray],
    query: Query,
    constant: np.ndarray,
    changes: Callable[[np.ndarray], Iterable[tuple[str, np.ndarray]]],
    count: int,
    claim: float,
) -> Iterator[str]:
    """Sentences on numbers of an answer that come again until the value has changed there.

    Args:
        answers: Releases (n, *shape) of a value.
        changes: Names and changes that are claimed to be hidden, from releases of `constant`.
        count: Releases in each of the samples.
        claim: The delta that is claimed of every change at epsilon 0.
    """
    earlier, later = (answers(constant, count) for _ in range(2))
    every = query.size // GRID_ELEMENTS + 1
    looked_up = np.zeros(query.size, bool)
    looked_up[::every] = True
    if query.one_column:
        looked_up = np.arange(query.size) % query.shape[1] == 0
    if not _repeats(earlier, later, looked_up):
        return
    for name, change in changes(earlier):
        places = looked_up & (change.ravel() != 0)
        hits = _repeats(earlier, later, places)
        if not hits:
            continue
        lower = least_probability(hits, count, TAIL)
        pair = pair_that_differs(query, change, constant) if lower > claim else None
        if pair is None or not np.array_equal(pair[0], constant):
            continue
        moved = _repeats(earlier, answers(pair[1], count), places)
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
    """How many of `answers` hold, at one of the places, a number of `earlier` or a float32."""
    seen, found = (draws.reshape(len(draws), -1)[:, places] for draws in (earlier, answers))
    known = np.unique(seen)
    # A search in what is sorted already; np.isin sorts both.
    place = np.searchsorted(known, found).clip(max=known.size - 1)
    again = (known[place] == found).any(axis=1)
    # Noise of single precision repeats itself seldom, and shows in every answer.
    if 2 * known.size > seen.size:
        again |= (found == found.astype(np.float32)).all(axis=1)
    return int(np.count_nonzero(again))
