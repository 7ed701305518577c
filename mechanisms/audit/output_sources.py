"""Where an audit's outputs come from: a function, a program in any language, or files.

Every source is a function (rng, n) that returns n independent outputs for one value, shape
(n, *shape), as finite numbers of double precision. A source with a true attribute `in_turn` may be
asked for a few outputs at a time, all with one rng.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import signal
import subprocess
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from mechanisms.contract.named_code import LoadError, load_named

Release = Callable[[np.ndarray, np.random.Generator], np.ndarray]  # (value, rng) -> one output
# (value, rng, count) -> count outputs, one per row
ReleaseMany = Callable[[np.ndarray, np.random.Generator, int], np.ndarray]
DrawOutputs = Callable[[np.random.Generator, int], np.ndarray]  # (rng, n) -> (n, *shape)
PAIR_NAMES = ("first", "second")
# Seconds that a call of a program may take, by default and at most.
TIME_LIMIT, LONGEST_LIMIT = 600, 10**6
# Numbers that are checked at once.
_CHECKED_AT_ONCE = 1 << 14
_DOUBLE = np.dtype(float)


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
                _finite(outputs[start : start + few], "the release must return finite numbers")
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
        return _finite(outputs.astype(float), "the release must return finite numbers")

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
    return output


def from_program(
    command: Sequence[str],
    value: np.ndarray,
    *,
    text: bool = False,
    time_limit: float = TIME_LIMIT,
) -> DrawOutputs:
    """Outputs that a program writes, called as ``COMMAND... COUNT SEED``.

    It reads the value from its standard input as a .npy file, and writes COUNT independent outputs
    to its standard output as one .npy file of shape (COUNT, *shape). SEED is a whole number from 0
    to 2^63 - 1, another one in every call; an audit repeats exactly if the program draws by it.

    With `text` the value is one line of its elements, in C order with 17 digits, and every output
    is one line of numbers, separated by blanks.

    The source raises ValueError where the program cannot be started, fails, writes something else
    or takes more than `time_limit` seconds for a call, at most 10^6; it is then ended, with all
    that it started.
    """
    if not command:
        raise ValueError("a program must be the words of a command, got none")
    if not 0 < time_limit <= LONGEST_LIMIT:
        raise ValueError(
            f"a time limit must lie in (0, {LONGEST_LIMIT}] seconds, got {time_limit!r}"
        )
    given, read = (_as_text, _from_text) if text else (_as_npy, _from_npy)
    stream, name = given(np.asarray(value)), " ".join(command)

    def draw(rng: np.random.Generator, n: int) -> np.ndarray:
        arguments = [*command, str(n), str(rng.integers(2**63))]
        try:
            done = _ended(arguments, stream, time_limit)
        except OSError as error:
            raise ValueError(f"cannot start the program {name}: {error}") from error
        except subprocess.TimeoutExpired:
            raise ValueError(
                f"the program {name} was given {time_limit:g} s for {n} outputs and did not end; "
                "check that it ends by itself, or give it a longer --time-limit"
            ) from None
        if done.returncode:
            words = done.stderr.decode(errors="replace").strip().splitlines()
            last = f": {words[-1]}" if words else ""
            raise ValueError(f"the program {name} ended with status {done.returncode}{last}")
        outputs = read(done.stdout, f"the program {name}")
        if not outputs.ndim or len(outputs) != n:
            raise ValueError(
                f"the program {name} must write {n} outputs, one per row; got shape {outputs.shape}"
            )
        return _finite(_real(outputs, f"the program {name}"), f"the program {name}")

    return draw


def _ended(
    arguments: Sequence[str], stream: bytes, time_limit: float
) -> subprocess.CompletedProcess[bytes]:
    """What a program wrote until it ended."""
    pipe = subprocess.PIPE
    # A group of its own: a shell that is ended alone leaves behind what it started.
    with subprocess.Popen(
        arguments, stdin=pipe, stdout=pipe, stderr=pipe, process_group=0
    ) as program:
        try:
            written, errors = program.communicate(stream, timeout=time_limit)
        except BaseException:  # Ctrl-C too, which does not reach another group
            with contextlib.suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(arguments, program.returncode, written, errors)


def _as_npy(value: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, value, allow_pickle=False)
    return stream.getvalue()


def _from_npy(written: bytes, program: str) -> np.ndarray:
    # Of anything else numpy says that it may be a pickle.
    if not written.startswith(np.lib.format.MAGIC_PREFIX):
        raise ValueError(
            f"{program} must write a .npy file to its standard output and nothing else; it wrote "
            f"{_beginning(written)}"
        )
    try:
        return np.load(io.BytesIO(written), allow_pickle=False)
    except (EOFError, ValueError) as error:
        raise ValueError(f"{program} wrote a damaged .npy file: {error}") from error


def _as_text(value: np.ndarray) -> bytes:
    return (" ".join(f"{element:.17g}" for element in value.flat) + "\n").encode()


def _from_text(written: bytes, program: str) -> np.ndarray:
    try:
        rows = [[float(word) for word in line.split()] for line in written.splitlines()]
        return np.array(rows, dtype=float)
    except ValueError as error:
        raise ValueError(
            f"{program} must write one line of numbers per output, as many in each; it wrote "
            f"{_beginning(written)}"
        ) from error


def _beginning(written: bytes) -> str:
    return repr(written[:40].decode(errors="replace")) if written else "nothing"


def from_file(path: str | Path) -> tuple[DrawOutputs, int]:
    """The rows of a .npy file in their order, each used once, and how many there are.

    Raises:
        ValueError: The file cannot be read, or holds no rows of numbers. The source raises it
            where the rows do not suffice.
    """
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
        return _finite(_real(np.array(rows[used - n : used]), str(path)), str(path))

    return draw, len(rows)


def in_turn(source: DrawOutputs) -> bool:
    """Whether a source may be asked for a few outputs at a time."""
    return getattr(source, "in_turn", False)


def _real(outputs: np.ndarray, source: str) -> np.ndarray:
    if outputs.dtype.kind not in "biuf":
        raise ValueError(f"{source} must hold numbers, got {outputs.dtype}")
    return outputs.astype(float)


def _finite(outputs: np.ndarray, complaint: str) -> np.ndarray:
    # In one pass: what is not finite makes a sum of squares that is not. So may what is large.
    if math.isfinite(np.vdot(outputs, outputs)):
        return outputs
    finite = np.isfinite(outputs)
    if not finite.all():
        raise ValueError(f"{complaint}: got {outputs[~finite][0]} among {len(outputs)} outputs")
    return outputs


def load_function(name: str) -> Callable:
    """The function behind ``module:function``; the module must be importable.

    Raises:
        ValueError: No such module or function, or a module that cannot be imported.
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
    return found


def load_pair(path: str | Path) -> tuple[np.ndarray, np.ndarray]:
    """The arrays `first` and `second` of an .npz file, of one shape.

    Raises:
        ValueError: The file cannot be read, or holds no two arrays that `check_pair` lets pass.
    """
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
