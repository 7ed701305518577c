"""The checks of every release: of the value that it takes and of the answer that it returns."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from mechanisms.query.query import Query

# Relative size of rounding errors in sums and norms of a value.
ROUNDING = {np.dtype(np.float32): 1e-4, np.dtype(np.float64): 1e-9}
# The generator that was last used, and the process that used it.
_last: tuple[np.random.Generator | None, int] = (None, 0)


class ReleaseError(ValueError):
    """A release broke its contract: the mechanism is at fault, not the value."""


@contextmanager
def named_in_errors(key: str) -> Iterator[None]:
    """Name the mechanism in every ReleaseError, and turn a write to the value into one."""
    try:
        yield
    except ReleaseError as error:
        raise ReleaseError(f"{key}: {error}") from None
    except ValueError as error:
        if not any(words in str(error) for words in ("read-only", "WRITEABLE")):
            raise
        raise ReleaseError(
            f"{key} writes into the value that it is given, which is read-only; it must return a "
            "new array"
        ) from error


def generator(rng) -> np.random.Generator:
    """Return a Generator from what `numpy.random.default_rng` takes, such as None or a seed.

    Raises:
        TypeError, ValueError: `rng` is anything else; the message names it.
        RuntimeError: `rng` is the last generator that was used before this process was forked, so
            both processes would draw the same noise.
    """
    global _last
    if isinstance(rng, np.random.Generator):
        # Every release comes here, so only the last generator is remembered: one comparison.
        if rng is not _last[0]:
            _last = rng, os.getpid()
        elif _last[1] != os.getpid():
            raise RuntimeError(
                f"this generator released in process {_last[1]}, of which this one is a fork: "
                "both would draw the same noise; make a generator in every process, for example "
                "of numpy.random.SeedSequence(seed).spawn(n)"
            )
        return rng
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"rng must be a numpy.random.Generator, a seed >= 0 or None, got {rng!r}"
        ) from None


def checked_value(value: np.ndarray, query: Query) -> np.ndarray:
    """Return a read-only copy of `value` as a float array; integers become float64.

    Raises:
        TypeError: `value` is not an array of real numbers, is masked, or has another float type.
        ValueError: It has another shape than the query, is not finite, holds integers that float64
            cannot tell apart, or breaks what the query states: element_range, frobenius_bound, the
            symmetry of a Gram matrix or the largest norm of a record.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError("the value must not be a masked array; fill it, see numpy.ma.filled")
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "iuf":
        kind = getattr(value, "dtype", type(value).__name__)
        raise TypeError(
            f"the value must be a numpy array of real numbers, got {kind}; numpy.asarray makes one"
        )
    # A file from another kind of machine may have its bytes in the other order.
    dtype = value.dtype.newbyteorder("=")
    if dtype.kind == "f" and dtype not in (np.float32, np.float64):
        raise TypeError(f"the value must be float32 or float64, got {value.dtype}")
    if value.shape != query.shape:
        raise ValueError(f"the value must have the query's shape {query.shape}, got {value.shape}")
    if value.dtype.kind != "f":
        check_whole_numbers(value, "the value")
    copy = np.array(value, dtype=dtype if dtype.kind == "f" else np.float64, order="C")
    if not np.isfinite(copy).all():
        bad = _first(~np.isfinite(copy))
        raise ValueError(f"the value must be finite, got {copy[bad]} at index {bad}")
    _check_domain(copy, query)
    copy.flags.writeable = False
    # A view, because an array may make its own memory writeable again.
    return copy.view()


def check_values(values: object, shape: tuple[int, ...]) -> None:
    """Raise TypeError or ValueError unless `values` are finite float32 or float64, (n, *shape)."""
    if type(values) is not np.ndarray or values.dtype not in (np.float32, np.float64):
        kind = getattr(values, "dtype", type(values).__name__)
        raise TypeError(f"the values must be a plain float32 or float64 array, got {kind}")
    if not values.ndim or values.shape[1:] != shape:
        wanted = ", ".join(["n", *map(str, shape)])
        raise ValueError(f"the values must have shape ({wanted}), got {values.shape}")
    if not np.isfinite(values).all():
        bad = _first(~np.isfinite(values))
        raise ValueError(f"the values must be finite, got {values[bad]} at index {bad}")


def check_whole_numbers(numbers: np.ndarray, what: str) -> None:
    """Raise ValueError for integers beyond 2^53, not all of which float64 tells apart."""
    if numbers.size and max(int(numbers.max()), -int(numbers.min())) > 2**53:
        raise ValueError(
            f"{what} must hold integers of at most 2^53 in size, got "
            f"{max(int(numbers.max()), int(numbers.min()), key=abs)}: float64 does not tell larger "
            "ones apart; subtract a constant that does not depend on the data"
        )


def _check_domain(value: np.ndarray, query: Query) -> None:
    tolerance = ROUNDING[value.dtype]
    if query.element_range is not None:
        low, high = query.element_range
        slack = tolerance * max(abs(low), abs(high))
        if value.min() < low - slack or value.max() > high + slack:
            bad = _first((value < low - slack) | (value > high + slack))
            raise ValueError(
                f"the value holds {value[bad]:g} at index {bad}, outside of element_range "
                f"[{low:g}, {high:g}]; clip it, or state a range that holds every answer"
            )
    if query.frobenius_bound is not None:
        norm = float(np.linalg.norm(value))
        if norm > query.frobenius_bound * (1 + tolerance):
            raise ValueError(
                f"the value has norm {norm:g}, above frobenius_bound = {query.frobenius_bound:g}; "
                "scale it down, or state a bound that holds for every answer"
            )
    if query.structure == "gram":
        gap = float(np.abs(value - value.T).max())
        if gap > tolerance * float(np.abs(value).max()):
            raise ValueError(
                f"a gram matrix must be symmetric, got two entries that differ by {gap:g}"
            )
    if query.structure == "records":
        largest = float(np.linalg.norm(value, axis=0).max())
        if largest > query.record_bound * (1 + tolerance):
            raise ValueError(
                f"every record must have norm at most record_bound = {query.record_bound:g}, got "
                f"{largest:g}; clip the records"
            )


def plain_answer(answer: object, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return a C-ordered copy of `answer` that owns its memory and holds nothing but its numbers.

    Raises:
        ReleaseError: `answer` has another shape or dtype, is not finite, or is not a plain array
            (a subclass may hold more than its numbers).
    """
    if type(answer) is not np.ndarray:
        kind = "a plain array" if isinstance(answer, np.ndarray) else "an array"
        raise ReleaseError(
            f"a release must be {kind} of shape {shape}, got {type(answer).__name__}"
        )
    if answer.shape != shape:
        raise ReleaseError(f"a release must have the query's shape {shape}, got {answer.shape}")
    if answer.dtype != dtype:
        raise ReleaseError(
            f"a release must keep the precision of the value, {dtype}, got {answer.dtype}"
        )
    if not np.isfinite(answer).all():
        bad = _first(~np.isfinite(answer))
        raise ReleaseError(
            f"a release must be finite, got {answer[bad]} at index {bad}; does the noise fit into "
            f"{answer.dtype}?"
        )
    # A copy would keep the metadata of the dtype; an array made from its string has none.
    plain = np.empty(shape, dtype.str)
    plain[...] = answer
    return plain


def checked_dtype(dtype) -> np.dtype:
    """Return float32 or float64 as a dtype, or raise TypeError for anything else."""
    dtype = np.dtype(dtype)
    if dtype not in (np.float32, np.float64):
        raise TypeError(f"noise is drawn as float32 or float64, got dtype {dtype}")
    return dtype


def check_draws(draws: object, trials: int, shape: tuple[int, ...], dtype: np.dtype) -> None:
    """Raise ReleaseError unless `draws` is an array (trials, *shape) of this dtype."""
    wanted = (trials, *shape)
    found = draws.shape if isinstance(draws, np.ndarray) else type(draws).__name__
    if found != wanted:
        raise ReleaseError(f"{trials} draws of noise must have shape {wanted}, got {found}")
    if draws.dtype != dtype:
        raise ReleaseError(f"draws of noise must be {dtype}, as asked for, got {draws.dtype}")


def _first(where: np.ndarray) -> tuple[int, ...]:
    """Return the index of the first True."""
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(where)), where.shape))
