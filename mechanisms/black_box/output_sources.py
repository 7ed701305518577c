"""Where an audit's outputs come from: a function, or files; programs are in `program_source`.

Every source is a function (rng, n) that returns n independent outputs for one value, shape
(n, *shape), as finite numbers of double precision. A source with a true attribute `in_turn` may be
asked for a few outputs at a time, all with one rng.
"""

import contextlib
import math
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from mechanisms.base.guard import check_whole_numbers
from mechanisms.query.named_code import LoadError, check_takes, load_named

Release = Callable[[np.ndarray, np.random.Generator], np.ndarray]  # (value, rng) -> one output
# (value, rng, count) -> count outputs, one per row
ReleaseMany = Callable[[np.ndarray, np.random.Generator, int], np.ndarray]
DrawOutputs = Callable[[np.random.Generator, int], np.ndarray]  # (rng, n) -> (n, *shape)
PAIR_NAMES = ("first", "second")
# Numbers that are checked at once.
_CHECKED_AT_ONCE = 1 << 14
_DOUBLE = np.dtype(float)
_COMPLAINT = "the release must return finite numbers"


def from_function(release: Release, value: np.ndarray) -> DrawOutputs:
    """Outputs of `release(value, rng)`, which returns one; `value` is read-only for it.

    The source raises ValueError where an output is not finite, is no array, or changes its shape,
    and where the function ends the process.
    """
    value = _read_only(value)

    def draw(rng: np.random.Generator, n: int) -> np.ndarray:
        with _no_exit():
            first = _numbers(release(value, rng))
            outputs = np.empty((n, *first.shape))
            outputs[0] = first
            few = max(1, _CHECKED_AT_ONCE // max(1, first.size))
            for start in range(0, n, few):
                for row in range(start or 1, min(start + few, n)):
                    output = _numbers(release(value, rng))
                    if output.shape != first.shape:
                        raise ValueError(
                            f"the release must return one shape, got {first.shape} and "
                            f"{output.shape}"
                        )
                    outputs[row] = output
                # While they are in the cache: reading them again takes longer than the check.
                finite_numbers(outputs[start : start + few], _COMPLAINT)
        return outputs

    draw.in_turn = True
    return draw


def from_batches(release: ReleaseMany, value: np.ndarray) -> DrawOutputs:
    """Outputs of `release(value, rng, count)`, one per row; `value` is read-only for it.

    The source raises ValueError as that of `from_function`, and where there are not `count` rows.
    """
    value = _read_only(value)

    def draw(rng: np.random.Generator, n: int) -> np.ndarray:
        with _no_exit():
            outputs = _numbers(release(value, rng, n))
        if not outputs.ndim or len(outputs) != n:
            raise ValueError(
                f"the release must return {n} outputs, one per row; got shape {outputs.shape}"
            )
        return finite_numbers(outputs.astype(float), _COMPLAINT)

    draw.in_turn = True
    return draw


def _read_only(value: np.ndarray) -> np.ndarray:
    value = np.array(value)
    value.flags.writeable = False
    return value


@contextlib.contextmanager
def _no_exit() -> Iterator[None]:
    """The user's function may not end the process."""
    try:
        yield
    except SystemExit as error:
        raise ValueError(
            f"the release must return an output, but it called sys.exit({error})"
        ) from error


def _numbers(output: object) -> np.ndarray:
    if type(output) is np.ndarray and output.dtype is _DOUBLE:
        return output
    try:
        output = np.asarray(output)
    except ValueError as error:
        raise ValueError(
            "the release must return an array of numbers, got a "
            f"{type(output).__name__} that is not one: {error}"
        ) from error
    if output.dtype.kind not in "biuf":
        raise ValueError(f"the release must return finite numbers, got {output!r}")
    if output.dtype.kind in "iu":
        check_whole_numbers(output, "the output of a release")
    return output


def from_file(path: str | Path) -> tuple[DrawOutputs, tuple[int, ...]]:
    """The rows of a .npy file in their order, each used once, and their shape (rows, ...).

    Raises:
        ValueError: The file cannot be read, or holds no rows of numbers. The source raises it
            where the rows do not suffice.
    """
    _require_file(path, "outputs")
    try:
        rows = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, EOFError, ValueError) as error:
        raise ValueError(
            f"cannot read the outputs {path}: it must be a .npy file of numbers"
        ) from error
    if not isinstance(rows, np.ndarray) or not rows.ndim or not len(rows):
        raise ValueError(f"{path} must hold one output per row")
    used = 0

    def draw(rng: np.random.Generator, n: int) -> np.ndarray:
        nonlocal used
        if used + n > len(rows):
            raise ValueError(f"{path} holds {len(rows)} outputs, and {used + n} are needed")
        used += n
        return finite_numbers(real_numbers(np.array(rows[used - n : used]), str(path)), str(path))

    return draw, rows.shape


def in_turn(source: DrawOutputs) -> bool:
    """Whether a source may be asked for a few outputs at a time."""
    return getattr(source, "in_turn", False)


def real_numbers(outputs: np.ndarray, source: str) -> np.ndarray:
    """The outputs in double precision, or ValueError that names their source."""
    if outputs.dtype.kind not in "biuf":
        raise ValueError(f"{source} must hold numbers, got {outputs.dtype}")
    if outputs.dtype.kind in "iu":
        check_whole_numbers(outputs, source)
    return outputs.astype(float)


def finite_numbers(outputs: np.ndarray, complaint: str) -> np.ndarray:
    """The outputs, or ValueError with the complaint where one is not finite."""
    # In one pass: what is not finite makes a sum of squares that is not. So may what is large.
    if math.isfinite(np.vdot(outputs, outputs)):
        return outputs
    finite = np.isfinite(outputs)
    if not finite.all():
        raise ValueError(f"{complaint}: got {outputs[~finite][0]} among {len(outputs)} outputs")
    return outputs


def load_function(name: str, *parameters: str) -> Callable:
    """The function behind ``module:function``; the module must be importable.

    Args:
        parameters: What it is called with, in words.

    Raises:
        ValueError: No such module or function, a module that cannot be imported, or a function of
            other parameters.
        TypeError: It is not callable.
    """
    module, colon, function = name.partition(":")
    if not (module and colon and function):
        raise ValueError(f"a function must be named MODULE:FUNCTION, got {name!r}")
    try:
        found = load_named(name)
    except LoadError as error:
        raise ValueError(f"cannot load {name!r}: {error}") from error
    if not callable(found):
        raise TypeError(f"{name} must be a function, got {type(found).__name__}")
    check_takes(found, parameters, name)
    return found


def _require_file(path: str | Path, what: str) -> None:
    if not Path(path).is_file():
        state = "is not a file" if Path(path).exists() else "does not exist"
        raise ValueError(f"cannot read the {what} {path}: it {state}; check the path")


def load_pair(path: str | Path) -> tuple[np.ndarray, np.ndarray]:
    """The arrays `first` and `second` of an .npz file, of one shape.

    Raises:
        ValueError: The file cannot be read, or holds no two arrays that `check_pair` lets pass.
    """
    _require_file(path, "pair")
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file}
    except (OSError, EOFError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"cannot read the pair {path}: it must be an .npz file of numeric arrays, written with "
            "numpy.savez(file, first=..., second=...)"
        ) from error
    if not set(PAIR_NAMES) <= set(arrays):
        raise ValueError(f"{path} must hold the arrays first and second, got {sorted(arrays)}")
    first, second = (arrays[name] for name in PAIR_NAMES)
    check_pair(first, second, source=str(path))
    return first, second


def check_pair(first: np.ndarray, second: np.ndarray, *, source: str = "the pair") -> None:
    """Raise ValueError unless these are two different values of one shape, of finite numbers.

    Two equal values can show nothing, and what is not finite would be blamed on the release.
    """
    if first.dtype.kind not in "biuf" or second.dtype.kind not in "biuf":
        raise ValueError(f"{source} must hold numbers, got {first.dtype} and {second.dtype}")
    if first.shape != second.shape:
        raise ValueError(f"{source} must hold one shape, got {first.shape} and {second.shape}")
    for name, value in zip(PAIR_NAMES, (first, second), strict=True):
        if not np.isfinite(value).all():
            index = tuple(int(i) for i in np.argwhere(~np.isfinite(value))[0])
            raise ValueError(
                f"{source} must hold finite numbers, got {value[index]} at index {index} of {name}"
            )
    if np.array_equal(first, second):
        raise ValueError(
            f"{source} must hold two different values, got first equal to second; outputs of one "
            "value refute no claim"
        )
