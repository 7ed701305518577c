"""Training in rounds or epochs, each followed by a checkpoint and a line of progress.

A checkpoint has the parameters and the history of the rounds so far. Its file ends with a hash of
the rest, because PyTorch loads a damaged file without an error. A file that was cut short or
changed counts as missing, and the training starts anew: the damage says nothing about a mechanism.
"""

import hashlib
import io
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

_HASH = hashlib.sha256
_HASH_BYTES = _HASH().digest_size


class Diverged(ArithmeticError):
    """Gradients, parameters or logits are no longer finite numbers.

    `in_rounds` sets `round` to the number of the round in which this happened, from 1.
    """

    round: int | None = None


class Round(NamedTuple):
    """The end of a round: the accuracies measured there, in [0, 1], and its wall-clock seconds."""

    accuracies: tuple[float, ...]
    seconds: float


def in_rounds(
    start: np.ndarray,
    advance: Callable[[torch.Tensor, int], tuple[torch.Tensor, tuple[float, ...]]],
    rounds: int,
    device: str = "cpu",
    *,
    checkpoint: Path | None = None,
    label: str = "",
) -> tuple[torch.Tensor, list[Round]]:
    """Apply `advance` round by round; return the last parameters and an entry for each round.

    A checkpoint is written after every round. If `advance` seeds its draws by the number of the
    round, a resumed run ends with the same bytes.

    Args:
        start: Parameters before the first round.
        advance: Maps parameters on the device and the number of a round, from 0, to the parameters
            and accuracies at its end.
        checkpoint: A file, which the caller removes. None: start anew and keep nothing.
        label: The beginning of the progress lines on stderr.

    Raises:
        Diverged: `advance` raised it; `round` is set.
    """
    parameters, history = begin(start, checkpoint)
    parameters = parameters.to(device)
    for number in range(len(history), rounds):
        clock = time.perf_counter()
        try:
            parameters, accuracies = advance(parameters, number)
        except Diverged as diverged:
            diverged.round = number + 1
            raise
        history.append(Round(accuracies, time.perf_counter() - clock))
        if checkpoint is not None:
            keep(checkpoint, parameters, history)
        report(label, number + 1, rounds, [each.seconds for each in history])
    return parameters, history


def report(label: str, done: int, rounds: int, seconds: Sequence[float]) -> None:
    """Print a line of progress on stderr; `seconds` has the durations of the rounds so far."""
    left = sum(seconds) / len(seconds) * (rounds - done)
    print(
        f"{label}: {done} of {rounds} rounds, {seconds[-1]:.1f} s, about {left:.0f} s left",
        file=sys.stderr,
        flush=True,
    )


def begin(start: np.ndarray, checkpoint: Path | None) -> tuple[torch.Tensor, list[Round]]:
    """Return the parameters and history of an intact checkpoint, or else `start` and no history."""
    if checkpoint is not None and checkpoint.exists():
        content = checkpoint.read_bytes()
        saved, stated = content[:-_HASH_BYTES], content[-_HASH_BYTES:]
        if _HASH(saved).digest() == stated:
            kept = torch.load(io.BytesIO(saved), map_location="cpu", weights_only=True)
            return kept["parameters"], [Round(*each) for each in kept["history"]]
        print(f"{checkpoint} is damaged: training starts anew", file=sys.stderr)
    return torch.from_numpy(start), []


def keep(checkpoint: Path, parameters: torch.Tensor, history: Sequence[Round]) -> None:
    """Write a checkpoint atomically: a reader sees the old one or the new one."""
    saved = io.BytesIO()
    kept = {"parameters": parameters.cpu(), "history": [tuple(each) for each in history]}
    torch.save(kept, saved)
    temporary = checkpoint.with_suffix(".tmp")
    temporary.write_bytes(saved.getvalue() + _HASH(saved.getvalue()).digest())
    temporary.replace(checkpoint)
