"""Chooses the pairs of neighbouring values on which a mechanism is audited."""

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

# The pairs are chosen by LOOK releases; at most PAIRS of them start at a constant value.
LOOK, PAIRS = 32, 6
# The number of changes that are tried from other values too.
MOVED = 2


def audited_pairs(release: Callable, query: Query) -> list[tuple[str, Sequence[np.ndarray]]]:
    """Return pairs of values that the query allows, with their names.

    Up to `PAIRS` start at a constant value. If a range of the elements is stated, `MOVED` of their
    changes are tried at both edges of it and at a random value too: noise that depends on the
    value, or is cut at the edges, may show only there.

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
    """Yield pairs with the same change at both edges and at a random value, if it is allowed."""
    low, high = query.element_range
    # From a value between these two the changed value lies in the range too.
    lowest, highest = low + np.maximum(-change, 0.0), high - np.maximum(change, 0.0)
    firsts = {"at the lower edge": lowest, "at the upper edge": highest}
    value = random_value(query, np.random.default_rng(1), 1.0)
    if value is not None:
        firsts["at a random value"] = np.clip(value, lowest, highest)
    for place, first in firsts.items():
        if is_allowed(first, query) and is_allowed(first + change, query):
            yield f"{name}, {place}", (first, first + change)
