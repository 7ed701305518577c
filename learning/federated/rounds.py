"""Training in rounds: what is kept, told and checked after each."""

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
    """What a round ended with: the share of right answers in [0, 1], wall-clock seconds."""

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
    """Parameters (M,) through `advance`, round by round.

    The draws of a round, of batches and of noise, come from generators of their own: a run that
    goes on from a checkpoint, written after every round, ends with the same bytes.

    Args:
        advance: From parameters and the round's generators (batches, noise) to new parameters.
        evaluate: The test accuracy at parameters.
        checkpoint: A file; removed by nobody but its owner. None: start anew, keep nothing.
        label: What the progress line on stderr begins with.

    Raises:
        Diverged: Parameters are not finite any more.
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
