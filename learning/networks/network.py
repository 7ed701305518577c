"""The contract of a network: the shapes of its layers, and a function from these to logits."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Layer:
    """A weight and, unless `bias` is False, a bias with an entry per row of the weight.

    Weights start as Glorot and Bengio 2010 say, uniform: the default of Keras and of the tutorials
    that the papers use. Biases start at zero.

    Args:
        weight: Its shape, outputs first: (out, in) or (out, in, k, k); an embedding is
            (words, dimensions).
        bias: Whether the layer has one.
        scales: Whether the layer scales and shifts after a normalisation: the weight is
            (channels, 1), it starts at zero, and the scales are 1 + weight.
    """

    weight: tuple[int, ...]
    bias: bool = True
    scales: bool = False

    @property
    def size(self) -> int:
        """Number of parameters."""
        return math.prod(self.weight) + self.bias * self.weight[0]

    def initial(self, rng: np.random.Generator) -> np.ndarray:
        """Random initial parameters (size,): the weight, row by row, and then the bias."""
        count, taps = math.prod(self.weight), math.prod(self.weight[2:])
        bias = np.zeros(self.bias * self.weight[0])
        if self.scales:
            return np.concatenate([np.zeros(count), bias])
        bound = math.sqrt(6 / ((self.weight[0] + self.weight[1]) * taps))
        return np.concatenate([rng.uniform(-bound, bound, count), bias])


@dataclass(frozen=True, kw_only=True)
class Network:
    """A classifier.

    Args:
        layers: The layers in the order of the flat vector of parameters.
        apply: From a list of (weight, bias) and inputs (n, ...), as torch tensors, to logits
            (n, classes). The bias of a layer without one is None; the weight of a normalisation is
            its scales (channels,).
        shortened: From a batch of inputs to the same batch without padding that no input needs.
        stacks: Whether copies of this network train faster together, by torch.func.vmap, than one
            by one. Fully connected networks do.
    """

    layers: tuple[Layer, ...]
    apply: Callable
    shortened: Callable = lambda inputs: inputs
    stacks: bool = False

    @property
    def size(self) -> int:
        """M, the number of parameters."""
        return sum(layer.size for layer in self.layers)

    def initial(self, rng: np.random.Generator) -> np.ndarray:
        """Random initial parameters (M,) float32."""
        return np.concatenate([layer.initial(rng) for layer in self.layers]).astype(np.float32)

    def logits(self, parameters, inputs):
        """Logits (n, classes) at parameters (M,)."""
        return self.apply(self.tensors(parameters), inputs)

    def tensors(self, parameters) -> list[tuple]:
        """The argument of `apply`, from parameters (M,): the (weight, bias) of every layer.

        From parameters (R, M) of R copies: stacked weights and biases, (R, ...) each.
        """
        parts = parameters.split([layer.size for layer in self.layers], dim=-1)
        pairs = []
        for layer, part in zip(self.layers, parts, strict=True):
            count = math.prod(layer.weight)
            weight, bias = part[..., :count], part[..., count:]
            weight = 1 + weight if layer.scales else weight.unflatten(-1, layer.weight)
            pairs.append((weight, bias if layer.bias else None))
        return pairs


def layers(*weights: tuple[int, ...]) -> tuple[Layer, ...]:
    """Layers with biases and weights of these shapes."""
    return tuple(Layer(weight=weight) for weight in weights)


def normalised_convolution(inputs: int, outputs: int, side: int) -> tuple[Layer, Layer]:
    """A convolution, and its normalisation, which would undo a bias of the convolution."""
    weight = (outputs, inputs, side, side)
    return Layer(weight=weight, bias=False), Layer(weight=(outputs, 1), scales=True)
