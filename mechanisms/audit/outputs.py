"""Reads what an audit needs: outputs from a function or from files, and the pair of values.

A source is a function (rng, n) that returns n independent outputs for one value, in an array of
shape (n, *shape) of finite float64 numbers, at most `LARGEST` in absolute value.
"""

import contextlib
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from mechanisms.base.guard import check_whole_numbers
from mechanisms.query.named_code import LoadError, check_takes, load_named

Release = Callable[[np.ndarray, np.random.Generator], np.ndarray]  # (value, rng) -> one output
# (value, rng, count) -> `count` outputs, one per row
ReleaseMany = Callable[[np.ndarray, np.random.Generator, int], np.ndarray]
Source = Callable[[np.random.Generator, int], np.ndarray]  # (rng, n) -> (n, *shape)
PAIR_NAMES = ("first", "second")
# A batch has at most LARGEST_BATCH rows and, unless one row has more, BATCH_NUMBERS numbers. The
# first batch of a source has FIRST_BATCH rows and shows the size of an output.
LARGEST_BATCH, BATCH_NUMBERS, FIRST_BATCH = 1 << 16, 1 << 18, 16
# Scores sum fourth powers of the outputs, which must stay finite.
LARGEST = 1e70
# With this many numbers for each value an audit takes 1.3 GB: it holds a third of them, and copies.
LARGEST_NUMBERS = 10**8


def one_by_one(release: Release) -> ReleaseMany:
    """Return a function (value, rng, count) that calls `release(value, rng)` `count` times."""
    return lambda value, rng, count: [release(value, rng) for _ in range(count)]


def from_batches(release: ReleaseMany, value: np.ndarray) -> Source:
    """Return the source of the outputs of `release(value, rng, count)`; `value` is read-only.

    The source raises ValueError if the outputs are not `count` rows of finite numbers or change
    shape, and if the function calls sys.exit.
    """
    value = np.array(value)
    value.flags.writeable = False

    def draw(rng: np.random.Generator, n: int) -> np.ndarray:
        parts = [batch_of(release, value, rng, min(FIRST_BATCH, n))]
        size = checked_size(n, parts[0][0])
        few = min(LARGEST_BATCH, max(1, BATCH_NUMBERS // size))
        for start in range(FIRST_BATCH, n, few):
            parts.append(batch_of(release, value, rng, min(few, n - start)))
        if len({part.shape[1:] for part in parts}) > 1:
            raise ValueError("the release must return one shape in every call")
        return np.concatenate(parts)

    return draw


def checked_size(outputs: int, output: np.ndarray) -> int:
    """Return the size of an output; raise ValueError if it is 0, or too large for so many."""
    size = output.size
    if not size:
        raise ValueError(f"an output must hold at least one number, got shape {output.shape}")
    if outputs * size > LARGEST_NUMBERS // 3:
        raise ValueError(
            f"an audit takes at most {LARGEST_NUMBERS:,} numbers of each value, and an output has "
            f"{size:,}: ask for at most {3 * (LARGEST_NUMBERS // 3 // size):,} samples, or audit "
            "a smaller shape"
        )
    return size


def batch_of(
    release: ReleaseMany, value: np.ndarray, rng: np.random.Generator, count: int
) -> np.ndarray:
    """Return `count` outputs of a release as float64 (count, *shape); ValueError for bad ones."""
    try:
        outputs = _numbers(release(value, rng, count), "the release")
    except SystemExit as error:
        raise ValueError(
            f"the release must return an output, but it called sys.exit({error})"
        ) from error
    if not outputs.ndim or len(outputs) != count:
        raise ValueError(
            f"the release must return {count} outputs, one per row; got shape {outputs.shape}"
        )
    return outputs


def _numbers(given: object, source: str) -> np.ndarray:
    """Return outputs as float64; raise ValueError, which names their source, for bad ones."""
    try:
        outputs = np.asarray(given)
    except ValueError as error:
        raise ValueError(f"{source} must give arrays of numbers of one shape: {error}") from error
    if outputs.dtype.kind not in "biuf":
        raise ValueError(f"{source} must give finite numbers, got {outputs.dtype}")
    if outputs.dtype.kind in "iu":
        check_whole_numbers(outputs, source)
    # C order, so that rows are contiguous however they were stored.
    outputs = outputs.astype(float, order="C")
    usable = np.abs(outputs) <= LARGEST
    if not usable.all():
        raise ValueError(
            f"{source} must give finite numbers, at most {LARGEST:g} in absolute value, got "
            f"{outputs[~usable][0]:g}"
        )
    return outputs


def from_file(path: str | Path) -> tuple[Source, int]:
    """Return a source that yields the rows of a .npy file in order, once each, and their number.

    Raises:
        ValueError: The file cannot be read, or holds no rows. The source raises it if the rows are
            not numbers that an audit takes.
    """
    with _reading(path, "outputs", ".npy file of numbers"):
        rows = np.load(path, mmap_mode="r", allow_pickle=False)
    if not isinstance(rows, np.ndarray) or not rows.ndim or not len(rows):
        raise ValueError(f"{path} must hold one output per row")
    used = 0

    def draw(rng: np.random.Generator, n: int) -> np.ndarray:
        nonlocal used
        checked_size(n, rows[0])
        used += n
        return _numbers(rows[used - n : used], str(path))

    return draw, len(rows)


@contextlib.contextmanager
def _reading(path: str | Path, what: str, kind: str) -> Iterator[None]:
    """Turn the errors of reading a file into a ValueError of one line."""
    try:
        yield
    except (OSError, EOFError, TypeError, ValueError, zipfile.BadZipFile) as error:
        reason = getattr(error, "strerror", None) or f"it must be a {kind}"
        raise ValueError(f"cannot read the {what} {path}: {reason}") from error


def load_function(name: str, *parameters: str) -> Callable:
    """Return the function that ``module:function`` names; the module must be importable.

    Args:
        parameters: The parameters that it must take.

    Raises:
        ValueError: There is no such module or function, the module cannot be imported, or the
            function takes other parameters.
        TypeError: The named object is not callable.
    """
    try:
        found = load_named(name)
    except LoadError as error:
        raise ValueError(f"cannot load {name!r}: {error}") from error
    if not callable(found):
        raise TypeError(f"{name} must be a function, got {type(found).__name__}")
    check_takes(found, parameters, name)
    return found


def load_pair(path: str | Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the arrays `first` and `second` of an .npz file.

    Raises:
        ValueError: The file cannot be read or lacks one of them, or `check_pair` refuses them.
    """
    kind = ".npz file of numeric arrays, written with numpy.savez(file, first=..., second=...)"
    with _reading(path, "pair", kind), np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    if not set(PAIR_NAMES) <= set(arrays):
        raise ValueError(f"{path} must hold the arrays first and second, got {sorted(arrays)}")
    first, second = (arrays[name] for name in PAIR_NAMES)
    check_pair(first, second, source=str(path))
    return first, second


def check_pair(first: np.ndarray, second: np.ndarray, *, source: str = "the pair") -> None:
    """Raise ValueError unless these are two different values of one shape, of finite numbers.

    Equal values can show nothing, and the release would be blamed for what is not finite.
    """
    if first.shape != second.shape:
        raise ValueError(f"{source} must hold one shape, got {first.shape} and {second.shape}")
    for name, value in zip(PAIR_NAMES, (first, second), strict=True):
        _numbers(value, f"{name} of {source}")
    if np.array_equal(first, second):
        raise ValueError(
            f"{source} must hold two different values, got first equal to second; outputs for one "
            "value refute no claim"
        )
