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
class VerticalPlan:
    """How participants release features and the server trains.

    Args:
        rounds: Number of tests; a round is `iterations` iterations and a test.
        iterations: Batches of a round.
        batch: m, records of a batch, drawn anew without replacement for every iteration.
        learning_rate: Of plain gradient descent, by the participants and by the server.
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
    plan: VerticalPlan,
    release: Callable[[np.ndarray, np.random.Generator], np.ndarray],
    seeds: Seeds,
    *,
    checkpoint: Path | None = None,
    label: str = "",
) -> list[Round]:
    """Train in rounds, and test after each on features without noise.

    In every iteration both participants compute the features of the same batch, (m, n) each, and
    release them. The server clips what it receives to [-1, 1], the range of features: this is
    post-processing, and without it training overflows at all but enormous budgets. The server
    steps on the cross-entropy of its top model there and returns the gradient with respect to the
    features, which the participants propagate through their local models as if there were neither
    noise nor clipping.

    Args:
        release: Maps features (m, n), float32, and a generator to what the server receives.
        checkpoint, label: As in `in_rounds`.

    Raises:
        Diverged: Parameters or features are no longer finite.
    """
    device = prepared(plan.device)
    inputs, labels, test_inputs, test_labels = (
        torch.from_numpy(array).to(device)
        for array in (data.train_inputs, data.train_labels, data.test_inputs, data.test_labels)
    )
    network = split.network

    def received(features, noise):
        """Released features, clipped, with the gradient of the features before the release."""
        require_finite(features, "a participant's features")
        released = torch.from_numpy(release(features.detach().cpu().numpy(), noise))
        clipped = released.to(device, features.dtype).clamp(-1, 1)
        return features + (clipped - features).detach()

    def advance(parameters, batches, noise):
        # One run at a time.
        (parameters,), (batches,), (noise,) = parameters, batches, noise
        for _ in range(plan.iterations):
            chosen = batches.choice(len(labels), plan.batch, replace=False, shuffle=False)
            chosen = torch.from_numpy(chosen).to(device)
            at = parameters.detach().requires_grad_()
            tensors = network.tensors(at)
            features = [received(f, noise) for f in split.local(tensors, inputs[chosen])]
            loss = cross_entropy(split.top(tensors, features), labels[chosen])
            (gradient,) = torch.autograd.grad(loss, at)
            parameters = parameters - plan.learning_rate * gradient
        return parameters[None]

    def evaluate(parameters):
        return accuracy(network, parameters, test_inputs, test_labels)

    return in_rounds(
        network,
        advance,
        evaluate,
        plan.rounds,
        [seeds],
        device,
        checkpoint=checkpoint,
        label=label,
    )
