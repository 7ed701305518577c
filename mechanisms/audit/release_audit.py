"""Audits a release function of which nothing is known: a lower bound from its outputs alone."""

from __future__ import annotations

import importlib
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from mechanisms.audit.audit_statistics import AuditResult
from mechanisms.audit.sampled_audit import DrawOutputs, Score, audit_outputs

Release = Callable[[np.ndarray, np.random.Generator], np.ndarray]  # (value, rng) -> one output
PAIR_NAMES = ("first", "second")


def audit_release(
    release: Release,
    first: np.ndarray,
    second: np.ndarray,
    epsilon: float,
    *,
    score: Score | str = "logistic",
    samples: int = 10_000,
    seed: int = 0,
    confidence: float = 0.999,
) -> AuditResult:
    """Bound delta(epsilon) of a release function from below, on one pair of neighbouring values.

    The bound refutes a claim of less; it never proves one, as another pair or another score may
    show more. See `audit_outputs` for the method.

    Args:
        release: Called as release(value, rng); returns one output, finite numbers of one shape.
            It must draw all its randomness from `rng`, and is called 2 `samples` times. `value` is
            read-only.
        first, second: The two values, answers for two neighbouring data sets.
        epsilon, samples, seed, confidence, score: As in `audit_outputs`.

    Raises:
        TypeError, ValueError: As `audit_outputs`; or an output is not finite or changes its shape.
    """
    draws = [_repeated(release, np.array(value)) for value in (first, second)]
    shapes = {draw(np.random.default_rng(seed), 1).shape for draw in draws}
    if len(shapes) > 1:
        raise ValueError(f"the outputs for both values must have one shape, got {sorted(shapes)}")
    return audit_outputs(
        *draws, epsilon, score=score, samples=samples, seed=seed, confidence=confidence
    )


def _repeated(release: Release, value: np.ndarray) -> DrawOutputs:
    """`release` as a function that draws n outputs (n, *shape)."""
    value.flags.writeable = False

    def draw(rng: np.random.Generator, n: int) -> np.ndarray:
        outputs = [np.asarray(release(value, rng)) for _ in range(n)]
        for output in outputs:
            if output.dtype.kind not in "biuf" or not np.isfinite(output).all():
                raise ValueError(f"the release must return finite numbers, got {output!r}")
            if output.shape != outputs[0].shape:
                raise ValueError(
                    f"the release must return one shape, got {outputs[0].shape} and {output.shape}"
                )
        return np.array(outputs, dtype=float)

    return draw


def load_release(name: str) -> Release:
    """The function behind ``module:function``; the module must be importable.

    Raises:
        ValueError: No such module or function.
        TypeError: It is not callable.
    """
    module, colon, function = name.partition(":")
    if not (module and colon and function):
        raise ValueError(f"the release must be MODULE:FUNCTION, got {name!r}")
    try:
        found = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"cannot load {name!r}: {error}; the module must be in the working directory or in "
            "PYTHONPATH"
        ) from error
    if not callable(found):
        raise TypeError(f"{name} must be a function of (value, rng), got {type(found).__name__}")
    return found


def load_pair(path: str | Path) -> tuple[np.ndarray, np.ndarray]:
    """The arrays `first` and `second` of an .npz file, of one shape.

    Raises:
        ValueError: The file cannot be read, or does not hold two numeric arrays of one shape.
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
    if first.dtype.kind not in "biuf" or second.dtype.kind not in "biuf":
        raise ValueError(f"{path} must hold numbers, got {first.dtype} and {second.dtype}")
    if first.shape != second.shape:
        raise ValueError(f"{path} must hold one shape, got {first.shape} and {second.shape}")
    return first, second
