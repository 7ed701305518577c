"""Sums of clipped per-example gradients."""

from __future__ import annotations

import torch
from torch.func import grad, vmap
from torch.nn.functional import cross_entropy

from learning.networks.network import Network
from learning.training.clipping import Clipping
from learning.training.ghost_clipping import l2_clipped_sum


def per_example_gradients(network: Network, parameters, images, labels) -> torch.Tensor:
    """Gradients (n, M) of the cross-entropy of every example, at parameters (M,)."""

    def loss(at, image, label):
        return cross_entropy(network.logits(at, image[None]), label[None])

    return vmap(grad(loss), in_dims=(None, 0, 0))(parameters, images, labels)


def clipped_sum(
    network: Network, parameters, images, labels, clipping: Clipping | None, *, batch, chunk
) -> torch.Tensor:
    """The sum (M,) of the clipped gradients, clipped once more: the answer to `Clipping.query`.

    Args:
        images, labels: (n, channels, height, width) and (n,); n = 0 gives zeros.
        clipping: None for the plain gradient of the summed loss.
        batch: Expected number of examples.
        chunk: Number of examples whose gradients are in memory at once.
    """
    total = torch.zeros_like(parameters)
    for x, y in zip(images.split(chunk), labels.split(chunk), strict=True):
        if len(y) == 0:
            continue
        x = network.shortened(x)
        if clipping is None:
            total += grad(
                lambda at, x=x, y=y: cross_entropy(network.logits(at, x), y, reduction="sum")
            )(parameters)
        else:
            total += _clipped(network, parameters, x, y, clipping)
    return total if clipping is None else clipping.clip(total[None], batch)[0]


def _clipped(network: Network, parameters, images, labels, clipping: Clipping) -> torch.Tensor:
    """The sum of clipped gradients, by ghost clipping where the network allows it."""
    found = l2_clipped_sum(network, parameters, images, labels, clipping.bound)
    if found is not None:
        return found
    return clipping.clip(per_example_gradients(network, parameters, images, labels)).sum(dim=0)
