"""The queries of a report: families of one size M, of which a mechanism serves some."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from mechanisms.query.query import Query


@dataclass(frozen=True)
class Family:
    """Queries of every size.

    words: What the answer is, and how far one person moves it.
    query: From M, the number of elements, to the query.
    """

    words: str
    query: Callable[[int], Query]


def _square(size: int, **stated) -> Query:
    side = math.isqrt(size)
    return Query(shape=(side, side), **stated)


# One number has one norm.
_ONE = {"l1_sensitivity": 1.0, "linf_sensitivity": 1.0}
# In the order in which a report chooses the first that is served.
FAMILIES = {
    "vector": Family(
        "a vector of l2 sensitivity 1",
        lambda m: Query(shape=(m,), l2_sensitivity=1.0, **(_ONE if m == 1 else {})),
    ),
    "histogram": Family(
        "a histogram: one person is in one cell (l1 and l2 sensitivity 1)",
        lambda m: Query(shape=(m,), structure="histogram"),
    ),
    "l1": Family(
        "a vector of l1 sensitivity 1",
        lambda m: Query(shape=(m,), l1_sensitivity=1.0, **(_ONE if m == 1 else {})),
    ),
    "matrix": Family(
        "a square matrix of l2 sensitivity 1", lambda m: _square(m, l2_sensitivity=1.0)
    ),
    "bits": Family(
        "a person's own answer in [0, 1]^M, local privacy",
        lambda m: Query(shape=(m,), element_range=(0.0, 1.0), adjacency="local"),
    ),
    "gram": Family(
        "a sum of x x^T over records of norm at most 1",
        lambda m: _square(m, structure="gram", record_bound=1.0),
    ),
    "counts": Family(
        "counts of which one person is in up to all, by 1 each",
        lambda m: Query(shape=(m,), structure="counts", linf_sensitivity=1.0),
    ),
}
# Squares, so that a family of matrices has them too. COMPARED is the size of a comparison.
SIZES, COMPARED = (1, 16, 256, 1024), 64
EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
DELTA = 1e-5
