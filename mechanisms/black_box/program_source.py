"""An audit's outputs from a program in any language."""

import contextlib
import io
import os
import signal
import subprocess
from collections.abc import Sequence

import numpy as np

from mechanisms.black_box.output_sources import DrawOutputs, finite_numbers, real_numbers
from mechanisms.query.written_numbers import number_in

# Seconds that a call of a program may take, by default and at most.
TIME_LIMIT, LONGEST_LIMIT = 600, 10**6
# Of the outputs of a call, for a comparison with those of the next one.
_KEPT_NUMBERS = 1 << 16
# Of outputs that are equal although they are independent.
_CHANCE = 1e-9


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

    The source raises ValueError where the program cannot be started, fails, writes something else,
    writes the outputs of its last call again, or takes more than `time_limit` seconds for a call,
    at most 10^6; it is then ended, with all that it started.
    """
    if not command:
        raise ValueError("a program must be the words of a command, got none")
    if not 0 < time_limit <= LONGEST_LIMIT:
        raise ValueError(
            f"a time limit must lie in (0, {LONGEST_LIMIT}] seconds, got {time_limit!r}"
        )
    given, read = (_as_text, _from_text) if text else (_as_npy, _from_npy)
    stream, name = given(np.asarray(value)), " ".join(command)
    last: list[np.ndarray] = []

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
            reason = f": {words[-1]}" if words else ""
            raise ValueError(f"the program {name} ended with status {done.returncode}{reason}")
        outputs = read(done.stdout, f"the program {name}")
        if not outputs.ndim or len(outputs) != n:
            raise ValueError(
                f"the program {name} must write {n} outputs, one per row; got shape {outputs.shape}"
            )
        outputs = real_numbers(outputs, f"the program {name}")
        kept = outputs[: max(2, _KEPT_NUMBERS // max(1, outputs[0].size))].copy()
        if last and _repeats(last.pop(), kept):
            raise ValueError(
                f"the program {name} wrote the same outputs for two seeds; it must take all its "
                "random numbers from SEED, its last argument"
            )
        last.append(kept)
        return finite_numbers(outputs, f"the program {name}")

    return draw


def _repeats(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether rows of two calls are equal, and not by chance as those of few different rows are."""
    rows = min(len(first), len(second))
    if not np.array_equal(first[:rows], second[:rows], equal_nan=True):
        return False
    times = np.unique(second[:rows].reshape(rows, -1), axis=0, return_counts=True)[1]
    return (times.max() / rows) ** rows < _CHANCE


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
    lines = written.decode(errors="replace").splitlines()
    try:
        rows = [[number_in(word) for word in line.split()] for line in lines]
        return np.array(rows, dtype=float)
    except ValueError as error:
        raise ValueError(
            f"{program} must write one line of numbers per output, as many in each; it wrote "
            f"{_beginning(written)} ({error})"
        ) from error


def _beginning(written: bytes) -> str:
    return repr(written[:40].decode(errors="replace")) if written else "nothing"
