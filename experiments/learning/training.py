"""Ordinary training: Adam on the cross-entropy of shuffled batches; and predictions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.learning.networks.network import Network

_PREDICTED_AT_ONCE = 1000


@dataclass(frozen=True, kw_only=True)
class Training:
    """Adam on the cross-entropy of shuffled batches, as tldp2025 Section 5.1.1 has it.

    Args:
        epochs: Passes over all records.
        batch: Records per step.
        learning_rate: Of Adam, whose other parameters are torch's defaults.
    """

    epochs: int = 10
    batch: int = 64
    learning_rate: float = 0.001


def trained(
    network: Network,
    start: np.ndarray,
    inputs: np.ndarray,
    labels: np.ndarray,
    training: Training,
    rng: np.random.Generator,
) -> np.ndarray:
    """Parameters (M,) float32 after training from `start`; batches come from `rng`."""
    import torch
    from torch.nn.functional import cross_entropy

    prepare()
    parameters = torch.from_numpy(start.copy()).requires_grad_()
    optimiser = torch.optim.Adam([parameters], lr=training.learning_rate)
    inputs, labels = torch.from_numpy(inputs), torch.from_numpy(labels)
    for _ in range(training.epochs):
        for chosen in torch.from_numpy(rng.permutation(len(labels))).split(training.batch):
            loss = cross_entropy(network.logits(parameters, inputs[chosen]), labels[chosen])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return parameters.detach().numpy()


def predicted(network: Network, parameters: np.ndarray, inputs: np.ndarray) -> np.ndarray:
    """Labels (n,) of the largest logits."""
    import torch

    prepare()
    at = torch.from_numpy(parameters)
    with torch.no_grad():
        parts = torch.from_numpy(inputs).split(_PREDICTED_AT_ONCE)
        logits = torch.cat([network.logits(at, part) for part in parts])
    return logits.argmax(dim=1).numpy()


def prepare() -> None:
    """One thread, and only operations that always give the same bytes."""
    import torch

    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
