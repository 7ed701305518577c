"""Is additive noise drawn afresh, without atoms, and independently of the value? From draws alone.

A claim that covers every real change of a value implies that the noise has no atom above delta. If
the noise took one number with probability p, it would take K others, for K fractions of a change,
each with probability at least (p - delta) / e^epsilon. As K is arbitrary, p <= delta.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from mechanisms.audit.audit_statistics import clopper_pearson
from mechanisms.audit.events import TAIL, projected

# A large epsilon, at which the delta of a claim is that of events a neighbour cannot produce.
LARGE_EPSILON = 30.0


def of_atoms(
    training: np.ndarray, test: np.ndarray, rounding: float, delta: float
) -> Iterator[str]:
    """A sentence on numbers that recur in draws of noise (n, *shape).

    Args:
        training: Noise of zeros, which chooses the numbers.
        test: Noise of another value, which judges them: a mechanism may round its answers, which
            repeats numbers too, but other ones for another value.
        rounding: Of a number of `test`.
        delta: What is claimed at `LARGE_EPSILON` for every change.
    """
    numbers, times = np.unique(training, return_counts=True)
    atoms = numbers[times > 1]
    if not len(atoms):
        return
    draws = test.reshape(len(test), -1)
    above = np.searchsorted(atoms, draws).clip(max=len(atoms) - 1)
    gaps = np.minimum(np.abs(atoms[above] - draws), np.abs(draws - atoms[above - 1]))
    hits = int(np.count_nonzero((gaps <= rounding).any(axis=1)))
    if clopper_pearson(hits, len(draws), TAIL)[0] > delta * len(atoms) * draws.shape[1]:
        yield (
            f"the noise of {hits} of {len(draws)} releases of a random value contains numbers that "
            "occurred more than once in the noise of a constant; the profile allows each of them a "
            f"probability of at most {delta:.4g}"
        )


def of_exact_answers(draws: np.ndarray, delta: float) -> Iterator[str]:
    """A sentence on releases that are the value itself: noise (n, *shape) of zero everywhere.

    Args:
        draws: Noise of a random value. Rounding an answer does not reproduce such a value.
        delta: What is claimed at `LARGE_EPSILON` for every change.
    """
    hits = int(np.count_nonzero(~draws.reshape(len(draws), -1).any(axis=1)))
    if clopper_pearson(hits, len(draws), TAIL)[0] > delta:
        yield (
            f"{hits} of {len(draws)} releases are exactly the value; the profile allows that a "
            f"probability of at most {delta:.4g}"
        )


def of_neighbours(draws: np.ndarray, others: np.ndarray) -> Iterator[str]:
    """A sentence on noise (n, *shape) that a release shares with the next, up to its sign.

    Independent releases equal the next as often as they equal `others`, as many of another call.
    """
    sizes, far_sizes = (np.abs(each.reshape(len(each), -1)) for each in (draws, others))
    far = _equal(sizes, far_sizes)
    upper = clopper_pearson(far, len(sizes), TAIL)[1]
    for first in (0, 1):
        odd = sizes[first + 1 :: 2]
        near = _equal(sizes[first::2][: len(odd)], odd)
        if clopper_pearson(near, len(odd), TAIL)[0] > upper:
            yield (
                f"in {near} of {len(odd)} releases the noise of some element is, up to its sign, "
                f"that of the previous release, and in {far} of {len(sizes)} that of a distant "
                "one: it is not drawn afresh"
            )


def _equal(first: np.ndarray, second: np.ndarray) -> int:
    """How many rows of two arrays are equal in an element."""
    return int(np.count_nonzero((first == second).any(axis=1)))


def of_two_values(
    first: np.ndarray, second: np.ndarray, directions: Iterable[tuple[str, np.ndarray]], grid: float
) -> Iterator[str]:
    """Sentences on noise (n, *shape) of two values that differs along a direction.

    By the inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant the distance of
    each empirical distribution from its own is at most sqrt(log(2 / tail) / (2 n)).

    Args:
        directions: Names and directions, of unit length.
        grid: Width of rounding errors; smaller differences do not count.
    """
    reach = sum(math.sqrt(math.log(2 / TAIL) / (2 * len(draws))) for draws in (first, second))
    for name, direction in directions:
        one, other = (
            np.sort(np.round(projected(draws, direction) / grid)) for draws in (first, second)
        )
        both = np.concatenate([one, other])
        shares = [np.searchsorted(each, both, side="right") / len(each) for each in (one, other)]
        distance = float(np.abs(shares[0] - shares[1]).max())
        if distance > reach:
            yield (
                f"the noise depends on the value: along {name} its distribution differs by "
                f"{distance:.2g} between {len(one)} releases of a constant and {len(other)} of a "
                f"random value, where chance allows {reach:.2g}"
            )
