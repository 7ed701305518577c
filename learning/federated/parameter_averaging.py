"""Federated averaging in which every user sends parameters through a mechanism (tldp2025, 5.2.3).

In every round each user trains the server's parameters on the user's own records, clips them
element by element to [-C, C], perturbs them and sends them; the server returns the mean. The
paper's list of steps adds the noise to the mean, while its Section 5.1.3 lets every user perturb
before anything is transmitted. This module follows Section 5.1.3, which gives local privacy.
"""

from collections.abc import Callable

import numpy as np

from learning.networks.network import Network
from learning.training.classifiers import Training, trained
from learning.training.trial import Seeds


def clipped(parameters: np.ndarray, bound: float) -> np.ndarray:
    """Clip every element to [-bound, bound]; NaN becomes zero."""
    return np.clip(np.nan_to_num(parameters, posinf=bound, neginf=-bound), -bound, bound)


def averaged(
    network: Network,
    users: list[tuple[np.ndarray, np.ndarray]],
    rounds: int,
    training: Training,
    bound: float | None,
    release: Callable[[np.ndarray, np.random.Generator], np.ndarray],
    seeds: Seeds,
    **progress,
) -> np.ndarray:
    """Run all rounds and return the server's parameters (M,), float32.

    Every round has its own seeds.

    Args:
        users: Inputs and labels, one pair per user.
        rounds: Number of times that every user sends parameters; at least 1.
        training: Training of a user in one round. Adam restarts in every round, because the paper
            does not say whether its averages outlive a round.
        bound: C > 0; None for no clipping.
        release: Maps parameters (1, M) float32 and a generator to what is sent.
        progress: `checkpoint` and `label`, as in `in_rounds`.
    """
    import torch

    from learning.training.rounds import in_rounds

    def advance(parameters, turn):
        sent = []
        for user, (inputs, labels) in enumerate(users):
            batches, noise = (
                np.random.default_rng([seed, turn, user]) for seed in (seeds.batches, seeds.noise)
            )
            start = parameters.numpy()
            own = trained(network, start, inputs, labels, training, batches).numpy()
            if bound is not None:
                own = clipped(own, bound)
            sent.append(release(own[None], noise)[0])
        mean = np.mean(sent, axis=0, dtype=np.float64).astype(np.float32)
        return torch.from_numpy(mean), ()

    start = network.initial(np.random.default_rng(seeds.start))
    return in_rounds(start, advance, rounds, **progress)[0].numpy()
