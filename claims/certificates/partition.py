"""DAWA as published: the partition of equal cells against that of cells that differ."""

from collections.abc import Callable
from fractions import Fraction

import mpmath

from claims.certificates.written import Certificate, certificate, exact, rounded, size
from mechanisms import Budget, Query
from mechanisms.catalogue.workloads.dawa import DawaPublished
from mechanisms.strategies.partition import spikes


def dawa(setting: str, query: Query, budget: Budget) -> Certificate:
    """DAWA as published at its default ratio: the change that raises P / Q most.

    One cell, two cells where a record moves, or every other cell where all may change.
    """
    mechanism = DawaPublished.calibrate_only(query, budget)
    n, one = query.size, Fraction(exact(query.linf_sensitivity))
    if query.structure == "histogram" and query.adjacency == "replace":
        places = [(n // 4, n // 2)]
    else:
        places = [(n // 2, n)] if query.one_column else [(n // 2, n), (0, 2)]
    log_q = mechanism._log_all_single(spikes(n, {}))
    losses = {
        place: mechanism._log_all_single(uneven(n, *place, float(one))) - log_q for place in places
    }
    start, stride = max(losses, key=losses.get)
    with mpmath.workdps(30):
        bound = rounded(mpmath.mpf(losses[start, stride]) * (1 - 1e-9), 5)
    count, l1 = len(range(start, n, stride)), Fraction(exact(query.l1_sensitivity))
    norms = {
        "l1": size(str(count * one), str(l1)),
        "l2_squared": size(str(count * one**2), exact(query.l2_sensitivity**2)),
        "linf": size(str(one), str(one)),
    }
    scale = str(4 * l1 / Fraction(exact(budget.epsilon)))
    return certificate(
        setting,
        "dawa",
        budget,
        {"n": n} | norms | {"start": start, "stride": stride},
        {"scale": scale},
        {},
        {"epsilon_at_least": bound},
    )


def uneven(
    n: int, start: int, stride: int, change: float
) -> Callable[[int], list[tuple[float, int]]]:
    """Deviations, for `log_all_single`, of equal cells of which every `stride`-th is changed.

    An interval with several changed cells counts as one with one, unless every other is changed.
    """
    spots = range(start, n, stride)
    gaps = [start + 1, n - spots[-1], *[stride] * min(1, len(spots) - 1)]
    times = [1, 1, len(spots) - 1]

    def found(length: int) -> list[tuple[float, int]]:
        flat = sum(count * max(0, gap - length) for gap, count in zip(gaps, times, strict=False))
        some = length // 2 if stride == 2 and start < 2 else 1
        deviation = 2 * change * some * (length - some) / length
        return [(0.0, flat), (deviation, n - length + 1 - flat)]

    return found
