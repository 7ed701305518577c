"""Federated averaging in which every user sends parameters through a mechanism (tldp2025, 5.2.3).

In every round each user trains the server's parameters on the user's own records, clips them
element by element to [-C, C], perturbs them and sends them; the server returns the mean. The
paper's list of steps adds the noise to the mean, while its Section 5.1.3 lets every user perturb
before anything is transmitted. This module does the second, which is local privacy.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from learning.networks.network import Network
from learning.training.classifiers import Training, trained
from learning.training.trial import Seeds


class Round(NamedTuple):
    """The end of a round: its wall-clock seconds."""

    seconds: float


@dataclass(frozen=True, kw_only=True)
class AveragingPlan:
    """How users train and what they send.

    Args:
        rounds: Number of times that every user sends parameters; at least 1.
        local: Training of a user in one round. Adam restarts in every round: the paper does not say
            whether its averages outlive a round.
        bound: C > 0; None: parameters are not clipped.
    """

    rounds: int
    local: Training
    bound: float | None


def clipped(parameters: np.ndarray, bound: float) -> np.ndarray:
    """Every element clipped to [-bound, bound]; NaN becomes zero."""
    return np.clip(np.nan_to_num(parameters, posinf=bound, neginf=-bound), -bound, bound)


def averaged(
    network: Network,
    users: list[tuple[np.ndarray, np.ndarray]],
    plan: AveragingPlan,
    release: Callable[[np.ndarray, np.random.Generator], np.ndarray],
    seeds: Seeds,
    *,
    checkpoint: Path | None = None,
    label: str = "",
) -> np.ndarray:
    """The server's parameters (M,) float32 after the last round.

    Every round draws from its own seeds, so that a run resumed from a checkpoint, which is written
    after every round, ends with the same bytes.

    Args:
        users: Inputs and labels, one pair per user.
        release: Maps parameters (1, M) float32 and a generator to what is sent.
        checkpoint: A file, which the caller removes. None: start anew and keep nothing.
        label: The beginning of the progress line on stderr.
    """
    import torch

    from learning.training.checkpoint import begin, keep

    start = network.initial(np.random.default_rng(seeds.start))
    begun, history = begin(start, checkpoint, Round)
    parameters = begun.numpy()
    for turn in range(len(history), plan.rounds):
        clock = time.perf_counter()
        sent = []
        for user, (inputs, labels) in enumerate(users):
            batches, noise = (
                np.random.default_rng([seed, turn, user]) for seed in (seeds.batches, seeds.noise)
            )
            own = trained(network, parameters, inputs, labels, plan.local, batches).numpy()
            if plan.bound is not None:
                own = clipped(own, plan.bound)
            sent.append(release(own[None], noise)[0])
        parameters = np.mean(sent, axis=0, dtype=np.float64).astype(np.float32)
        history.append(Round(time.perf_counter() - clock))
        if checkpoint is not None:
            keep(checkpoint, torch.from_numpy(parameters), history)
        left = sum(each.seconds for each in history) / len(history) * (plan.rounds - turn - 1)
        print(
            f"{label}: round {turn + 1} of {plan.rounds}, {history[-1].seconds:.1f} s, about "
            f"{left:.0f} s left",
            file=sys.stderr,
            flush=True,
        )
    return parameters
