"""The option that describes the workload of a mechanism for linear queries."""

import math
from collections.abc import Sequence

import numpy as np

from mechanisms.query.option import Option
from mechanisms.query.query import Query
from mechanisms.strategies.workload import NAMED, Explicit, Kronecker, Workload


def workload_factors(query: Query, *, workload) -> tuple[Workload, ...]:
    """Return the workload that the option describes, as factors of a Kronecker product.

    Raises:
        TypeError, ValueError: A matrix that `Explicit` refuses.
        ValueError: There is not one name per axis, or not one column per cell of the query.
    """
    names = [workload] * len(query.shape) if isinstance(workload, str) else workload
    if _are_names(names):
        if len(names) != len(query.shape):
            raise ValueError(
                f"option workload must name one workload per axis of {query.shape}, got {names}"
            )
        return tuple(NAMED[name](axis) for name, axis in zip(names, query.shape, strict=True))
    if isinstance(workload, Kronecker):
        factors = workload.factors
    elif isinstance(workload, Workload):
        factors = (workload,)
    else:
        factors = (Explicit(workload),)
    cells = math.prod(factor.cells for factor in factors)
    if cells != query.size:
        raise ValueError(
            f"option workload must have one column for each of the query's {query.size} cells, got "
            f"{cells}"
        )
    return factors


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


# The options of every mechanism that optimises for a workload.
WORKLOAD_OPTIONS = {
    "workload": Option(
        "identity",
        f"one of {', '.join(NAMED)}, such names for each axis, or a (q, M) matrix",
        _is_workload,
        "the linear queries whose error is least",
    ),
}
