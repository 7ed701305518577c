"""The judge of formulas for the sensitivity of a factorisation: every person is enumerated.

One person takes part in at most k steps of a stream of numbers, any two at least b apart, and moves
each by at most 1. All sets of such steps and all signs are tried on small streams.
"""

import math
from collections.abc import Callable, Iterator
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
import scipy

from claims.comparisons import universal
from claims.judges import Count, judge
from claims.verdicts import Finding
from mechanisms.strategies.streams.participation import (
    Participation,
    largest_apart,
    sum_of_columns,
)

ROUNDING = 1e-12


def enumerated(strategy: np.ndarray, participation: Participation) -> float:
    """max ||C u|| over all persons u, for a small C, (n, n)."""
    gram = strategy.T @ strategy
    largest = 0.0
    for steps in step_sets(len(gram), participation):
        # A set and its opposite signs give the same norm.
        signs = np.array([(1, *rest) for rest in product((1, -1), repeat=len(steps) - 1)])
        inside = gram[np.ix_(steps, steps)]
        largest = max(largest, float(np.einsum("si,ij,sj->s", signs, inside, signs).max()))
    return math.sqrt(largest)


def step_sets(steps: int, participation: Participation) -> Iterator[list[int]]:
    """Every nonempty set of steps that one person may take part in, in order."""
    stack = [[first] for first in range(steps)]
    while stack:
        chosen = stack.pop()
        yield chosen
        if len(chosen) < participation.times:
            start = chosen[-1] + participation.separation
            stack += [[*chosen, following] for following in range(start, steps)]


def columns_apart(strategy: np.ndarray, participation: Participation) -> float:
    """The largest sum of squared norms of columns: exact with at most b bands."""
    norms = np.vecdot(strategy, strategy, axis=0)
    return _root(largest_apart(norms, participation.times, participation.separation))


def largest_rows(strategy: np.ndarray, participation: Participation) -> float:
    """For each row of |C^T C| its largest sum over one person's steps, then that of these sums."""
    times, apart = participation.times, participation.separation
    rows = largest_apart(np.abs(strategy.T @ strategy), times, apart)
    return _root(largest_apart(rows, times, apart))


def earliest_steps(strategy: np.ndarray, participation: Participation) -> float:
    """The sum of the columns b apart from the first on, of a Toeplitz C."""
    steps = participation.earliest(len(strategy))
    return float(np.linalg.norm(sum_of_columns(strategy[:, 0], steps)))


def banded(rng: np.random.Generator, steps: int, participation: Participation) -> np.ndarray:
    """At most b bands, of any sign and size."""
    distance = np.arange(steps)[:, None] - np.arange(steps)
    inside = (distance >= 0) & (distance < participation.separation)
    return np.where(inside, rng.standard_normal((steps, steps)), 0.0)


def any_matrix(rng: np.random.Generator, steps: int, participation: Participation) -> np.ndarray:
    """Lower-triangular."""
    return np.tril(rng.standard_normal((steps, steps)))


def decreasing(rng: np.random.Generator, steps: int, participation: Participation) -> np.ndarray:
    """Toeplitz with a nonnegative, nonincreasing first column."""
    column = np.sort(rng.random(steps) ** 3)[::-1]
    return scipy.linalg.toeplitz(column, np.zeros(steps))


class Formula(NamedTuple):
    """A formula, and a draw of the matrices that it is for.

    Args:
        value: Of C and a participation.
        draw: From a generator, n and a participation.
        matrices: What is drawn, in words.
        exact: Whether it is the sensitivity, or an upper bound.
    """

    value: Callable[[np.ndarray, Participation], float]
    draw: Callable[[np.random.Generator, int, Participation], np.ndarray]
    matrices: str
    exact: bool


FORMULAS = {
    "columns": Formula(columns_apart, banded, "Lower-triangular with b bands of any sign", True),
    "rows": Formula(largest_rows, any_matrix, "Lower-triangular", False),
    "earliest": Formula(
        earliest_steps, decreasing, "Toeplitz with a nonincreasing column >= 0", True
    ),
}


@judge
def enumerated_sensitivity(
    *,
    formula: Literal["columns", "rows", "earliest"],
    steps: int,
    participations: list[tuple[Count, Count]],
    matrices: int,
) -> Finding:
    """A formula against the largest ||C u|| over all persons u."""
    stated = FORMULAS[formula]
    rng = np.random.default_rng(0)
    ratios = []
    for times, separation in participations:
        participation = Participation(times=times, separation=separation)
        for _ in range(matrices):
            strategy = stated.draw(rng, steps, participation)
            largest = enumerated(strategy, participation)
            ratios.append(stated.value(strategy, participation) / largest)
    pairs = ", ".join(f"({times}, {apart})" for times, apart in participations)
    cases = [
        abs(ratio - 1) <= ROUNDING if stated.exact else ratio >= 1 - ROUNDING for ratio in ratios
    ]
    found = f"{min(ratios):.4g} to {max(ratios):.4g} times the sensitivity"
    if stated.exact and all(cases):
        found = "equal but for rounding"
    return Finding(
        parts=[universal("", cases, found)],
        ours=f"{found}, {len(ratios)} matrices",
        detail=(
            f"{stated.matrices}: {matrices} matrices of {steps} steps, drawn at random, "
            f"for each (k, b) of {pairs}; all sets of steps and all signs are tried."
        ),
    )


def _root(square: np.ndarray) -> float:
    return math.sqrt(float(square))
