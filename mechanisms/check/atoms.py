"""Does some number recur in the noise more often than a profile allows? From draws alone.

A claim that covers every real change of a value implies that the noise has no atom above delta. If
the noise took one number with probability p, it would take K others, for K fractions of a change,
each with probability at least (p - delta) / e^epsilon. As K is arbitrary, p <= delta. Numbers that
lie within a share w of a change have 1 / w such copies, so that p <= delta + e^epsilon w.
"""

from collections.abc import Iterator

import numpy as np

from mechanisms.check.audit_statistics import least_probability
from mechanisms.check.events import TAIL
from mechanisms.privacy.profile import PrivacyProfile

# A large epsilon, at which the delta of a claim is that of events a neighbour cannot produce.
LARGE_EPSILON = 30.0
# Probability that rounding makes a noisy sum equal a given element; far below what shows.
COINCIDENCE = 1e-3


def claimed_of_numbers(profile: PrivacyProfile, share: float) -> float:
    """The largest probability that a profile allows the noise of an element to be at one number.

    Args:
        share: How far numbers that count as one are apart, over the change of an element.
    """
    if not share:
        return float(profile.delta(LARGE_EPSILON).upper)
    epsilons = np.linspace(0.0, LARGE_EPSILON, 16)
    copies = max(1.0, 1 / share - 1)
    return float(np.min(profile.delta(epsilons).upper + np.exp(epsilons) / copies))


def find_recurring_numbers(
    training: np.ndarray, test: np.ndarray, rounding: float, delta: float
) -> Iterator[str]:
    """A sentence on numbers that recur in draws of noise (n, *shape).

    Args:
        training: Noise of a constant, which chooses the numbers.
        test: Noise of another value, which judges them: a mechanism may round its answers, which
            repeats numbers too, but other ones for another value.
        rounding: Rounding error of a number of `test`.
        delta: The largest claimed probability of one number, see `claimed_of_numbers`.
    """
    numbers, times = np.unique(training, return_counts=True)
    atoms = numbers[times > 1]
    if not len(atoms):
        return
    draws = test.reshape(len(test), -1)
    above = np.searchsorted(atoms, draws).clip(max=len(atoms) - 1)
    gaps = np.minimum(np.abs(atoms[above] - draws), np.abs(draws - atoms[above - 1]))
    hits = int(np.count_nonzero((gaps <= rounding).any(axis=1)))
    if least_probability(hits, len(draws), TAIL) > delta * len(atoms) * draws.shape[1]:
        yield (
            f"the noise of {hits} of {len(draws)} releases of a random value contains numbers that "
            "occurred more than once in the noise of a constant; the profile allows each of them a "
            f"probability of at most {delta:.4g}"
        )


def find_exact_answers(draws: np.ndarray, delta: float) -> Iterator[str]:
    """Sentences on releases that hold the value itself, in an element or everywhere.

    Args:
        draws: Noise (n, *shape) of a random value. Rounding an answer does not reproduce such a
            value, and adding noise to it seldom does.
        delta: The largest claimed probability of one number, see `claimed_of_numbers`.
    """
    exact = ~draws.reshape(len(draws), -1).astype(bool)
    size = exact.shape[1]
    for where, found, claim in (
        ("are exactly the value", exact.all(axis=1), delta),
        ("hold an element of the value itself", exact.any(axis=1), size * delta + COINCIDENCE),
    ):
        hits = int(np.count_nonzero(found))
        if least_probability(hits, len(draws), TAIL) > claim:
            yield (
                f"{hits} of {len(draws)} releases {where}; by the profile the probability of that "
                f"is at most {claim:.4g}"
            )


def find_repeated_noise(
    draws: np.ndarray, others: np.ndarray, rounding: float, delta: float
) -> Iterator[str]:
    """A sentence on noise (n, *shape) of one value that recurs as a whole at another value.

    Were no noise likelier than `delta`, n times m pairs of releases would have one in common with
    probability n m delta at most. A mechanism that rounds gives other noise at another value.
    """
    first, second = (each.reshape(len(each), -1) for each in (draws, others))
    if first.shape[1] == 1 or len(first) * len(second) * delta > TAIL:
        return
    first = first[np.argsort(first[:, 0], kind="stable")]
    place = np.searchsorted(first[:, 0], second[:, 0])
    again = np.zeros(len(second), bool)
    for near in (place - 1, place):
        near = near.clip(0, len(first) - 1)
        close = np.flatnonzero(np.abs(first[near, 0] - second[:, 0]) <= rounding)
        gaps = np.abs(first[near[close]] - second[close]).max(axis=1, initial=0.0)
        again[close[gaps <= rounding]] = True
    if again.any():
        yield (
            f"the noise of {np.count_nonzero(again)} of {len(second)} releases of a random value "
            f"equals that of one of {len(first)} releases of a constant: too few different draws"
        )
