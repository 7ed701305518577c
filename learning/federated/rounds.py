"""Federated training in rounds, each with its own seeds and with a check and a test at its end."""

from collections.abc import Callable, Sequence

import numpy as np
import torch

from learning.networks.network import Network
from learning.training import rounds
from learning.training.noisy_descent import accuracy
from learning.training.rounds import Diverged, Round
from learning.training.trial import Seeds


def require_finite(values: torch.Tensor, what: str) -> None:
    """Raise Diverged unless all values are finite."""
    if not torch.isfinite(values).all():
        raise Diverged(
            f"training diverged: {what} are not finite; the noise or the learning rate is too "
            "large for this network"
        )


def in_rounds(
    network: Network,
    advance: Callable[[torch.Tensor, list, list], torch.Tensor],
    tests: tuple[torch.Tensor, torch.Tensor],
    number_of_rounds: int,
    seeds: Sequence[Seeds],
    device: str,
    **progress,
) -> list[Round]:
    """Apply `advance` to the parameters of all runs, round by round; return one entry per round.

    In every round each run has its own generators for batches and for noise, and one accuracy.

    Args:
        advance: Maps the parameters (R, M) of R runs and the generators of the round, one per run
            for batches and one for noise, to new parameters.
        tests: Inputs and labels of the test records.
        seeds: One entry per run.
        progress: `checkpoint` and `label`, as in `learning.training.rounds.in_rounds`.

    Raises:
        Diverged: Parameters of a run are no longer finite.
    """
    start = np.stack([network.initial(np.random.default_rng(each.start)) for each in seeds])

    def one_round(parameters, number):
        batches = [np.random.default_rng([each.batches, number]) for each in seeds]
        noise = [np.random.default_rng([each.noise, number]) for each in seeds]
        parameters = advance(parameters, batches, noise)
        require_finite(parameters, f"the parameters after round {number + 1} of {number_of_rounds}")
        return parameters, tuple(accuracy(network, each, *tests) for each in parameters)

    return rounds.in_rounds(start, one_round, number_of_rounds, device, **progress)[1]
