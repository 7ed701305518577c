"""Checks that every release is drawn afresh, from the given generator, and without atoms.

If a claim covers every real change of a value, the noise has no atom above delta. For if it takes a
number with probability p, it takes K others, one for each of K fractions of a change, with
probability at least (p - delta) / e^epsilon each. Because K is arbitrary, p <= delta. If numbers
within the share w of a change count as one, there are 1 / w of them: p <= delta + e^epsilon w.
"""

from collections.abc import Callable, Iterator

import numpy as np

from mechanisms.check.audit_statistics import TAIL, largest_probability, least_probability
from mechanisms.check.evidence import Evidence, other_releases, released_by
from mechanisms.privacy.profile import PrivacyProfile

# The seed of the two generators that must give the same numbers.
SEED = 1
# At so large an epsilon, delta is the probability of events that a neighbour cannot produce.
LARGE_EPSILON = 30.0
# Allowed probability that the sum of an element and noise is rounded to the element.
COINCIDENCE = 1e-3


def find_seed_faults(evidence: Evidence) -> Iterator[str]:
    """Yield a sentence for each method that gives other numbers from an equal generator."""
    mechanism, value = evidence.mechanism, evidence.constant
    ways: list[tuple[str, Callable]] = [("release", lambda rng: mechanism.release(value, rng))]
    for name in other_releases(mechanism):
        ways.append((name, lambda rng, name=name: released_by(mechanism, name, value, 1, rng)))
    if evidence.is_additive:
        ways.append(("sample", lambda rng: mechanism.sample(rng, 2)))
    for name, draw in ways:
        first, second = (draw(np.random.default_rng(SEED)) for _ in range(2))
        if not np.array_equal(first, second):
            yield (
                f"{name} gives other numbers where it is called again with a generator of the same "
                "seed: it must take all its random numbers from the generator that it is given, "
                "and keep none"
            )


def find_writes(evidence: Evidence) -> Iterator[str]:
    """Yield a sentence if `release_all` writes into its values; `release` itself refuses that."""
    values = np.repeat(evidence.constant[None], 2, axis=0)
    evidence.mechanism.release_all(values, np.random.default_rng(SEED))
    if not (values == evidence.constant).all():
        yield "release_all writes into the values that it is given; it must return a new array"


def find_shared_noise(draws: np.ndarray, others: np.ndarray) -> Iterator[str]:
    """Yield sentences if releases of one call share noise (n, *shape), up to its sign.

    Independent releases equal one another as often as they equal `others`, as many of another call.
    """
    sizes, other_sizes = (np.abs(each.reshape(len(each), -1)) for each in (draws, others))
    far = _equal(sizes, other_sizes)
    upper = largest_probability(far, len(sizes), TAIL)
    for which, first, second in _paired(sizes):
        near = _equal(first, second)
        if least_probability(near, len(first), TAIL) > upper:
            yield (
                f"in {near} of {len(first)} releases the noise of some element is, up to its sign, "
                f"that of {which}, and in {far} of {len(sizes)} that of one of another call: it is "
                "not drawn afresh"
            )


def find_constant_noise(draws: np.ndarray, others: np.ndarray) -> Iterator[str]:
    """Yield a sentence if the noise (n, *shape) is the same in all releases of two calls."""
    every = np.concatenate([draws, others])
    if every.any() and (every == every[0]).all():
        yield (
            f"{len(every)} releases of two calls have the same noise: it is not drawn from the "
            "generator that a release is given"
        )


def find_correlated_releases(draws: np.ndarray, others: np.ndarray) -> Iterator[str]:
    """Yield sentences if noise (n, *shape) depends on the noise of another release of its call.

    For independent releases the product with another release of the call is as often above as below
    that with one of `others`, of another call, whatever the distribution.
    """
    flat, far = (each.reshape(len(each), -1) for each in (draws, others))
    for which, first, second in _paired(flat):
        pairs = min(len(first), len(far))
        nearer = np.vecdot(first[:pairs], second[:pairs] - far[:pairs])
        hits, trials = int(np.count_nonzero(nearer > 0)), int(np.count_nonzero(nearer))
        # The test has two sides, and each errs with probability TAIL.
        if trials and least_probability(max(hits, trials - hits), trials, TAIL) > 0.5:
            yield (
                f"the noise of {hits} of {trials} releases is nearer to that of {which} than to "
                "that of a release of another call, where independent ones are nearer in half"
            )


def find_alike_elements(draws: np.ndarray, others: np.ndarray) -> Iterator[str]:
    """Yield a sentence if elements of one release are too often equal up to their sign.

    If the elements of noise (n, *shape) are independent and alike, a release has as many equal
    elements as a row that is mixed of n other releases.
    """
    sizes, far = (np.abs(each.reshape(len(each), -1)) for each in (draws, others))
    places = np.arange(far.shape[1])
    turns = np.random.default_rng(SEED).integers(len(far), size=len(places))
    mixed = far[(np.arange(len(far))[:, None] + turns) % len(far), places]
    near, far = (
        np.count_nonzero(np.diff(np.sort(each, axis=1), axis=1) == 0, axis=1)
        for each in (sizes, mixed)
    )
    more, fewer = np.count_nonzero(near > far), np.count_nonzero(near < far)
    if more and least_probability(more, more + fewer, TAIL) > 0.5:
        yield (
            f"in {more} of {len(sizes)} releases elements share their noise, up to its sign, more "
            "often than those of different releases do; the noise states that its elements are "
            "independent"
        )


def _paired(draws: np.ndarray) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield names and disjoint pairs of draws (n, k), of which one may repeat the other."""
    half = len(draws) // 2
    for which, first, second in (
        ("the release before", draws[::2], draws[1::2]),
        ("the release before", draws[1::2], draws[2::2]),
        ("the release half of them before", draws[:half], draws[half : 2 * half]),
        ("the release as far from the end", draws[:half], draws[: -half - 1 : -1]),
    ):
        pairs = min(len(first), len(second))
        if pairs:
            yield which, first[:pairs], second[:pairs]


def _equal(first: np.ndarray, second: np.ndarray) -> int:
    """Return how many rows of two arrays are equal in some element."""
    return int(np.count_nonzero((first == second).any(axis=1)))


def claimed_of_numbers(profile: PrivacyProfile, share: float) -> float:
    """Return the largest probability of a number in the noise of an element, by the profile.

    Args:
        share: The distance within which numbers count as one, over the change of an element.
    """
    if not share:
        return float(profile.delta(LARGE_EPSILON).upper)
    epsilons = np.linspace(0.0, LARGE_EPSILON, 16)
    copies = max(1.0, 1 / share - 1)
    return float(np.min(profile.delta(epsilons).upper + np.exp(epsilons) / copies))


def find_recurring_numbers(
    training: np.ndarray, test: np.ndarray, rounding: float, delta: float
) -> Iterator[str]:
    """Yield a sentence if numbers recur in draws of noise (n, *shape).

    Args:
        training: Noise of a constant, which chooses the numbers.
        test: Noise of another value, which judges them. A mechanism may round its answers, which
            repeats numbers too, but other ones at another value.
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
    """Yield sentences if releases contain the value itself, in an element or everywhere.

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
    """Yield a sentence if noise (n, *shape) of one value recurs as a whole at another value.

    If no noise is likelier than `delta`, some of n times m pairs of releases are equal with
    probability at most n m delta. A mechanism that rounds gives other noise at another value.
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
