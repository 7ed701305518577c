"""Ghost clipping: sums of clipped gradients without per-example gradients, in one backward pass.

It needs networks whose parameters all belong to affine maps. Every affine map y = W x + b is
recorded as it is called. One backward pass gives dL/dy of every example, and the gradient of the
example is the product of dL/dy and x (Goodfellow 2015). Norms and the clipped sum follow from these
two; where x is a single vector no per-example gradient is formed.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch.nn.functional import conv2d, cross_entropy, linear, unfold
from torch.overrides import TorchFunctionMode

from learning.networks.network import Network


class _Map(NamedTuple):
    """One call: inputs (n, columns, i), and outputs with gradients of shape (n, columns, o)."""

    layer: int
    inputs: torch.Tensor
    outputs: torch.Tensor
    convolution: bool

    def gradients(self, outward: torch.Tensor) -> torch.Tensor:
        """dL/dy as (n, columns, o)."""
        if self.convolution:
            return outward.flatten(2).transpose(1, 2)
        return outward.reshape(len(outward), -1, outward.shape[-1])


class _Watch(TorchFunctionMode):
    """Records every affine map of the network's layers, and whether they are used otherwise."""

    def __init__(self, layers: list[tuple]) -> None:
        super().__init__()
        self.layers = layers
        self.known = {id(tensor) for pair in layers for tensor in pair if tensor is not None}
        self.maps: list[_Map] = []
        self.others = False

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        outputs = func(*args, **kwargs)
        if not any(id(value) in self.known for value in (*args, *kwargs.values())):
            return outputs
        layer = self._layer(args) if func in (linear, conv2d) else None
        if layer is None or not kwargs.keys() <= {"stride", "padding"}:
            self.others = True
            return outputs
        if not outputs.requires_grad:
            outputs.requires_grad_()
        inputs = args[0].detach()
        if func is conv2d:
            columns = unfold(inputs, args[1].shape[2:], **kwargs).transpose(1, 2)
        else:
            columns = inputs.reshape(len(inputs), -1, inputs.shape[-1])
        self.maps.append(_Map(layer, columns, outputs, func is conv2d))
        return outputs

    def _layer(self, args) -> int | None:
        """Index of the layer with this weight and bias, or None."""
        given = (*args[1:], None)[:2]
        matches = (all(a is b for a, b in zip(given, pair, strict=True)) for pair in self.layers)
        return next((k for k, match in enumerate(matches) if match), None)


def l2_clipped_sum(network: Network, parameters, inputs, labels, bound: float):
    """The sum (M,) of per-example gradients, each scaled down to an l2 norm of at most `bound`.

    None unless the network uses every layer exactly once, as the weight and bias of a linear map or
    a convolution.
    """
    watch = _Watch(network.tensors(parameters.detach()))
    with watch:
        logits = network.apply(watch.layers, inputs)
    maps = sorted(watch.maps, key=lambda each: each.layer)
    if watch.others or [each.layer for each in maps] != list(range(len(watch.layers))):
        return None
    loss = cross_entropy(logits, labels, reduction="sum")
    outward = torch.autograd.grad(loss, [each.outputs for each in maps])
    pairs = [(each.inputs, each.gradients(g)) for each, g in zip(maps, outward, strict=True)]
    squares = sum(
        _square_norms(x, g) + (0 if bias is None else g.sum(dim=1).square().sum(dim=1))
        for (x, g), (_, bias) in zip(pairs, watch.layers, strict=True)
    )
    factors = (bound / squares.sqrt()).clamp(max=1.0)
    parts = []
    for (x, g), (_, bias) in zip(pairs, watch.layers, strict=True):
        g = g * factors[:, None, None]
        parts.append((g.flatten(0, 1).T @ x.flatten(0, 1)).flatten())
        if bias is not None:
            parts.append(g.sum(dim=(0, 1)))
    return torch.cat(parts)


def _square_norms(x, g) -> torch.Tensor:
    """||sum_c g_c x_c^T||_F^2 of every example; x (n, c, i), g (n, c, o)."""
    columns, size = x.shape[1], x.shape[2] * g.shape[2]
    if columns == 1:
        return x.square().sum(dim=(1, 2)) * g.square().sum(dim=(1, 2))
    if columns**2 * (x.shape[2] + g.shape[2]) < columns * size:
        products = (x @ x.transpose(1, 2)) * (g @ g.transpose(1, 2))
        return products.sum(dim=(1, 2))
    return (g.transpose(1, 2) @ x).square().sum(dim=(1, 2))
