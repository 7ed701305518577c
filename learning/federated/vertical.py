"""Vertical federated learning with released features (mgm2021 Section 8.2, Type II)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from learning.federated.rounds import Round, in_rounds, require_finite
from learning.networks.split_network import SplitNetwork
from learning.records.labelled import Split
from learning.training.device import prepared
from learning.training.noisy_descent import accuracy
from learning.training.trial import Seeds


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How to train.

    Args:
        rounds: Tests, each after `iterations` iterations.
        iterations: Batches of a round.
        batch: m, records of a batch, drawn anew without replacement for every iteration.
        learning_rate: Of plain gradient descent, local and on the server.
        device: "cpu", or "auto" for CUDA where there is one; its results are not the CPU's.
    """

    rounds: int
    iterations: int
    batch: int
    learning_rate: float
    device: str = "cpu"


def train(
    split: SplitNetwork,
    data: Split,
    plan: Plan,
    release: Callable[[np.ndarray, np.random.Generator], np.ndarray],
    seeds: Seeds,
    *,
    checkpoint: Path | None = None,
    label: str = "",
) -> list[Round]:
    """Train in rounds, and test after each on features without noise.

    In every iteration both participants compute the features of the same batch, (m, n) each, and
    release them. The server cuts what it gets to [-1, 1], where features lie by their range: that
    is post-processing, and without it training overflows at all but enormous budgets. It steps on
    the cross-entropy of its top model there, and sends back the gradient by the features, which
    the participants carry on through their local models as if neither noise nor cut had been.

    Args:
        release: From features (m, n), float32, and a generator to what the server gets.
        checkpoint, label: As in `in_rounds`.

    Raises:
        Diverged: Parameters are not finite any more.
    """
    device = prepared(plan.device)
    inputs, labels, test_inputs, test_labels = (
        torch.from_numpy(array).to(device)
        for array in (data.train_inputs, data.train_labels, data.test_inputs, data.test_labels)
    )
    network = split.network

    def received(features, noise):
        """Released features with the gradient of those before."""
        require_finite(features, "a participant's features")
        released = torch.from_numpy(release(features.detach().cpu().numpy(), noise))
        cut = released.to(device, features.dtype).clamp(-1, 1)
        return features + (cut - features).detach()

    def advance(parameters, batches, noise):
        for _ in range(plan.iterations):
            chosen = batches.choice(len(labels), plan.batch, replace=False, shuffle=False)
            chosen = torch.from_numpy(chosen).to(device)
            at = parameters.detach().requires_grad_()
            tensors = network.tensors(at)
            features = [received(f, noise) for f in split.local(tensors, inputs[chosen])]
            loss = cross_entropy(split.top(tensors, features), labels[chosen])
            (gradient,) = torch.autograd.grad(loss, at)
            parameters = parameters - plan.learning_rate * gradient
        return parameters

    def evaluate(parameters):
        return accuracy(network, parameters, test_inputs, test_labels)

    return in_rounds(
        network,
        advance,
        evaluate,
        plan.rounds,
        seeds,
        device,
        checkpoint=checkpoint,
        label=label,
    )
