"""The networks, as pure functions of one flat vector of parameters.

Importing this module does not import torch, so that the number of parameters is known without it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Network:
    """A classifier. Every layer has a weight and a bias, and is an affine map or a convolution.

    Args:
        weights: Shape of each layer's weight, outputs first: (out, in) or (out, in, k, k).
        apply: From a list of (weight, bias) and images (n, channels, height, width), as torch
            tensors, to logits (n, classes).
    """

    weights: tuple[tuple[int, ...], ...]
    apply: Callable

    @property
    def size(self) -> int:
        """M, the number of parameters."""
        return sum(math.prod(shape) + shape[0] for shape in self.weights)

    def initial(self, rng: np.random.Generator) -> np.ndarray:
        """Parameters (M,) float32: weights uniform by Glorot and Bengio 2010, biases zero.

        Those are Keras' defaults, which the papers' tutorials use.
        """
        parts = []
        for shape in self.weights:
            taps = math.prod(shape[2:])
            bound = math.sqrt(6 / ((shape[0] + shape[1]) * taps))
            parts += [rng.uniform(-bound, bound, math.prod(shape)), np.zeros(shape[0])]
        return np.concatenate(parts).astype(np.float32)

    def logits(self, parameters, images):
        """Logits (n, classes) at parameters (M,)."""
        sizes = [size for s in self.weights for size in (math.prod(s), s[0])]
        parts = parameters.split(sizes)
        layers = [
            (weight.view(shape), bias)
            for shape, weight, bias in zip(self.weights, parts[::2], parts[1::2], strict=True)
        ]
        return self.apply(layers, images)


def _multilayer_perceptron(layers, images):
    from torch.nn.functional import linear, relu

    hidden = relu(linear(images.flatten(1), *layers[0]))
    return linear(hidden, *layers[1])


def _mnist_cnn(layers, images):
    from torch.nn.functional import conv2d, linear, max_pool2d, relu

    # "Same" padding at stride 2: 14 outputs per axis, three zeros on either side.
    x = max_pool2d(relu(conv2d(images, *layers[0], stride=2, padding=3)), 2, stride=1)
    x = max_pool2d(relu(conv2d(x, *layers[1], stride=2)), 2, stride=1)
    return linear(relu(linear(x.flatten(1), *layers[2])), *layers[3])


def _cifar10_cnn(layers, images):
    from torch.nn.functional import conv2d, linear, max_pool2d, relu

    x = max_pool2d(relu(conv2d(images, *layers[0])), 2)
    x = max_pool2d(relu(conv2d(x, *layers[1])), 2)
    x = relu(conv2d(x, *layers[2]))
    return linear(relu(linear(x.flatten(1), *layers[3])), *layers[4])


NETWORKS = {
    # 8 x 8 digits: one hidden layer of 32.
    "digits": Network(weights=((32, 64), (10, 32)), apply=_multilayer_perceptron),
    # 28 x 28: the tutorial of TensorFlow Privacy that r1smg2024 cites as [36].
    "mnist": Network(
        weights=((16, 1, 8, 8), (32, 16, 4, 4), (32, 512), (10, 32)), apply=_mnist_cnn
    ),
    # 3 x 32 x 32: the CNN tutorial of TensorFlow that r1smg2024 cites as [44].
    "cifar10": Network(
        weights=((32, 3, 3, 3), (64, 32, 3, 3), (64, 64, 3, 3), (64, 1024), (10, 64)),
        apply=_cifar10_cnn,
    ),
}
