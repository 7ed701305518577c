"""Does an answer move further between neighbours than its query states? A search for a pair."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from mechanisms.query.query import Query

NORMS = {"l1_sensitivity": 1, "l2_sensitivity": 2, "linf_sensitivity": np.inf}
# Relative excess over a stated sensitivity that is put down to rounding.
ROUNDING = 1e-9
# Share of the tries that change the given data set; the others change ones drawn from it.
_OF_GIVEN = 0.5

Neighbours = Callable[[np.ndarray, np.random.Generator], np.ndarray]


@dataclass(frozen=True, kw_only=True)
class SensitivityFound:
    """The largest changes that were seen, and where.

    Args:
        stated, found: By the name of a sensitivity, what the query states and the largest seen.
        pairs: By the same name, the two data sets of the largest change.
        tries: How many pairs were compared.
    """

    stated: dict[str, float]
    found: dict[str, float]
    pairs: dict[str, tuple[np.ndarray, np.ndarray]]
    tries: int

    @property
    def exceeded(self) -> list[str]:
        """The sensitivities that the query does not have."""
        return [
            name
            for name, stated in self.stated.items()
            if self.found[name] > stated * (1 + ROUNDING)
        ]

    def __str__(self) -> str:
        if not self.exceeded:
            return (
                f"{self.tries:,} pairs of neighbours move the answer no further than stated; that "
                "is no proof"
            )
        lines = []
        for name in self.exceeded:
            first, second = self.pairs[name]
            lines += [
                f"{name} is at least {self.found[name]:.6g}, and {self.stated[name]:.6g} is "
                "stated. It is reached between",
                f"  {_shown(first, second)}",
                f"  {_shown(second, first)}",
            ]
        return "\n".join(lines)


def check_sensitivity(
    function: Callable[[np.ndarray], np.ndarray],
    records: np.ndarray,
    neighbours: str | Neighbours,
    query: Query,
    *,
    tries: int = 2000,
    seed: int = 0,
) -> SensitivityFound:
    """Search for neighbouring data sets between which an answer moves further than is stated.

    Args:
        function: From a data set (n, ...) to the answer, of the query's shape and without noise.
        records: Records that are allowed, the extreme ones included; first axis: records.
        neighbours: "add-remove" (a data set of any size, and one record less), "replace" (of the
            size of `records`, and one record changed), or a function (data set, rng) that returns
            a neighbour of it. The data sets are `records` and sets drawn from them with repetition.
        query: Its stated sensitivities are compared.
        tries: Pairs at most; > 0.
        seed: Of the search.

    Returns:
        What was found; `str` of it shows the pair.

    Raises:
        ValueError: An answer that is not finite or of another shape, or unknown neighbours.
    """
    records = np.asarray(records)
    if records.ndim == 0 or len(records) < 2:
        raise ValueError(f"records must be at least 2, got shape {records.shape}")
    if not callable(neighbours) and neighbours not in ("add-remove", "replace"):
        raise ValueError(
            f"neighbours must be 'add-remove', 'replace' or a function, got {neighbours!r}"
        )
    if not callable(neighbours) and query.adjacency != neighbours:
        raise ValueError(
            f"the sensitivities of the query are those of {query.adjacency}, and neighbours is "
            f"{neighbours!r}: state one adjacency"
        )
    if tries < 1:
        raise ValueError(f"tries must be at least 1, got {tries!r}")
    stated = {name: getattr(query, name) for name in NORMS if getattr(query, name) is not None}
    found, pairs, compared = dict.fromkeys(stated, -1.0), {}, 0
    for first, second in _pairs(records, neighbours, tries, np.random.default_rng(seed)):
        change = (_answer(function, first, query) - _answer(function, second, query)).ravel()
        compared += 1
        for name in stated:
            size = float(np.linalg.norm(change, NORMS[name]))
            if size > found[name]:
                found[name], pairs[name] = size, (first, second)
    return SensitivityFound(stated=stated, found=found, pairs=pairs, tries=compared)


def _pairs(
    records: np.ndarray, neighbours: str | Neighbours, tries: int, rng: np.random.Generator
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Neighbours of the given data set first, then of ones drawn from it; copies, all of them."""
    order = _extremes_first(records)
    for number in range(tries):
        given = number < _OF_GIVEN * tries
        if callable(neighbours):
            first = records if given else _drawn(records, rng, len(records))
            yield first.copy(), np.asarray(neighbours(first.copy(), rng))
        elif neighbours == "add-remove":
            first = (
                records if given else _drawn(records, rng, int(rng.integers(1, len(records) + 1)))
            )
            place = order[number] if given and number < len(order) else rng.integers(len(first))
            yield first.copy(), np.delete(first, place, axis=0)
        else:
            first = records if given else _drawn(records, rng, len(records))
            second = first.copy()
            second[rng.integers(len(first))] = records[rng.choice(order[: max(2, len(order) // 4)])]
            yield first.copy(), second


def _drawn(records: np.ndarray, rng: np.random.Generator, size: int) -> np.ndarray:
    """A data set of some records, in which a few come often."""
    kinds = rng.integers(len(records), size=int(rng.integers(1, size + 1)))
    return records[rng.choice(kinds, size)]


def _extremes_first(records: np.ndarray) -> np.ndarray:
    """Places of the records, those far from the mean record first."""
    if records.dtype.kind not in "biuf":
        return np.arange(len(records))
    flat = records.reshape(len(records), -1).astype(float)
    return np.argsort(-np.linalg.norm(flat - flat.mean(axis=0), axis=1), kind="stable")


def _answer(function, data: np.ndarray, query: Query) -> np.ndarray:
    answer = np.asarray(function(data), float)
    if answer.shape != query.shape and answer.size != query.size:
        raise ValueError(
            f"the function must return an answer of shape {query.shape}, got {answer.shape} of a "
            f"data set of {len(data)} records"
        )
    if not np.isfinite(answer).all():
        raise ValueError(
            f"the function must return finite numbers, got {answer.ravel()[:3]} of a data set of "
            f"{len(data)} records: it must answer for every size"
        )
    return answer


def _shown(data: np.ndarray, other: np.ndarray) -> str:
    """A data set in a line: its size, and the records that the other one does not have."""
    here, there = (Counter(tuple(np.ravel(record).tolist()) for record in x) for x in (data, other))
    own = list((here - there).elements())
    words = ", ".join("(" + ", ".join(map(_number, record[:6])) + ")" for record in own[:2])
    return f"{len(data)} records" + (f", one of which is {words}" if own else "")


def _number(value) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
