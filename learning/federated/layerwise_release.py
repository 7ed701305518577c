"""An upload of a whole network, released layer by layer through one mechanism each.

A layer's weight and bias are one matrix, the bias as one more input: one release per layer instead
of two. It stands taller than wide, as three of mgm2021's four gradient shapes do (105 x 12,
4608 x 512, 20,002 x 128; LeNet's 120 x 400 is the exception): only UDN and MGM see a difference,
and at square roots. With a bias the taller axis is that of the inputs, 106 x 12 for Adult.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from learning.networks.network import Layer, Network
from mechanisms import Mechanism, Query
from papers.box_query import box_query


def matrix_shape(layer: Layer) -> tuple[int, int]:
    """Rows and columns of a layer's matrix, rows >= columns."""
    outputs = layer.weight[0]
    sides = outputs, layer.size // outputs
    return max(sides), min(sides)


def layer_queries(network: Network, bound: float) -> list[Query]:
    """One query for every layer of an upload that was clipped to [-bound, bound]."""
    return [
        box_query(matrix_shape(layer), -bound, bound, adjacency="replace")
        for layer in network.layers
    ]


def matrices(network: Network, vector: np.ndarray) -> list[np.ndarray]:
    """The layers' matrices of a vector (M,)."""
    ends = np.cumsum([layer.size for layer in network.layers])
    found = []
    for layer, part in zip(network.layers, np.split(vector, ends[:-1]), strict=True):
        outputs, count = layer.weight[0], math.prod(layer.weight)
        rows = [part[:count].reshape(outputs, -1)]
        if layer.bias:
            rows.append(part[count:, None])
        matrix = np.concatenate(rows, axis=1)
        found.append(matrix if _stands(layer) else matrix.T)
    return found


def _stands(layer: Layer) -> bool:
    """Whether outputs are the rows of the layer's matrix."""
    return matrix_shape(layer)[0] == layer.weight[0]


def vector(network: Network, found: Sequence[np.ndarray]) -> np.ndarray:
    """The inverse of `matrices`."""
    parts = []
    for layer, matrix in zip(network.layers, found, strict=True):
        outputs = layer.weight[0]
        rows = matrix if _stands(layer) else matrix.T
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
    """An upload (M,) with every layer released through its mechanism."""
    pairs = zip(mechanisms, matrices(network, upload), strict=True)
    return vector(network, [mechanism.release(matrix, rng) for mechanism, matrix in pairs])
