"""Computes a lower bound on the error of every mechanism for a query and a budget."""

import functools
import math
from dataclasses import dataclass

import numpy as np

from mechanisms.limit.ball_test import ball_test
from mechanisms.limit.lattice import LatticeTest, lattice_test
from mechanisms.limit.pure import pure_limit
from mechanisms.limit.refined_test import refined_test
from mechanisms.limit.threshold_test import ThresholdTest
from mechanisms.query.query import Budget, Query

# The ranges of the search: a bound at a larger delta also holds at a smaller one.
EPSILONS, _LEAST_DELTA = (1e-4, 60.0), 1e-40
# Above this delta the best noise is nearly 0, and the search for its shape does not end.
_LARGEST_DELTA = 0.999
# Below this epsilon noise spans too many lattice steps, and longer changes are tested instead.
LEAST_ON_LATTICE = 0.05
# More dimensions than this change the limit of an element by less than 0.1%.
_SEARCHED = 20_000
# For up to this many elements, the search for one element fewer is used too.
_FEW = 8

# The tolerance of `ThresholdTest.lower` for a fast bound.
_FAST_TOLERANCE = 3e-4
# The bound is lowered by this share, which covers the rounding of the factors below.
_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class Limit:
    """A lower bound on the error of every mechanism.

    Attributes:
        lower: Every (epsilon, delta)-DP mechanism A has sup_x E||A(x) - x||^2 >= lower, in squared
            units of the answer and summed over its M elements. None if no bound is known.
        how: The argument in words, or why no bound is known.
        test: The test that proves the bound, at sensitivity 1. None without a bound, and at delta
            0, where the bound is a formula. Its `lower(delta)` is the bound for one ball or one
            element, with two exceptions. Below epsilon 0.05 the test of one element is for changes
            k times as long, and the bound is k^2 `lower(delta_k)`, with k and delta_k of
            docs/the_limit.md. For M from 3 to 8 and above 20,000 the test of a ball may have d < M
            dimensions, and the bound is (M / d) `lower(delta)`.
        elements: M, the number of elements of the answer.
    """

    lower: float | None
    how: str
    test: ThresholdTest | LatticeTest | None
    elements: int

    @property
    def rmse(self) -> float | None:
        """The bound as a root mean square error per element; None without a bound."""
        return None if self.lower is None else math.sqrt(self.lower / self.elements)


@functools.lru_cache(maxsize=256)
def limit(query: Query, budget: Budget, *, fast: bool = False) -> Limit:
    """Return a lower bound on the worst-case expected squared error of every private mechanism.

    The bound holds for an answer that takes all values (for histograms, all whole numbers of
    steps), and for any mechanism, additive or not, biased or not. docs/the_limit.md proves it.

    Args:
        query: Shape, sensitivities and structure.
        budget: Any budget; `lower` is None if no bound is known.
        fast: Whether to use a coarse lattice and, for M >= 2, the event of one ball: about 0.2 s,
            tight for large M only. The full search takes up to 5 s.

    Raises:
        TypeError: `query` is not a Query, or `budget` not a Budget.
    """
    if not isinstance(query, Query) or not isinstance(budget, Budget):
        given = f"{type(query).__name__} and {type(budget).__name__}"
        raise TypeError(f"limit takes a Query and a Budget, got {given}")
    reason = _unknown(query, budget)
    if reason:
        return _none(query, reason)
    found = _arguments(query, budget, fast)
    value, how, test = max(found, key=lambda each: each[0])
    lower = value - _ROUNDING * abs(value)
    if not lower > 0:
        return _none(query, "the search for a test finds none at this budget")
    return Limit(lower=lower, how=how, test=test, elements=query.size)


def _none(query: Query, reason: str) -> Limit:
    return Limit(lower=None, how=f"no bound known: {reason}", test=None, elements=query.size)


def _unknown(query: Query, budget: Budget) -> str | None:
    """Return why no bound is known, or None if a search may find one."""
    if query.element_range is not None or query.frobenius_bound is not None:
        return "the bound is for answers of unrestricted range, and this one is bounded"
    if query.adjacency == "local":
        return "the bound is for answers of unrestricted range, and local records are bounded"
    if query.structure in ("records", "gram"):
        return f"neighbours of structure {query.structure!r} have no bound yet"
    if query.structure == "histogram" and query.adjacency == "replace":
        return "a histogram under replacement has no bound yet"
    if not EPSILONS[0] <= budget.epsilon <= EPSILONS[1]:
        return (
            f"tests are searched for at epsilon from {EPSILONS[0]:g} to {EPSILONS[1]:g}, "
            f"got {budget.epsilon:g}"
        )
    return None


def _arguments(query: Query, budget: Budget, fast: bool):
    """Yield (bound, words, test or None) of every argument that fits the query, see `Limit`."""
    epsilon, delta = budget.epsilon, budget.delta
    fast = fast or delta > _LARGEST_DELTA
    times, grown = _group(epsilon, delta)
    if query.structure == "histogram":
        test = lattice_test(times * epsilon, grown, True, fast)
        factor = query.size * (query.record_bound * times) ** 2
        yield factor * test.lower(grown), "whole steps of every cell", test
        return
    if delta:
        # For an l2 ball of several elements other tests are better, so a coarse lattice is enough.
        ball = query.l1_sensitivity is None and query.linf_sensitivity is None
        along = lattice_test(times * epsilon, grown, False, fast or (query.size > 1 and ball))
        words = "one direction at a time, tests at several distances"
        yield _signed_changes(query) * times**2 * along.lower(grown), words, along
    else:
        words = "one direction at a time, the least error of pure privacy"
        yield _signed_changes(query) * pure_limit(1, epsilon), words, None
    if query.size == 1:
        return
    if delta == 0:
        least = _radius_of_volume(query) ** 2 * pure_limit(query.size, epsilon)
        yield least, "pure privacy, the volume of the changes", None
        return
    inner = _radii(query)["l2"]
    given = max(delta, _LEAST_DELTA)
    dimension = min(query.size, _SEARCHED)
    if fast or query.size > dimension:
        test = ball_test(query.size, epsilon, given)
        lower = test.lower(given, _FAST_TOLERANCE) if fast else test.lower(given)
        yield inner**2 * lower, "the l2 ball of changes", test
    if fast:
        return
    # A projection to d dimensions has d / M of the error, so V / M does not decrease in M. For few
    # elements a search may find less per element than the search for one element fewer.
    for searched in {dimension, dimension - (2 < dimension <= _FEW)}:
        test = refined_test(searched, epsilon, given)
        factor = inner**2 * query.size / searched
        yield factor * test.lower(given), "the l2 ball of changes", test


def _group(epsilon: float, delta: float) -> tuple[int, float]:
    """Return k, and the delta at k epsilon that (epsilon, delta)-DP implies for k-fold changes.

    It is delta (e^(k epsilon) - 1) / (e^epsilon - 1), rounded up. k is 1 unless epsilon is small.
    """
    times = min(math.ceil(LEAST_ON_LATTICE / epsilon), int(0.4 / max(delta, 1e-300)))
    if times <= 1:
        return 1, delta
    return times, delta * math.expm1(times * epsilon) / math.expm1(epsilon) * (1 + 1e-12)


def _sensitivities(query: Query) -> tuple[float, float, float]:
    """Return the sensitivities in l1, l2 and linf; infinite if they are not stated."""
    return (
        query.l1_sensitivity or math.inf,
        query.l2_sensitivity,
        query.linf_sensitivity or math.inf,
    )


def _radii(query: Query) -> dict[str, float]:
    """Return, for each norm, the radius of its largest ball of allowed changes."""
    l1, l2, linf = _sensitivities(query)
    root = math.sqrt(query.size)
    return {
        "l1": min(l1, l2, linf),
        "l2": min(l1 / root, l2, linf),
        "linf": min(l1 / query.size, l2 / root, linf),
    }


def _radius_of_volume(query: Query) -> float:
    """Return the radius of the l2 ball with the largest volume of a ball in `_radii`."""
    size = query.size
    ball = size / 2 * math.log(math.pi) - math.lgamma(size / 2 + 1)
    cube = size * math.log(2)
    volumes = {"l1": cube - math.lgamma(size + 1), "l2": ball, "linf": cube}
    return max(
        radius * math.exp((volumes[norm] - ball) / size) for norm, radius in _radii(query).items()
    )


def _signed_changes(query: Query) -> float:
    """Return the maximum over j of M j t^2, if any j elements may change by t at once.

    The squared error is at least this times the bound for one element at sensitivity 1. For h with
    j random signs and zeros elsewhere, the projection <x, h> changes by j t, and the mean of
    <error, h>^2 over h is j / M times the squared error.
    """
    l1, l2, linf = _sensitivities(query)
    size = query.size
    crossings = [l1 / linf, (l2 / linf) ** 2, (l1 / l2) ** 2]
    near = [whole(c) for c in crossings if 1 <= c < size for whole in (math.floor, math.ceil)]
    counts = np.array([1, size, *near], float)
    moves = np.minimum(np.minimum(linf, l2 / np.sqrt(counts)), l1 / counts)
    return float((size * counts * moves**2).max())
