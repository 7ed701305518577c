"""The checks around every release: of the value it is given and of the answer it returns.

`Mechanism` puts `guarded` around the methods that release, so that no author can forget it.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from mechanisms.query.query import Query

# Relative size of rounding errors in sums and norms of a value.
ROUNDING = {np.dtype(np.float32): 1e-4, np.dtype(np.float64): 1e-9}
# The mechanism whose release is running: what it calls of its own is checked once, outside.
_RELEASING: ContextVar[object] = ContextVar("releasing", default=None)
# Where the seconds of releases go, if anybody asks for them.
_SECONDS: ContextVar[list[float] | None] = ContextVar("seconds", default=None)
# A value that is released again and again, the query that allows it, and the copy for releases.
_KNOWN: ContextVar[tuple[np.ndarray, Query, np.ndarray] | None] = ContextVar("known", default=None)


class ReleaseError(ValueError):
    """A mechanism's release broke its contract: it is at fault, not the value it was given."""


def guarded(method: Callable, check: Callable) -> Callable:
    """`method(self, value, rng, ...)` with its input and output checked.

    The method gets a read-only copy of the value, as float32 or float64, and a Generator. `check`
    is called with what it returns, the query's shape and the dtype of the value.
    """

    @functools.wraps(method)
    def checked(self, value, rng, *rest, **named):
        if _RELEASING.get() is self:
            return method(self, value, rng, *rest, **named)
        value = _known_copy(value, self.query)
        running, clock = _RELEASING.set(self), time.perf_counter()
        try:
            released = method(self, value, generator(rng), *rest, **named)
        except ValueError as error:
            if "read-only" not in str(error):
                raise
            raise ReleaseError(
                f"{self.key} writes into the value that it is given, which is read-only; it must "
                "return a new array"
            ) from error
        finally:
            _RELEASING.reset(running)
            if (seconds := _SECONDS.get()) is not None:
                seconds.append(time.perf_counter() - clock)
        try:
            check(released, self.query.shape, value.dtype)
        except ReleaseError as error:
            raise ReleaseError(f"{self.key}: {error}") from None
        return released

    return checked


@contextmanager
def seconds_of_releases() -> Iterator[list[float]]:
    """A list that gets the wall-clock seconds of each release made within.

    The checks around a release are left out: for a few numbers they take longer than the release.
    """
    seconds: list[float] = []
    before = _SECONDS.set(seconds)
    try:
        yield seconds
    finally:
        _SECONDS.reset(before)


@contextmanager
def checked_once(value: np.ndarray, query: Query) -> Iterator[None]:
    """Within, releases of this very array as an answer to this query share one check and one copy.

    For many releases of a value that nobody else changes: the check takes longer than most.
    """
    before = _KNOWN.set((value, query, checked_value(value, query)))
    try:
        yield
    finally:
        _KNOWN.reset(before)


def _known_copy(value: np.ndarray, query: Query) -> np.ndarray:
    known = _KNOWN.get()
    if known is not None and known[0] is value and known[1] is query:
        return known[2]
    return checked_value(value, query)


def generator(rng) -> np.random.Generator:
    """A Generator from all that `numpy.random.default_rng` takes, None and whole numbers included.

    Raises:
        TypeError, ValueError: Anything else; the message names it.
    """
    if isinstance(rng, np.random.Generator):
        return rng
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"rng must be a numpy.random.Generator, a seed >= 0 or None, got {rng!r}"
        ) from None


def checked_value(value: np.ndarray, query: Query) -> np.ndarray:
    """A read-only copy of `value` as a float array; integers become float64.

    Raises:
        TypeError: `value` is not an array of real numbers, masked, or a float of another precision.
        ValueError: It has another shape than the query, is not finite, or lies outside of what the
            query states: element_range, frobenius_bound, and the structure of a Gram matrix or of
            records.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError("the value must not be a masked array; fill it, see numpy.ma.filled")
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "iuf":
        kind = getattr(value, "dtype", type(value).__name__)
        raise TypeError(f"the value must be a numpy array of real numbers, got {kind}")
    if value.dtype.kind == "f" and value.dtype not in (np.float32, np.float64):
        raise TypeError(f"the value must be float32 or float64, got {value.dtype}")
    if value.shape != query.shape:
        raise ValueError(f"the value must have the query's shape {query.shape}, got {value.shape}")
    copy = np.array(value, dtype=None if value.dtype.kind == "f" else np.float64, order="C")
    if not np.isfinite(copy).all():
        bad = _first(~np.isfinite(copy))
        raise ValueError(f"the value must be finite, got {copy[bad]} at index {bad}")
    _check_domain(copy, query)
    copy.flags.writeable = False
    return copy


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


def check_answer(answer: object, shape: tuple[int, ...], dtype: np.dtype) -> None:
    """Raise ReleaseError unless `answer` is a finite array of this shape and dtype."""
    if not isinstance(answer, np.ndarray):
        raise ReleaseError(
            f"a release must be an array of shape {shape}, got {type(answer).__name__}"
        )
    if answer.shape != shape:
        raise ReleaseError(f"a release must have the query's shape {shape}, got {answer.shape}")
    if answer.dtype != dtype:
        raise ReleaseError(
            f"a release must keep the precision of the value, {dtype}, got {answer.dtype}"
        )
    _check_finite(answer)


def check_described_answer(released: object, shape: tuple[int, ...], dtype: np.dtype) -> None:
    """`check_answer` for a pair of an answer and the diagnostics of its sampler."""
    if not isinstance(released, tuple) or len(released) != 2:
        raise ReleaseError(
            "release_with_diagnostics must return an array and a dictionary, got "
            f"{type(released).__name__}"
        )
    check_answer(released[0], shape, dtype)


def check_answers(answers: object, shape: tuple[int, ...], dtype: np.dtype) -> None:
    """Raise ReleaseError unless `answers` holds finite answers, along a first axis."""
    found = answers.shape[1:] if isinstance(answers, np.ndarray) else type(answers).__name__
    if found != shape or not answers.ndim:
        raise ReleaseError(f"each of several releases must have the shape {shape}, got {found}")
    _check_finite(answers)


def check_draws(draws: object, trials: int, shape: tuple[int, ...], dtype: np.dtype) -> None:
    """Raise ReleaseError unless `draws` is an array of `trials` draws of noise of this shape."""
    wanted = (trials, *shape)
    found = draws.shape if isinstance(draws, np.ndarray) else type(draws).__name__
    if found != wanted:
        raise ReleaseError(f"{trials} draws of noise must have shape {wanted}, got {found}")
    if draws.dtype != dtype:
        raise ReleaseError(f"draws of noise must be {dtype}, as asked for, got {draws.dtype}")


def _check_finite(answer: np.ndarray) -> None:
    if not np.isfinite(answer).all():
        bad = _first(~np.isfinite(answer))
        raise ReleaseError(
            f"a release must be finite, got {answer[bad]} at index {bad}; does the noise fit into "
            f"{answer.dtype}?"
        )


def _first(where: np.ndarray) -> tuple[int, ...]:
    """The index of the first True."""
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(where)), where.shape))
