"""Ordinary classifiers of images, trained on what was released and tested on clean images.

Both see images over the root mean square of those they are trained on, which the noise dominates:
no preprocessing of the pixels, only a unit in which optimisers work. Test images get the same unit.
"""

from __future__ import annotations

import numpy as np

from experiments.learning.data import Split
from experiments.learning.networks.network import Network
from experiments.learning.training import Training, predicted, trained

# lambda in mean log-loss + lambda / 2 ||w||^2: of 0.1, 0.01 and 0.001 the best on noisy digits.
_PENALTY = 1e-3


def in_units(data: Split) -> Split:
    """All images over the root mean square of the training images."""
    scale = np.float32(np.sqrt(np.mean(np.square(data.train_inputs), dtype=np.float64)))
    return Split(
        train_inputs=data.train_inputs / scale,
        train_labels=data.train_labels,
        test_inputs=data.test_inputs / scale,
        test_labels=data.test_labels,
    )


def logistic(data: Split) -> np.ndarray:
    """Test labels (n,) by multinomial logistic regression on the pixels; deterministic."""
    from sklearn.linear_model import LogisticRegression

    train, test = (
        images.reshape(len(images), -1) for images in (data.train_inputs, data.test_inputs)
    )
    strength = 1 / (_PENALTY * len(train))
    model = LogisticRegression(C=strength, tol=1e-3, max_iter=300)
    return model.fit(train, data.train_labels).predict(test)


def network(data: Split, network: Network, training: Training, seed: int) -> np.ndarray:
    """Test labels (n,) by a network; start and batches follow from the seed, on one thread."""
    rng = np.random.default_rng(seed)
    start = network.initial(rng)
    parameters = trained(network, start, data.train_inputs, data.train_labels, training, rng)
    return predicted(network, parameters, data.test_inputs)


def weighted_f1(labels: np.ndarray, predicted: np.ndarray) -> float:
    """F1 of every class, weighted by its share of the labels (tldp2025, eqs. 13 to 16).

    labels, predicted: (n,) integers >= 0. A class that is never right has F1 = 0.
    """
    size = int(max(labels.max(), predicted.max())) + 1
    right = np.bincount(labels[labels == predicted], minlength=size)
    true, told = np.bincount(labels, minlength=size), np.bincount(predicted, minlength=size)
    # 2 P R / (P + R) with P = right / told and R = right / true.
    f1 = 2 * right / np.maximum(true + told, 1)
    return float(f1 @ true / len(labels))
