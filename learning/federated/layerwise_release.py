"""An upload of a whole network, released layer by layer, each through its own mechanism.

A layer's weight and bias form one matrix, the bias as one more input: one release per layer instead
of two. The matrix is taller than wide, like three of mgm2021's four gradient shapes (105 x 12,
4608 x 512, 20,002 x 128; LeNet's 120 x 400 is the exception). Only UDN depends on the
orientation, through a square root. The bias lengthens the axis of the inputs: 106 x 12 for Adult.
"""

import math
from collections.abc import Sequence

import numpy as np

from learning.networks.network import Layer, Network
from mechanisms import Mechanism, Query
from mechanisms.query.box_query import box_query


def layer_shape(layer: Layer) -> tuple[int, int]:
    """Rows and columns of a layer's matrix, rows >= columns."""
    outputs = layer.weight[0]
    sides = outputs, layer.size // outputs
    return max(sides), min(sides)


def layer_queries(network: Network, bound: float) -> list[Query]:
    """One query per layer of an upload that is clipped to [-bound, bound], bound > 0."""
    return [
        box_query(layer_shape(layer), -bound, bound, adjacency="replace")
        for layer in network.layers
    ]


def matrices(network: Network, vector: np.ndarray) -> list[np.ndarray]:
    """The matrices of the layers, from a vector (M,)."""
    ends = np.cumsum([layer.size for layer in network.layers])
    found = []
    for layer, part in zip(network.layers, np.split(vector, ends[:-1]), strict=True):
        outputs, count = layer.weight[0], math.prod(layer.weight)
        rows = [part[:count].reshape(outputs, -1)]
        if layer.bias:
            rows.append(part[count:, None])
        matrix = np.concatenate(rows, axis=1)
        found.append(matrix if _outputs_are_rows(layer) else matrix.T)
    return found


def _outputs_are_rows(layer: Layer) -> bool:
    """Whether outputs are the rows of the layer's matrix."""
    return layer_shape(layer)[0] == layer.weight[0]


def vector(network: Network, found: Sequence[np.ndarray]) -> np.ndarray:
    """The inverse of `matrices`."""
    parts = []
    for layer, matrix in zip(network.layers, found, strict=True):
        outputs = layer.weight[0]
        rows = matrix if _outputs_are_rows(layer) else matrix.T
        inputs = math.prod(layer.weight) // outputs
        parts.append(rows[:, :inputs].ravel())
        if layer.bias:
            parts.append(rows[:, inputs])
    return np.concatenate(parts)


def release(
    network: Network,
    mechanisms: Sequence[Mechanism],
    upload: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """An upload (M,) with every layer released through its mechanism, one per layer."""
    pairs = zip(mechanisms, matrices(network, upload), strict=True)
    return vector(network, [mechanism.release(matrix, rng) for mechanism, matrix in pairs])
