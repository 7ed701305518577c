"""Does noise hide the changes that its profile says it hides?"""

import math
from collections.abc import Iterator

import numpy as np

from mechanisms.check.events import chosen_event, pooled, projected, telling_direction
from mechanisms.check.evidence import Evidence

# Additive noise is tested at multiples of a change: about as long as this many of its standard
# deviations. Few releases show such a change, and the profile of relatively less noise is known.
SHIFTS = (1.0, 3.0)
# The change, in standard deviations, at which i.i.d. elements tell most about the size of a change
# that a profile covers. A relative error r in that size moves the delta(0) of a Gaussian by 1.14 r
# standard deviations of one draw.
ELEMENT_SHIFT = 3.0
# At most this many scores choose an event.
MOST_TRAINED = 1 << 15
# Noise along a change is rounding error below this fraction of the change's length.
CANCELLED = 1e-6
# The median absolute value of a standard normal variable.
NORMAL_MEDIAN = 0.6745


def find_shown_change(evidence: Evidence, name: str, change: np.ndarray) -> Iterator[str]:
    """Yield a sentence for each multiple of a change that noise hides less than the profile states.

    Args:
        name: The change of the query, in words.
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
    # Where noise cancels, a change as small as the noise would be lost in rounding.
    if deviation_along > CANCELLED * length:
        # Powers of two, so that directions share them and the profile is computed once.
        multiples = {2.0 ** round(math.log2(s * deviation_along / length)) for s in SHIFTS}
    for multiple in sorted(multiples):
        found = _judged(evidence, trained, tested, multiple, multiple * length)
        if found is not None:
            times = "" if multiple == 1 else f", multiplied by {multiple:g}"
            yield (f"{len(tested)} releases show a change of {name}{times}, with {found}")


def find_shown_elements(evidence: Evidence) -> Iterator[str]:
    """As `find_shown_change`, for noise of i.i.d. elements: those of all draws form one sample."""
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
    """How scores (n,) contradict the claim for `multiple` times a change; None if they do not.

    trained, tested: The scores that choose the event and that judge it; the change adds `moved`.
    """
    evidence.compared += 1
    event = chosen_event((trained, trained + moved), evidence.claims(multiple), paired=True)
    return event.contradiction((tested, tested + moved))


def _deviation(scores: np.ndarray) -> float:
    """The root mean square of scores (n,), or a smaller estimate from the median absolute score.

    Heavy tails inflate the root mean square. The estimate is the standard deviation of a normal
    variable with that median; it does not count where it is 0, as most scores then are.
    """
    squares = scores**2
    middle = math.sqrt(float(np.median(squares)))
    spread = math.sqrt(float(np.mean(squares)))
    return min(spread, middle / NORMAL_MEDIAN) or spread
