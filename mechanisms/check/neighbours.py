"""Values that a query allows, and the changes that one person can make to them."""

import math
from collections.abc import Iterable, Iterator

import numpy as np

from mechanisms.base.guard import checked_value
from mechanisms.query.query import Query

# How often a value that is not allowed is moved half of the way to the constant.
HALVINGS = 12
# A covariance is computed for up to LARGEST_COVARIANCE elements, of DRAWS_PER_ELEMENT draws each.
LARGEST_COVARIANCE, DRAWS_PER_ELEMENT = 64, 4


def constant_value(query: Query) -> np.ndarray | None:
    """Return a value with equal elements that the query allows, or None if none is known.

    The elements are zero or, if that is not allowed, near the middle of the element range.
    """
    low, high = query.element_range or (0.0, 0.0)
    middle, least = (low + high) / 2, min(max(low, 0.0), high)
    levels = [0.0, middle, (middle + least) / 2, least]
    candidates = (np.full(query.shape, level) for level in levels)
    return next((value for value in candidates if is_allowed(value, query)), None)


def random_value(query: Query, rng: np.random.Generator, scale: float) -> np.ndarray | None:
    """Return a random value that the query allows, far from the constant; None if none is known.

    If the query states no range of the elements, they are of the order of `scale`.
    """
    constant, value = constant_value(query), _far_value(query, rng, scale)
    if constant is None:
        return None
    if query.frobenius_bound is not None:
        value = value * min(1.0, 0.9 * query.frobenius_bound / np.linalg.norm(value))
        value = np.clip(value, *(query.element_range or (None, None)))
    for _ in range(HALVINGS):
        if is_allowed(value, query):
            return value
        value = (value + constant) / 2
    return None


def _far_value(query: Query, rng: np.random.Generator, scale: float) -> np.ndarray:
    """Return a random value, which the query may not allow."""
    low, high = query.element_range or (-math.inf, math.inf)
    if query.structure == "gram" or (query.structure == "records" and low <= 0 <= high):
        count = 8 if query.structure == "gram" else query.shape[1]
        records = rng.standard_normal((query.shape[0], count))
        if low >= 0:
            records = np.abs(records)
        lengths = query.record_bound * rng.uniform(0.3, 1.0, count)
        records *= lengths / np.linalg.norm(records, axis=0)
        value = records @ records.T if query.structure == "gram" else records.clip(low, high)
    elif query.element_range is not None:
        value = rng.uniform(low, high, query.shape)
    else:
        value = scale * rng.standard_normal(query.shape)
        # Some elements are of the size of the noise.
        value *= rng.choice((1.0, 0.1), query.shape)
    return value


def is_allowed(value: np.ndarray, query: Query) -> bool:
    """Return whether the query allows the value."""
    try:
        checked_value(value, query)
    except ValueError:
        return False
    return True


def changes(
    query: Query, noise: np.ndarray, rng: np.random.Generator
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield names and changes between neighbours, each as large as the query allows.

    They are chosen so that the noise along them seems small.

    Args:
        noise: Draws of the noise, or answers for one value, (n, *query.shape).
    """
    if query.structure == "gram" and query.adjacency != "local":
        found = _of_gram_matrices(query, noise, rng)
    elif query.one_column:
        energy = np.mean(noise**2, axis=0)
        column = int(np.argmin(energy.min(axis=0)))
        found = _embedded(_directions(query, noise[:, :, column], rng), query.shape, column)
    else:
        found = [
            (name, direction.reshape(query.shape))
            for name, direction in _directions(query, noise.reshape(len(noise), -1), rng)
        ]
    for name, direction in found:
        yield name, direction * _largest(query, direction)


def _directions(
    query: Query, noise: np.ndarray, rng: np.random.Generator
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield names and directions (k,), chosen by draws (n, k) of the noise."""
    size = noise.shape[1]
    if size == 1:
        yield "one element", np.ones(1)
        return
    place = int(np.argmin(np.mean(np.diff(noise, axis=1) ** 2, axis=0)))
    first, second, sign = _alike(noise)
    if _moves(query):
        yield "one unit in two elements", _axis(size, place) - _axis(size, place + 1)
        yield (
            "one unit in two elements whose noise looks alike",
            _axis(size, first) - _axis(size, second),
        )
        return
    yield "one element", _axis(size, int(np.argmin(np.mean(noise**2, axis=0))))
    if query.structure == "histogram":
        return
    yield "two elements, one up and one down", _axis(size, place) - _axis(size, place + 1)
    alike = _axis(size, first) - sign * _axis(size, second)
    yield "two elements whose noise looks alike", alike
    yield "all elements alike", np.ones(size)
    yield "all elements, up or down at random", rng.choice((-1.0, 1.0), size)
    if has_covariance(noise):
        least = np.linalg.eigh(noise.T @ noise)[1][:, 0]
        yield "the direction of the least noise", least


def has_covariance(draws: np.ndarray) -> bool:
    """Return whether draws (n, k) have few elements, and are enough for their covariance."""
    count, size = draws.shape
    return size <= LARGEST_COVARIANCE and count >= DRAWS_PER_ELEMENT * size


def _alike(noise: np.ndarray) -> tuple[int, int, float]:
    """Return two elements whose draws (n, k), k >= 2, differ least up to their sign, and the sign.

    Only elements with adjacent sizes in the first draw are compared, which finds all equal ones.
    """
    order = np.argsort(np.abs(noise[0]), kind="stable")
    first, second = order[:-1], order[1:]
    signs = np.copysign(1.0, noise[0, first] * noise[0, second])
    place = int(np.argmin(np.mean((noise[:, second] - signs * noise[:, first]) ** 2, axis=0)))
    return int(second[place]), int(first[place]), float(signs[place])


def _moves(query: Query) -> bool:
    """Return whether a change can only be a move of a record from one cell to another."""
    if query.adjacency != "replace":
        return False
    moved = math.sqrt(2) * query.l2_sensitivity * (1 + 1e-3)
    counts = query.l1_sensitivity is not None and query.l1_sensitivity <= moved
    return counts or query.structure == "histogram"


def _of_gram_matrices(
    query: Query, noise: np.ndarray, rng: np.random.Generator
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield x x^T or, under replace, x x^T - y y^T, with names; ||x|| = ||y|| = record_bound."""
    size = query.shape[0]
    order = np.argsort(np.mean(np.diagonal(noise, axis1=1, axis2=2) ** 2, axis=0), kind="stable")
    signs = rng.choice((-1.0, 1.0), size) / math.sqrt(size)
    orthogonal = signs * np.where(np.arange(size) % 2, -1.0, 1.0)
    replaced = query.adjacency == "replace" and size > 1
    for name, x, y in (
        ("a record along one axis", _axis(size, int(order[0])), _axis(size, int(order[-1]))),
        ("a record along no axis", signs, orthogonal),
    ):
        change = np.outer(x, x) - (np.outer(y, y) if replaced else 0.0)
        yield name, query.record_bound**2 * change


def _embedded(directions, shape: tuple[int, int], column: int) -> Iterator[tuple[str, np.ndarray]]:
    for name, direction in directions:
        whole = np.zeros(shape)
        whole[:, column] = direction
        yield f"{name} of a column", whole


def _largest(query: Query, direction: np.ndarray) -> float:
    """Return the largest allowed factor on a direction; at most 1 for a Gram matrix."""
    length, sizes = np.linalg.norm(direction), np.abs(direction)
    factors = [query.largest_multiple(l2=length, l1=sizes.sum(), linf=sizes.max())]
    if query.structure == "gram" and query.adjacency != "local":
        factors.append(1.0)
    if query.one_column:
        # A record x may become any other of at most the same norm; -x is the farthest.
        factors.append(2 * query.record_bound / length)
    return float(min(factors))


def _axis(size: int, index: int) -> np.ndarray:
    unit = np.zeros(size)
    unit[index] = 1.0
    return unit


def pair_that_differs(
    query: Query, change: np.ndarray, constant: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return two allowed values that differ by `change`, or None if a few tries find none."""
    taken_away = np.maximum(-change, 0.0)
    firsts = [constant, constant - change, constant - change / 2, taken_away]
    if query.structure == "gram":
        # Both values must be positive semi-definite, which only diagonal ones surely are.
        diagonal = np.array_equal(change, np.diag(np.diagonal(change)))
        firsts = [taken_away] if diagonal else [constant]
        if query.gram_change is None or (query.adjacency == "replace" and not diagonal):
            return None
    for first in firsts:
        if is_allowed(first, query) and is_allowed(first + change, query):
            return first, first + change
    return None


def neighbouring_pairs(
    query: Query, changes: Iterable[tuple[str, np.ndarray]], constant: np.ndarray
) -> list[tuple[str, np.ndarray, tuple[np.ndarray, np.ndarray]]]:
    """Return the changes for which `pair_that_differs` finds values: name, change, values."""
    found = [(name, each, pair_that_differs(query, each, constant)) for name, each in changes]
    return [(name, change, pair) for name, change, pair in found if pair is not None]
