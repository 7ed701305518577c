"""Is additive noise the same at every value?"""

import math
from collections.abc import Iterable, Iterator

import numpy as np

from mechanisms.check.events import TAIL, projected
from mechanisms.check.neighbours import is_allowed
from mechanisms.query.query import Query

# Elements of a value that is large against the noise, in units of those of a random value.
FAR = 1e4
# Part of the elements of a sparse value that differ from the constant.
SPARSE = 0.05


def other_values(
    query: Query, constant: np.ndarray, value: np.ndarray, rng: np.random.Generator
) -> Iterator[tuple[str, np.ndarray]]:
    """Values of kinds that a mechanism may treat in its own way, with their names.

    Args:
        constant: A constant value. value: A random one. Both are allowed.
    """
    for name, found in (
        ("a value of whole numbers", np.rint(value)),
        ("a large value", FAR * value),
        ("a sparse value", np.where(rng.random(query.shape) < SPARSE, value, constant)),
        ("a value of one sign", np.abs(value)),
    ):
        if np.ptp(found) and not np.array_equal(found, value) and is_allowed(found, query):
            yield name, found


def find_dependence_on_value(
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
