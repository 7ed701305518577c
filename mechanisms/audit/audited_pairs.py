"""The pairs of neighbouring values on which a mechanism is audited."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from mechanisms.check.neighbours import (
    changes,
    constant_value,
    is_allowed,
    neighbouring_pairs,
    random_value,
)
from mechanisms.query.query import Query

# Releases by which pairs are chosen, and the most pairs from a constant value.
LOOK, PAIRS = 32, 6
# Changes that are tried from other values too.
MOVED = 2


def audited_pairs(release: Callable, query: Query) -> list[tuple[str, Sequence[np.ndarray]]]:
    """Pairs of values that the query allows, with their names.

    Up to `PAIRS` start at a constant value. Where a range of the elements is stated, also some of
    their changes at both edges of it and at a random value: noise that depends on the value, or is
    cut at the edges, may show there alone.

    Args:
        release: A function (value, rng) whose answers, of the query's shape, show where its noise
            is least.
        query: The query that `release` answers.
    """
    constant = constant_value(query)
    if constant is None:
        return []
    rng = np.random.default_rng(0)
    noise = np.array([release(constant.copy(), rng) - constant for _ in range(LOOK)])
    pairs = neighbouring_pairs(query, changes(query, noise, rng), constant)[:PAIRS]
    found = [(f"{name}, at a constant value", pair) for name, _, pair in pairs]
    if query.element_range is not None:
        for name, _, (first, second) in pairs[:MOVED]:
            found += _moved(name, second - first, query)
    return found


def _moved(
    name: str, change: np.ndarray, query: Query
) -> Iterator[tuple[str, Sequence[np.ndarray]]]:
    """The same change at both edges and at a random value, where it is allowed."""
    low, high = query.element_range
    rises = change > 0
    firsts = {
        "at the lower edge": np.where(change < 0, -change, 0.0) + low,
        "at the upper edge": high - np.where(rises, change, 0.0),
    }
    far = random_value(query, np.random.default_rng(1), 1.0)
    if far is not None:
        # Within the range together with the change.
        firsts["at a random value"] = np.clip(
            far, low - np.minimum(change, 0), high - change * rises
        )
    for place, first in firsts.items():
        if is_allowed(first, query) and is_allowed(first + change, query):
            yield f"{name}, {place}", (first, first + change)
