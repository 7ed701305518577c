"""Options of mechanisms: a default, the allowed values, and a check whose error names them.

Mechanisms are importable with numpy, scipy and mpmath alone, hence no pydantic here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Option:
    """One option of a mechanism.

    Args:
        default: The value if none is given.
        allowed: The allowed values in words, shown by ``describe`` and in errors.
        accepts: Returns whether a value is allowed.
        description: One line.
    """

    default: Any
    allowed: str
    accepts: Callable[[Any], bool]
    description: str

    def check(self, name: str, value: Any) -> Any:
        """Return `value`, or raise ValueError naming it and what is allowed."""
        if not self.accepts(value):
            raise ValueError(f"option {name} must be {self.allowed}, got {value!r}")
        return value


def is_number(value: Any) -> bool:
    """Return whether a value is a real number; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_count(value: Any, least: int = 1) -> bool:
    """Return whether a value is an integer of at least `least`."""
    return is_number(value) and isinstance(value, Integral) and value >= least


def choice(*values: str, description: str) -> Option:
    """Return an option for one of a few names; the first is the default."""
    return Option(
        values[0],
        " or ".join(values),
        # Comparing an array with names gives no single truth value.
        lambda v: isinstance(v, str) and v in values,
        description,
    )


def positive_integer(description: str) -> Option:
    """Return an option for an integer of at least 1, which is the default."""
    return Option(1, "an integer >= 1", is_count, description)


def probability(description: str) -> Option:
    """Return an option for a number in (0, 1]; 1 is the default."""
    return Option(1.0, "a number in (0, 1]", lambda v: is_number(v) and 0 < v <= 1, description)


def matrix(description: str) -> Option:
    """Return an option for a finite real matrix, or None for the identity."""
    return Option(None, "a finite real matrix or null for the identity", _is_matrix, description)


def weights(description: str) -> Option:
    """Return an option for positive weights with sum at most 1, or None for equal weights."""
    allowed = "positive weights with sum at most 1, or null for equal weights"
    return Option(None, allowed, _are_weights, description)


def shares(description: str) -> Option:
    """Return an option for a vector or matrix in [0, 1], or None, which `description` explains."""
    return Option(
        None, "a vector or matrix of numbers in [0, 1], or null", _are_shares, description
    )


def _as_floats(value: Any, axes: int) -> np.ndarray | None:
    """Return the finite numbers of a sequence or an array with `axes` axes, as floats, or None.

    None stands for anything else, such as texts, booleans, masked or empty arrays.
    """
    try:
        array = np.asarray(value)
    except ValueError:
        return None
    if isinstance(value, np.ma.MaskedArray) or array.dtype.kind not in "iuf" or array.ndim != axes:
        return None
    return array.astype(float) if array.size and np.isfinite(array).all() else None


def _is_matrix(value: Any) -> bool:
    return value is None or _as_floats(value, 2) is not None


def _are_weights(value: Any) -> bool:
    if value is None:
        return True
    array = _as_floats(value, 1)
    # A sum of m rounded weights may exceed 1 by rounding alone.
    return array is not None and bool((array > 0).all() and array.sum() <= 1 + 1e-12 * array.size)


def _are_shares(value: Any) -> bool:
    if value is None:
        return True
    arrays = (_as_floats(value, axes) for axes in (1, 2))
    return any(array is not None and ((array >= 0) & (array <= 1)).all() for array in arrays)
