"""Vertical federated learning with released features (mgm2021 Section 8.2, Type II)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from learning.federated.rounds import in_rounds, require_finite
from learning.networks.split_network import SplitNetwork
from learning.records.labelled import Split
from learning.training.device import prepared, tensors_of
from learning.training.rounds import Round
from learning.training.trial import Seeds


@dataclass(frozen=True, kw_only=True)
class VerticalPlan:
    """How participants release features and the server trains.

    Args:
        rounds: Number of rounds, each of `iterations` iterations and a test.
        iterations: Number of batches of a round.
        batch: m, records of a batch, drawn anew without replacement for every iteration.
        learning_rate: The rate of plain gradient descent, for the participants and the server.
        device: "cpu", or "auto" for CUDA if available; results on CUDA differ from the CPU's.
    """

    rounds: int
    iterations: int
    batch: int
    learning_rate: float
    device: str = "cpu"


def train(
    split: SplitNetwork,
    data: Split,
    plan: VerticalPlan,
    release: Callable[[np.ndarray, np.random.Generator], np.ndarray],
    seeds: Sequence[Seeds],
    **progress,
) -> list[Round]:
    """Train independent runs in rounds, and test each after every round on features without noise.

    All runs take their steps together. In every iteration of a run both participants compute the
    features of the same batch, (m, n) each, and release them. The server clips what it receives to
    [-1, 1], the range of features. This is post-processing, and without it training overflows at
    all but enormous budgets. The server takes a step on the cross-entropy of its top model at the
    clipped features and returns the gradient with respect to them. The participants propagate this
    gradient through their local models as if there were neither noise nor clipping.

    Args:
        release: Maps both participants' features (2, m, n), float32, and a generator to what the
            server receives from them.
        seeds: One entry per run.
        progress: `checkpoint` and `label`, as in `in_rounds`.

    Raises:
        Diverged: Parameters or features are no longer finite.
    """
    device = prepared(plan.device)
    inputs, labels, *tests = tensors_of(data, device)
    network, shares = split.network, split.shares(inputs)

    def received(features, noise):
        """Release and clip features (R, m, 2n); gradients pass as if they were unchanged."""
        require_finite(features, "a participant's features")
        apart = features.detach().cpu().unflatten(-1, (2, -1)).swapaxes(1, 2).numpy()
        released = np.stack([release(own, rng) for own, rng in zip(apart, noise, strict=True)])
        joined = torch.from_numpy(released).swapaxes(1, 2).flatten(2)
        clipped = joined.to(device, features.dtype).clamp(-1, 1)
        return features + (clipped - features).detach()

    def advance(parameters, batches, noise):
        for _ in range(plan.iterations):
            drawn = [
                rng.choice(len(labels), plan.batch, replace=False, shuffle=False) for rng in batches
            ]
            chosen = torch.from_numpy(np.stack(drawn)).to(device)
            at = parameters.detach().requires_grad_()
            tensors = network.tensors(at)
            features = received(split.local(tensors, [own[chosen] for own in shares]), noise)
            logits = split.top(tensors, features)
            # The sum over runs of the mean over a batch: a run's parameters affect only its loss.
            total = cross_entropy(logits.flatten(0, 1), labels[chosen].flatten(), reduction="sum")
            (gradients,) = torch.autograd.grad(total / plan.batch, at)
            parameters = parameters - plan.learning_rate * gradients
        return parameters

    return in_rounds(network, advance, tests, plan.rounds, seeds, device, **progress)
