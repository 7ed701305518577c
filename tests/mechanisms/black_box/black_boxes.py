"""A module and a program whose releases are audited."""

from mechanisms.__main__ import main

CODE = '''
import os
import pathlib
import threading
import time

import numpy as np

AUDIT = os.getpid()


def wide(value, rng, scale):
    return value


def laplace(value, rng):
    """epsilon = 2 for neighbours at l1 distance 1."""
    return value + rng.laplace(scale=0.5, size=value.shape)


def infinite(value, rng):
    return value / 0.0 * rng.random()


def number(value, rng):
    return float(value.sum() + rng.laplace())


def raises(value, rng):
    return {}["on purpose"]


def raising_score(outputs):
    raise AssertionError("two\\nlines")


def changing(value, rng):
    return np.zeros(1 + rng.integers(2))


def late(value, rng):
    """Fails rarely, and leaves a file where it did so in another process."""
    noise = rng.laplace(scale=0.5, size=value.shape)
    if noise[0] > 3.3:
        if os.getpid() != AUDIT:
            pathlib.Path("other.process").touch()
        raise OverflowError("rare")
    return value + noise


def leaves_a_file(value, rng):
    """Tells that it was called in another process."""
    if os.getpid() != AUDIT:
        pathlib.Path("other.process").touch()
    return laplace(value, rng)


def dies(value, rng):
    noise = rng.laplace(scale=0.5, size=value.shape)
    if noise[0] > 3.2 and os.getpid() != AUDIT:
        os._exit(3)
    return value + noise


def slow(value, rng):
    """In another process a millisecond, and a file that tells of the process."""
    if os.getpid() != AUDIT:
        pathlib.Path(f"{os.getpid()}.worker").touch()
        time.sleep(0.001)
    return value + rng.laplace(scale=0.5, size=value.shape)


def batches(value, rng, count):
    return value + rng.laplace(scale=0.5, size=(count, *value.shape))


own = np.random.default_rng(5)


def forgets_the_generator(value, rng):
    return value + own.laplace(scale=0.5, size=value.shape)


def starts_a_thread(value, rng):
    if os.getpid() == AUDIT and threading.active_count() < 3:
        threading.Thread(target=time.sleep, args=(5,), daemon=True).start()
    return laplace(value, rng)


def leaves(value, rng):
    raise SystemExit(3)


def ragged(value, rng):
    return [1.0, [2.0, 3.0]]


def nothing(value, rng):
    return value[:0]


def in_place(value, rng):
    value += rng.laplace(size=value.shape)
    return value


def log_density(value, outputs):
    return -2 * np.abs(outputs - value).sum(axis=1)


def first_element(outputs):
    return -outputs[:, 0]


constant = 3.0
'''


# The same noise in a program: COUNT and SEED are its arguments.
PROGRAM = """
import io
import sys

import numpy as np

value = np.load(io.BytesIO(sys.stdin.buffer.read()))
count, seed = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(seed)
outputs = io.BytesIO()
np.save(outputs, value + rng.laplace(scale=0.5, size=(count, *value.shape)))
sys.stdout.buffer.write(outputs.getvalue())
"""

# And in awk, which knows text alone.
AWK = r"""
awk -v count="$1" -v seed="$2" '
function laplace(u) { return u < 0 ? log(1 + 2 * u) / 2 : -log(1 - 2 * u) / 2 }
BEGIN { srand(seed % 2147483647) }
{
    for (row = 0; row < count; row++) {
        for (i = 1; i <= NF; i++) printf "%.17g ", $i + laplace(rand() - 0.5)
        print ""
    }
}'
"""


def run(module, function, pair, *arguments, samples=1000):
    return main(
        ["audit", f"{module}:{function}", "--pair", pair, "--samples", f"{samples}", *arguments]
    )
