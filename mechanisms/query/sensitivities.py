"""Whether the numbers of a query fit together: norms of one change, of values, and of records."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mechanisms.query.query import Query

# Numbers may be typed by hand: 1.414 stands for sqrt(2).
_TYPED_BY_HAND = 1e-3

# A number, one that it must not exceed, and the inequality in words.
_Inequality = tuple[float, float, str]


def check_sensitivities(query: Query) -> None:
    """Raise ValueError, with the inequality, unless the numbers can be those of one query.

    A sensitivity that no neighbours attain is refused: noise calibrated to it would be judged by
    changes that do not exist. So is an element range in which no value has the stated bounds.
    """
    for small, large, words in (
        *_of_one_change(query),
        *_of_two_values(query),
        *_of_records(query),
        *_of_one_value(query),
        *_of_a_box_and_a_ball(query),
    ):
        if small > large * (1 + _TYPED_BY_HAND):
            raise ValueError(
                f"the query contradicts itself: every query has {words}, got {small:g} > "
                f"{large:g}; state numbers that hold for the same data sets, and leave out what is "
                "not known"
            )


def _of_one_change(query: Query) -> Iterator[_Inequality]:
    """Yield inequalities between the sensitivities, each of which is the supremum of a norm of D.

    At most k elements of D differ from zero (`Query.changed`). Every D obeys
    ||D||_inf <= ||D||_2 <= ||D||_1 <= sqrt(k) ||D||_2 and ||D||_2 <= sqrt(k) ||D||_inf, and so do
    the suprema. Both also obey ||D||_2^2 <= ||D||_1 ||D||_inf.

    If linf_sensitivity is not stated, it is the width of `element_range`. This bounds the values
    and may exceed the other sensitivities.
    """
    l1, l2, linf, k = query.l1_sensitivity, query.l2_sensitivity, _stated_linf(query), query.changed
    root = math.sqrt(k)
    if linf is not None:
        yield linf, l2, "linf_sensitivity <= l2_sensitivity"
        yield l2, root * linf, f"l2_sensitivity <= sqrt({k}) linf_sensitivity"
    if l1 is not None:
        yield l2, l1, "l2_sensitivity <= l1_sensitivity"
        yield l1, root * l2, f"l1_sensitivity <= sqrt({k}) l2_sensitivity"
    if l1 is not None and query.linf_sensitivity is not None:
        most = math.sqrt(l1 * query.linf_sensitivity)
        yield l2, most, "l2_sensitivity <= sqrt(l1_sensitivity linf_sensitivity)"


def _stated_linf(query: Query) -> float | None:
    if query.element_range is not None:
        low, high = query.element_range
        if query.linf_sensitivity >= high - low:
            return None
    return query.linf_sensitivity


def _of_two_values(query: Query) -> Iterator[_Inequality]:
    """Yield inequalities that hold because D is the difference of two values with bounds.

    The other inequalities imply that the l1 sensitivity is at most k (b - a).
    """
    if query.frobenius_bound is not None:
        most = 2 * query.frobenius_bound
        yield query.l2_sensitivity, most, "l2_sensitivity <= 2 frobenius_bound"
    if query.element_range is not None:
        (low, high), k = query.element_range, query.changed
        width, words = high - low, f"for elements in [{low:g}, {high:g}]"
        yield query.linf_sensitivity, width, f"linf_sensitivity <= {width:g} {words}"
        yield (
            query.l2_sensitivity,
            math.sqrt(k) * width,
            f"l2_sensitivity <= sqrt({k}) {width:g} {words}",
        )


def _of_records(query: Query) -> Iterator[_Inequality]:
    """Yield bounds on D, the difference of two terms of bounded norm: columns, or squares x x^T.

    Each column that changes adds 2 B, and under local privacy all columns change. A Gram matrix
    changes by B^2 if a record is added or removed. If one is replaced, the sum of both norms,
    2 B^2, is accepted although `Query.gram_change` is less: mvg2018 calibrates to it, and nothing
    is judged by a change of that size. In how many records a Gram matrix changes under local
    privacy is not known.
    """
    l2, bound = query.l2_sensitivity, query.record_bound
    if query.structure == "records":
        columns = query.changed // query.shape[0]
        root = f" sqrt({columns})" if columns > 1 else ""
        most = 2 * math.sqrt(columns) * bound
        yield l2, most, f"l2_sensitivity <= 2{root} record_bound for columns that are records"
    if query.structure == "gram" and query.adjacency != "local":
        terms = 2 if query.adjacency == "replace" else 1
        factor = f"{terms} " if terms > 1 else ""
        words = f"l2_sensitivity <= {factor}record_bound^2 for a gram matrix"
        yield l2, terms * bound**2, f"{words} under {query.adjacency}"


def _of_one_value(query: Query) -> Iterator[_Inequality]:
    """Yield the least norms of values with elements in the element range, as inequalities."""
    if query.element_range is None:
        return
    low, high = query.element_range
    nearest, words = max(low, -high, 0.0), f"for elements in [{low:g}, {high:g}]"
    if query.frobenius_bound is not None:
        yield (
            math.sqrt(query.size) * nearest,
            query.frobenius_bound,
            f"sqrt({query.size}) {nearest:g} <= frobenius_bound {words}",
        )
    if query.structure == "records":
        rows = query.shape[0]
        yield (
            math.sqrt(rows) * nearest,
            query.record_bound,
            f"sqrt({rows}) {nearest:g} <= record_bound {words}",
        )


def _of_a_box_and_a_ball(query: Query) -> Iterator[_Inequality]:
    """Yield bounds on D = x - y for values x and y in an element range, with norms of at most g.

    ||x - y||^2 <= 2 g^2 - 2 x.y. Each element that changes adds at least the least product of two
    numbers of the range to x.y, and every other element adds its square.
    """
    if query.element_range is None or query.frobenius_bound is None:
        return
    (low, high), bound, k = query.element_range, query.frobenius_bound, query.changed
    inside = min(high, bound) - max(low, -bound)
    least = min(low * low, low * high, high * high)
    products = (k if least < 0 else query.size) * least
    apart = math.sqrt(max(2 * bound**2 - 2 * products, 0.0))
    words = f"for elements in [{low:g}, {high:g}] and frobenius_bound = {bound:g}"
    for most in (math.sqrt(k) * inside, apart):
        yield query.l2_sensitivity, most, f"l2_sensitivity <= {most:g} {words}"
