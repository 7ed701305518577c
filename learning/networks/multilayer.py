"""Fully connected networks, that of tldp2025 for DarkNet among them.

The paper's has hidden layers of 256, 256, 256 and 128; its dropout of 0.3 is left out: a network
here is a function of parameters and inputs alone.
"""

from __future__ import annotations

from itertools import pairwise

from learning.networks.network import Network, layers


def multilayer(*widths: int) -> Network:
    """Affine maps from inputs to classes by way of hidden layers, with rectifiers between them."""
    shapes = [(outputs, inputs) for inputs, outputs in pairwise(widths)]
    return Network(layers=layers(*shapes), apply=_apply)


def _apply(parameters, records):
    from torch.nn.functional import linear, relu

    *hidden, last = parameters
    x = records.flatten(1)
    for pair in hidden:
        x = relu(linear(x, *pair))
    return linear(x, *last)
