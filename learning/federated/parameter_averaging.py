"""Federated averaging in which every user sends parameters through a mechanism (tldp2025, 5.2.3).

In every round each user trains the parameters that the server sent on records of their own, clips
them element by element to [-C, C], perturbs them and sends them; the server sends back the mean.
The paper's list has the noise added to the mean, its Section 5.1.3 has every user perturb before
anything is transmitted: the latter is local privacy, and is what is done here.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from learning.networks.network import Network
from learning.training.classifiers import Training, trained
from learning.training.trial import Seeds


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How to train.

    Args:
        rounds: Times that every user sends parameters; at least 1.
        local: Training of a user in one round. Adam starts anew in every round: whether its
            averages outlive a round is not stated.
        bound: C, positive; None: parameters are not clipped.
    """

    rounds: int
    local: Training
    bound: float | None


def clipped(parameters: np.ndarray, bound: float) -> np.ndarray:
    """Every element cut to [-bound, bound]; what is no number any more counts as zero."""
    return np.clip(np.nan_to_num(parameters, posinf=bound, neginf=-bound), -bound, bound)


def averaged(
    network: Network,
    users: list[tuple[np.ndarray, np.ndarray]],
    plan: Plan,
    release: Callable[[np.ndarray, np.random.Generator], np.ndarray],
    seeds: Seeds,
    *,
    checkpoint: Path | None = None,
    label: str = "",
) -> np.ndarray:
    """The server's parameters (M,) float32 after the last round.

    The draws of a round come from seeds of their own: a run that goes on from a checkpoint, written
    after every round, ends with the same bytes.

    Args:
        users: Inputs and labels of every user.
        release: From parameters (1, M) float32 and a generator to what is sent.
        checkpoint: A file; removed by nobody but its owner. None: start anew, keep nothing.
        label: What the progress line on stderr begins with.
    """
    done, parameters = _begin(network, seeds.start, checkpoint)
    for turn in range(done, plan.rounds):
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
        if checkpoint is not None:
            _keep(checkpoint, turn + 1, parameters)
        seconds = time.perf_counter() - clock
        print(
            f"{label}: round {turn + 1} of {plan.rounds}, {seconds:.1f} s, about "
            f"{seconds * (plan.rounds - turn - 1):.0f} s left",
            file=sys.stderr,
            flush=True,
        )
    return parameters


def _begin(network: Network, seed: int, checkpoint: Path | None) -> tuple[int, np.ndarray]:
    if checkpoint is not None and checkpoint.exists():
        with np.load(checkpoint) as kept:
            return int(kept["rounds"]), kept["parameters"]
    return 0, network.initial(np.random.default_rng(seed))


def _keep(checkpoint: Path, rounds: int, parameters: np.ndarray) -> None:
    temporary = checkpoint.with_suffix(".tmp")
    with temporary.open("wb") as file:
        np.savez(file, rounds=rounds, parameters=parameters)
    temporary.replace(checkpoint)
