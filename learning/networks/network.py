"""The contract of a network: shapes of layers, and a map of parameters and inputs to logits."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Layer:
    """A weight and, unless `bias` is False, a bias with an entry per row of the weight.

    Initial weights are uniform, as in Glorot and Bengio 2010, which is the default of Keras and of
    the tutorials that the papers use. Biases start at zero.

    Args:
        weight: The shape of the weight, outputs first: (out, in) or (out, in, k, k), or
            (words, dimensions) for an embedding.
        bias: Whether the layer has a bias.
        scales: Whether the layer scales and shifts the result of a normalisation. Its weight
            (channels, 1) then starts at zero, and the scales are 1 + weight.
    """

    weight: tuple[int, ...]
    bias: bool = True
    scales: bool = False

    @property
    def size(self) -> int:
        """Number of parameters."""
        return math.prod(self.weight) + self.bias * self.weight[0]

    def initial(self, rng: np.random.Generator) -> np.ndarray:
        """Draw initial parameters (size,): the weight, row by row, and then the bias."""
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
        apply: Maps a list of (weight, bias) and inputs (n, ...), as torch tensors, to logits
            (n, classes). A missing bias is None; the weight of a normalisation is its scales
            (channels,).
        shortened: Maps a batch of inputs to the same batch without padding that no input needs.
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
        """Draw initial parameters (M,), float32."""
        return np.concatenate([layer.initial(rng) for layer in self.layers]).astype(np.float32)

    def logits(self, parameters, inputs):
        """Return the logits (n, classes) of inputs (n, ...) at parameters (M,)."""
        return self.apply(self.tensors(parameters), inputs)

    def tensors(self, parameters) -> list[tuple]:
        """Split parameters (M,) into the argument of `apply`: the (weight, bias) of every layer.

        Parameters (R, M) of R copies give stacked weights and biases, (R, ...) each.
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
    """Return layers with biases and with weights of these shapes."""
    return tuple(Layer(weight=weight) for weight in weights)


def normalised_convolution(inputs: int, outputs: int, side: int) -> tuple[Layer, Layer]:
    """Return a convolution and its normalisation, which would undo a bias of the convolution."""
    weight = (outputs, inputs, side, side)
    return Layer(weight=weight, bias=False), Layer(weight=(outputs, 1), scales=True)
