"""Training in rounds: the checkpoint, progress line and check after each round."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from learning.networks.network import Network
from learning.training.noisy_descent import Diverged, begin, keep
from learning.training.trial import Seeds


class Round(NamedTuple):
    """The end of a round: test accuracy in [0, 1] and wall-clock seconds."""

    test_accuracy: float
    seconds: float


def require_finite(values: torch.Tensor, what: str) -> None:
    """Raise Diverged unless all values are finite."""
    if not torch.isfinite(values).all():
        raise Diverged(
            f"training diverged: {what} are not finite; the noise or the learning rate is too "
            "large for this network"
        )


Advance = Callable[[torch.Tensor, np.random.Generator, np.random.Generator], torch.Tensor]


def in_rounds(
    network: Network,
    advance: Advance,
    evaluate: Callable[[torch.Tensor], float],
    rounds: int,
    seeds: Seeds,
    device: str,
    *,
    checkpoint: Path | None = None,
    label: str = "",
) -> list[Round]:
    """Apply `advance` to the parameters (M,) round by round; one entry per round.

    Every round has its own generators for batches and for noise, so that a run resumed from a
    checkpoint, which is written after every round, ends with the same bytes.

    Args:
        advance: Maps parameters and the round's generators (batches, noise) to new parameters.
        evaluate: The test accuracy at parameters.
        checkpoint: A file, which the caller removes. None: start anew and keep nothing.
        label: The beginning of the progress line on stderr.

    Raises:
        Diverged: Parameters are no longer finite.
    """
    parameters, history = begin(network, seeds.start, checkpoint, Round)
    parameters = parameters.to(device)
    for number in range(len(history), rounds):
        clock = time.perf_counter()
        batches, noise = (np.random.default_rng([s, number]) for s in (seeds.batches, seeds.noise))
        parameters = advance(parameters, batches, noise)
        require_finite(parameters, f"the parameters after round {number + 1} of {rounds}")
        ended = Round(evaluate(parameters), time.perf_counter() - clock)
        history.append(ended)
        if checkpoint is not None:
            keep(checkpoint, parameters, history)
        left = sum(each.seconds for each in history) / len(history) * (rounds - number - 1)
        print(
            f"{label}: round {number + 1} of {rounds}, test accuracy {ended.test_accuracy:.3f}, "
            f"{ended.seconds:.1f} s, about {left:.0f} s left",
            file=sys.stderr,
            flush=True,
        )
    return history
