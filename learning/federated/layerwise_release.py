"""Release of an upload of a whole network, in which every layer has its own mechanism.

A layer's weight and bias form one matrix, in which the bias is one more input, so that a layer
needs one release. The matrix is taller than wide, like three of mgm2021's four gradient shapes
(105 x 12, 4608 x 512, 20,002 x 128; LeNet's 120 x 400 is the exception). Only UDN depends on the
orientation, through a square root. The bias lengthens the axis of the inputs: 106 x 12 for Adult.
"""

import math
from collections.abc import Sequence

import numpy as np

from learning.networks.network import Layer, Network
from mechanisms import Mechanism, Query
from mechanisms.query.box_query import box_query


def layer_shape(layer: Layer) -> tuple[int, int]:
    """Return the numbers of rows and columns of a layer's matrix, rows >= columns."""
    outputs = layer.weight[0]
    sides = outputs, layer.size // outputs
    return max(sides), min(sides)


def layer_queries(network: Network, bound: float) -> list[Query]:
    """Return one query per layer of an upload that is clipped to [-bound, bound], bound > 0."""
    return [
        box_query(layer_shape(layer), -bound, bound, adjacency="replace")
        for layer in network.layers
    ]


def layer_places(network: Network) -> list[np.ndarray]:
    """Return one matrix per layer: the places (0..M-1) of the layer's elements in an upload."""
    found, start = [], 0
    for layer in network.layers:
        outputs, count = layer.weight[0], math.prod(layer.weight)
        places = np.arange(start, start + layer.size)
        # A layer without a bias has no places after its weight, which make no column.
        matrix = np.hstack([part.reshape(outputs, -1) for part in np.split(places, [count])])
        found.append(matrix if outputs == layer_shape(layer)[0] else matrix.T)
        start += layer.size
    return found


def release(
    places: Sequence[np.ndarray],
    mechanisms: Sequence[Mechanism],
    upload: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Release every layer of an upload (M,) through its own mechanism.

    Args:
        places: The result of `layer_places`.
    """
    released = np.empty_like(upload)
    for own, mechanism in zip(places, mechanisms, strict=True):
        released[own] = mechanism.release(upload[own], rng)
    return released
