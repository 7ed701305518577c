"""The options that describe the workload of a mechanism for linear queries."""

import math
from collections.abc import Sequence

import numpy as np

from mechanisms.query.option import Option, is_count
from mechanisms.query.query import Query
from mechanisms.strategies.workload import (
    NAMED,
    Explicit,
    Kronecker,
    Workload,
)

# Parameters of the named workloads that have any, with their defaults.
PARAMETERS = {"width": {"width": 2}, "random-range": {"queries": 100, "seed": 0}}


def workload_factors(query: Query, *, workload, **parameters) -> tuple[Workload, ...]:
    """The workload that the options describe, as factors of a Kronecker product.

    Raises:
        ValueError: A matrix that is empty, not finite or not over the query's cells; a name that
            does not fit (a width above an axis, not one name per axis); a parameter that none of
            the workloads has.
    """
    given = {name: value for name, value in parameters.items() if value is not None}
    names = [workload] * len(query.shape) if isinstance(workload, str) else workload
    names = names if _are_names(names) else []
    for name in given:
        if not any(name in PARAMETERS.get(each, {}) for each in names):
            owner = next(each for each in PARAMETERS if name in PARAMETERS[each])
            raise ValueError(f"option {name} applies to the workload {owner} only; leave it out")
    if names:
        if len(names) != len(query.shape):
            raise ValueError(
                f"option workload must name one workload per axis of {query.shape}, got {names}"
            )
        factors = tuple(
            NAMED[name](axis, **_parameters_of(name, given))
            for name, axis in zip(names, query.shape, strict=True)
        )
    elif isinstance(workload, Workload):
        factors = workload.factors if isinstance(workload, Kronecker) else (workload,)
    else:
        factors = (Explicit(workload),)
    cells = math.prod(factor.cells for factor in factors)
    if cells != query.size:
        raise ValueError(
            f"option workload must have one column for each of the query's {query.size} cells, got "
            f"{cells}"
        )
    return factors


def _parameters_of(name: str, given: dict[str, int]) -> dict[str, int]:
    """The parameters of a named workload: those given, defaults for the others."""
    own = PARAMETERS.get(name, {})
    return own | {key: value for key, value in given.items() if key in own}


def _are_names(value) -> bool:
    return (
        isinstance(value, (list, tuple))
        and len(value) > 0
        and all(isinstance(name, str) and name in NAMED for name in value)
    )


def _is_workload(value) -> bool:
    if isinstance(value, str):
        return value in NAMED
    if isinstance(value, (Workload, np.ndarray)) or _are_names(value):
        return True
    # Explicit checks the numbers of a matrix.
    return isinstance(value, Sequence) and not any(isinstance(row, str) for row in value)


def _whole(low: int, description: str) -> Option:
    """A whole number of at least `low`, or None: not given."""
    return Option(
        None,
        f"null or an integer >= {low}",
        lambda value: value is None or is_count(value, low),
        description,
    )


# The options of every mechanism that optimises for a workload.
WORKLOAD_OPTIONS = {
    "workload": Option(
        "identity",
        f"one of {', '.join(NAMED)}, such names for each axis, or a (q, M) matrix",
        _is_workload,
        "the linear queries whose error is least",
    ),
    "width": _whole(1, "cells per range, 2 if null; for the workload width only"),
    "queries": _whole(1, "ranges per axis, 100 if null; for the workload random-range only"),
    "seed": _whole(0, "of the draw, 0 if null; for the workload random-range only"),
}
