"""Training in rounds: the checkpoint, progress line and check after each round."""

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from learning.networks.network import Network
from learning.training.checkpoint import begin, keep
from learning.training.noisy_descent import Diverged, accuracy
from learning.training.trial import Seeds


class Round(NamedTuple):
    """The end of a round.

    Args:
        test_accuracies: One per run, in [0, 1].
        seconds: Wall-clock seconds of all runs.
    """

    test_accuracies: tuple[float, ...]
    seconds: float


def require_finite(values: torch.Tensor, what: str) -> None:
    """Raise Diverged unless all values are finite."""
    if not torch.isfinite(values).all():
        raise Diverged(
            f"training diverged: {what} are not finite; the noise or the learning rate is too "
            "large for this network"
        )


Generators = list[np.random.Generator]
Advance = Callable[[torch.Tensor, Generators, Generators], torch.Tensor]


def in_rounds(
    network: Network,
    advance: Advance,
    tests: tuple[torch.Tensor, torch.Tensor],
    rounds: int,
    seeds: Sequence[Seeds],
    device: str,
    *,
    checkpoint: Path | None = None,
    label: str = "",
) -> list[Round]:
    """Apply `advance` to the parameters of all runs, round by round; one entry per round.

    Every run has its own generators for batches and for noise in every round, so that runs resumed
    from a checkpoint, which is written after every round, end with the same bytes.

    Args:
        advance: Maps the parameters (R, M) of R runs and the generators of the round, one per run
            for batches and one for noise, to new parameters.
        tests: Inputs and labels of the test records.
        seeds: One entry per run.
        checkpoint: A file, which the caller removes. None: start anew and keep nothing.
        label: The beginning of the progress line on stderr.

    Raises:
        Diverged: Parameters of a run are no longer finite.
    """
    start = np.stack([network.initial(np.random.default_rng(each.start)) for each in seeds])
    parameters, history = begin(start, checkpoint, Round)
    parameters = parameters.to(device)
    for number in range(len(history), rounds):
        clock = time.perf_counter()
        batches, noise = (
            [np.random.default_rng([seed, number]) for seed in kind]
            for kind in zip(*((each.batches, each.noise) for each in seeds), strict=True)
        )
        parameters = advance(parameters, batches, noise)
        require_finite(parameters, f"the parameters after round {number + 1} of {rounds}")
        accuracies = tuple(accuracy(network, each, *tests) for each in parameters)
        ended = Round(accuracies, time.perf_counter() - clock)
        history.append(ended)
        if checkpoint is not None:
            keep(checkpoint, parameters, history)
        left = sum(each.seconds for each in history) / len(history) * (rounds - number - 1)
        print(
            f"{label}: round {number + 1} of {rounds}, test accuracy {np.mean(accuracies):.3f}, "
            f"{ended.seconds:.1f} s, about {left:.0f} s left",
            file=sys.stderr,
            flush=True,
        )
    return history
