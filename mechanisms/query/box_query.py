"""The query of several papers: a tensor with elements in a range that may become any other."""

import math

from mechanisms import Query


def box_query(
    shape: tuple[int, ...], low: float, high: float, *, adjacency: str = "local"
) -> Query:
    """Return the query for a tensor with elements in [low, high] that may become any other one.

    low < high. Each of the I elements may move by high - low, all at once: the l2 sensitivity is
    (high - low) sqrt(I) (mgm2021 eqs. 30 and 31, tldp2025 eqs. 17 to 19), the l1 sensitivity
    (high - low) I. The change from one corner of the box to the opposite one attains both.
    """
    size = math.prod(shape)
    return Query(
        shape=shape,
        l2_sensitivity=(high - low) * math.sqrt(size),
        l1_sensitivity=(high - low) * float(size),
        element_range=(low, high),
        frobenius_bound=max(abs(low), abs(high)) * math.sqrt(size),
        adjacency=adjacency,
    )
