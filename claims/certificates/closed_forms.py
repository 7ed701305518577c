"""Certificates whose P and Q are closed forms: norm noise, Wishart noise and DAWA as published.

DAWA's event is its partition of equal and of unequal cells.
"""

from collections.abc import Callable
from fractions import Fraction

import mpmath

from claims.certificates.certificate_format import (
    Certificate,
    certificate,
    exact,
    lower_bound,
    rounded,
    size,
)
from mechanisms import Budget, Query
from mechanisms.catalogue.workloads.dawa import DawaPublished
from mechanisms.strategies.partition import spikes


def norm_noise(setting: str, sensitivity: float, budget: Budget) -> Certificate:
    """Certify noise of density exp(-|y - x| / b) in any norm, with b = sensitivity / epsilon."""
    largest = exact(sensitivity)
    return certificate(
        setting,
        "norm_noise",
        budget,
        {"distance": size(largest, largest)},
        {"scale": str(Fraction(largest) / Fraction(exact(budget.epsilon)))},
        {},
        {"delta_at_most": "0"},
    )


def wishart(setting: str, query: Query, budget: Budget) -> Certificate:
    """Refute the Wishart mechanism with one record of the largest norm against no record."""
    with mpmath.workdps(40):
        p = -mpmath.expm1(-mpmath.mpf(budget.epsilon) / 3)
        bound = lower_bound(p, 0, budget.epsilon)
    longest = exact(query.record_bound**2)
    scale = Fraction(longest) * 3 / (2 * Fraction(exact(budget.epsilon)))
    return certificate(
        setting,
        "wishart",
        budget,
        {"record_squared": size(longest, longest)},
        {"scale": str(scale)},
        {},
        bound,
    )


def dawa(setting: str, query: Query, budget: Budget) -> Certificate:
    """Refute DAWA as published, at its default ratio, with the change that raises P / Q most.

    The change is in one cell, in two cells if a record moves, or in every other cell if all may
    change.
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
    """Return the deviations, for `log_all_single`, of equal cells after some have been changed.

    Every `stride`-th cell from `start` is changed. An interval with several changed cells counts as
    having one, unless every other cell is changed.
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
