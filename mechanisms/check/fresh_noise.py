"""Is every release drawn afresh, from the generator that it is given and nothing else?"""

from collections.abc import Callable, Iterator

import numpy as np

from mechanisms.check.audit_statistics import (
    clopper_pearson,
    largest_probability,
    least_probability,
)
from mechanisms.check.events import TAIL
from mechanisms.check.evidence import Evidence
from mechanisms.check.timed_releases import other_releases, released_by

# Seed of the two generators that must give the same numbers.
SEED = 1


def find_shared_noise(draws: np.ndarray, others: np.ndarray) -> Iterator[str]:
    """Sentences on noise (n, *shape) that releases of one call share, up to its sign.

    Independent releases equal one another as often as they equal `others`, as many of another call.
    """
    sizes, far_sizes = (np.abs(each.reshape(len(each), -1)) for each in (draws, others))
    far = _equal(sizes, far_sizes)
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
    """A sentence on noise (n, *shape) that is the same in all releases of two calls."""
    every = np.concatenate([draws, others])
    if every.any() and (every == every[0]).all():
        yield (
            f"{len(every)} releases of two calls have the same noise: it is not drawn from the "
            "generator that a release is given"
        )


def find_correlated_releases(draws: np.ndarray, others: np.ndarray) -> Iterator[str]:
    """Sentences on noise (n, *shape) that depends on that of another release of a call.

    The product with another release of the call is as often above as below that with one of
    `others`, of another call, whatever the distribution: of elements, and of all of them together.
    """
    flat, far = (each.reshape(len(each), -1) for each in (draws, others))
    for which, first, second in _paired(flat):
        pairs = min(len(first), len(far))
        first, closer = first[:pairs], second[:pairs] - far[:pairs]
        along = np.sign(np.vecdot(first, closer))[:, None]
        for what, signs in (("the noise", along), ("the noise of an element", first * closer)):
            above, below = np.count_nonzero(signs > 0, axis=0), np.count_nonzero(signs < 0, axis=0)
            place = int(np.argmax(np.abs(above - below)))
            hits, trials = int(above[place]), int(above[place] + below[place])
            lower, upper = clopper_pearson(hits, trials, TAIL / signs.shape[1])
            if not lower <= 0.5 <= upper:
                yield (
                    f"{what} of {hits} of {trials} releases is nearer to that of {which} than to "
                    "that of a release of another call, where independent ones are nearer in half"
                )


def find_alike_elements(draws: np.ndarray, others: np.ndarray) -> Iterator[str]:
    """A sentence on elements of one release that are equal up to their sign.

    For noise (n, *shape) whose elements are independent and alike: a release has as many pairs of
    equal elements as a row whose elements are those of n other releases.
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
    """Disjoint pairs of draws (n, k) that what is drawn at once may repeat: name, first, second."""
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
    """How many rows of two arrays are equal in an element."""
    return int(np.count_nonzero((first == second).any(axis=1)))


def find_seed_faults(evidence: Evidence) -> Iterator[str]:
    """Sentences on methods that give other numbers from an equal generator."""
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
    """A sentence on a `release_all` that writes into its values; `release` refuses it itself."""
    values = np.repeat(evidence.constant[None], 2, axis=0)
    evidence.mechanism.release_all(values, np.random.default_rng(SEED))
    if not (values == evidence.constant).all():
        yield "release_all writes into the values that it is given; it must return a new array"
