"""Classifiers of images, trained on released images and tested on clean ones.

All images are divided by the root mean square of the released training images, most of which is
noise. This treats all pixels alike and only brings them to a scale at which optimisers work.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from learning.networks.network import Network
from learning.records.labelled import Split
from learning.training.device import prepared

# lambda in mean log-loss + lambda / 2 ||w||^2: the best of 0.1, 0.01 and 0.001 on noisy digits.
_PENALTY = 1e-3


@dataclass(frozen=True, kw_only=True)
class Training:
    """How to minimise the cross-entropy on shuffled batches, by default as in tldp2025, 5.1.1.

    Args:
        epochs: Passes over all records.
        batch: Records per step.
        learning_rate: The optimiser's learning rate; its other parameters are torch's defaults.
        optimiser: The class of torch.optim: "Adam", or "SGD" for plain gradient descent.
        device: "cpu", or "auto" for CUDA if available; results on CUDA differ from the CPU's.
    """

    epochs: int = 10
    batch: int = 64
    learning_rate: float = 0.001
    optimiser: Literal["Adam", "SGD"] = "Adam"
    device: str = "cpu"

    def optimiser_of(self, parameters: Iterable):
        """Return a torch.optim.Optimizer of these tensors."""
        import torch

        return getattr(torch.optim, self.optimiser)(parameters, lr=self.learning_rate)


def in_units(data: Split) -> Split:
    """Divide all images by the root mean square of the training images."""
    scale = np.float32(np.sqrt(np.mean(np.square(data.train_inputs), dtype=np.float64)))
    return replace(
        data, train_inputs=data.train_inputs / scale, test_inputs=data.test_inputs / scale
    )


def logistic(data: Split) -> np.ndarray:
    """Predict the test labels (n,) by a multinomial logistic regression, deterministically."""
    from sklearn.linear_model import LogisticRegression

    train, test = (
        images.reshape(len(images), -1) for images in (data.train_inputs, data.test_inputs)
    )
    strength = 1 / (_PENALTY * len(train))
    model = LogisticRegression(C=strength, tol=1e-3, max_iter=300)
    return model.fit(train, data.train_labels).predict(test)


def network(data: Split, network: Network, training: Training, seed: int) -> np.ndarray:
    """Train a network as `fitted` does, and predict the test labels (n,)."""
    return outputs(network, fitted(data, network, training, seed), data.test_inputs).argmax(axis=1)


def fitted(data: Split, network: Network, training: Training, seed: int):
    """Train a network and return its parameters (M,), a tensor.

    The seed determines the initial parameters and the batches. Training uses one thread.
    """
    rng = np.random.default_rng(seed)
    start = network.initial(rng)
    return trained(network, start, data.train_inputs, data.train_labels, training, rng)


def trained(
    network: Network,
    start: np.ndarray,
    inputs: np.ndarray,
    labels: np.ndarray,
    training: Training,
    rng: np.random.Generator,
):
    """Train a network from parameters `start`; return its parameters (M,), a tensor.

    `rng` draws the batches.
    """
    import torch
    from torch.nn.functional import cross_entropy

    device = prepared(training.device)
    parameters = torch.from_numpy(start.copy()).to(device).requires_grad_()
    optimiser = training.optimiser_of([parameters])
    inputs, labels = (torch.from_numpy(array).to(device) for array in (inputs, labels))
    for _ in range(training.epochs):
        for chosen in torch.from_numpy(rng.permutation(len(labels))).split(training.batch):
            batch = network.shortened(inputs[chosen])
            optimiser.zero_grad()
            cross_entropy(network.logits(parameters, batch), labels[chosen]).backward()
            optimiser.step()
    return parameters.detach().cpu()


def outputs(network: Network, parameters, inputs: np.ndarray) -> np.ndarray:
    """Compute the outputs of a network for inputs (n, ...), a thousand at a time.

    Raises:
        ArithmeticError: An output is not finite.
    """
    import torch

    with torch.no_grad():
        parts = torch.from_numpy(inputs).split(1000)
        found = torch.cat([network.logits(parameters, part) for part in parts])
    if not torch.isfinite(found).all():
        raise ArithmeticError("training diverged: the outputs of the network are not finite")
    return found.numpy()


def weighted_f1(labels: np.ndarray, predicted: np.ndarray) -> float:
    """Average the classes' F1 scores, weighted by their shares of `labels` (tldp2025, eqs. 13-16).

    Args:
        labels: (n,) integers >= 0.
        predicted: (n,) integers >= 0. A class that is never predicted correctly has F1 = 0.
    """
    from sklearn.metrics import f1_score

    return float(f1_score(labels, predicted, average="weighted", zero_division=0))
