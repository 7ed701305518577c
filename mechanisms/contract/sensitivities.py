"""Sensitivities that belong together: the inequalities between the norms of one change."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mechanisms.contract.query import Query

# Sensitivities may be typed by hand: 1.414 stands for sqrt(2).
_TYPED_BY_HAND = 1e-3


def check_sensitivities(query: Query) -> None:
    """Raise ValueError, with the inequality, unless the sensitivities can be those of one query.

    Each is the least bound of a norm of D over all neighbours, and at most k elements of D differ
    from zero (`Query.changed`). Every D obeys ||D||_inf <= ||D||_2 <= ||D||_1 <= sqrt(k) ||D||_2
    and ||D||_2 <= sqrt(k) ||D||_inf, and so do the suprema. A larger number would be a bound that
    no neighbours attain, and noise calibrated to it would be judged by changes that do not exist.

    The width of `element_range` stands for linf_sensitivity where that is not stated. It bounds the
    values, so that it may exceed the other sensitivities.
    """
    l1, l2, linf, k = query.l1_sensitivity, query.l2_sensitivity, _stated_linf(query), query.changed
    root = math.sqrt(k)
    for small, large, words in (
        (linf, l2, "linf_sensitivity <= l2_sensitivity"),
        (l2, l1, "l2_sensitivity <= l1_sensitivity"),
        (l1, root * l2, f"l1_sensitivity <= sqrt({k}) l2_sensitivity"),
        (
            l2,
            None if linf is None else root * linf,
            f"l2_sensitivity <= sqrt({k}) linf_sensitivity",
        ),
    ):
        if None not in (small, large) and small > large * (1 + _TYPED_BY_HAND):
            raise ValueError(
                f"the sensitivities contradict each other: every query has {words}, got {small:g} "
                f"> {large:g}; state the largest norms of one set of changes, and leave out "
                "what is not known"
            )


def _stated_linf(query: Query) -> float | None:
    if query.element_range is not None:
        low, high = query.element_range
        if query.linf_sensitivity >= high - low:
            return None
    return query.linf_sensitivity
