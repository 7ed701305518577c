"""Sums of clipped gradients, in one forward and one backward pass.

The network runs once, and its calls with parameters are recorded (recorded_calls.py). The norms of
single gradients, and their weighted sum, follow from what each call keeps; no gradient of all
parameters is formed for a single example.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from learning.networks.network import Network
from learning.training.clipping import Clipping
from learning.training.recorded_calls import (
    Call,
    Convolution,
    Embedding,
    GroupNorm,
    LayerNorm,
    Linear,
    LinearAtPlaces,
)
from learning.training.recorded_lstm import lstm

_CALLS = {
    functional.linear: lambda x, *pair, **named: (Linear if x.dim() == 2 else LinearAtPlaces)(
        x, *pair, **named
    ),
    functional.conv2d: Convolution,
    functional.embedding: Embedding,
    functional.group_norm: GroupNorm,
    functional.layer_norm: LayerNorm,
}
_ALLOWED = ", ".join([*(function.__name__ for function in _CALLS), "torch.lstm"])
# They mix examples, with parameters or without.
_MIXING = (functional.batch_norm, torch.batch_norm)
# Questions to a parameter whose answers do not depend on its values.
_QUESTIONS = (
    *(getattr(Tensor, name).__get__ for name in ("shape", "dtype", "device", "ndim")),
    *(Tensor.size, Tensor.dim, Tensor.__len__),
)


class NoSingleGradients(NotImplementedError):
    """The gradients of single examples are not known for what a network does."""


def clipped_sum(
    network: Network, parameters, inputs, labels, clipping: Clipping | None, *, batch, chunk
) -> Tensor:
    """The sum (M,) of the clipped gradients, clipped once more: the answer to `Clipping.query`.

    The network must treat every example, a row of its inputs, alone, and use every parameter once:
    in linear, conv2d, embedding, group_norm, layer_norm or torch.lstm.

    Args:
        inputs, labels: (n, ...) and (n,); n = 0 gives zeros.
        clipping: None for the plain gradient of the summed loss, of any network.
        batch: Expected number of examples.
        chunk: Number of examples whose intermediate results are in memory at once, with their
            gradients by single layers whose weights are small.

    Raises:
        NoSingleGradients: The network does otherwise.
    """
    found = []
    for x, y in zip(inputs.split(chunk), labels.split(chunk), strict=True):
        if len(y):
            tensors, x = network.tensors(parameters.detach()), network.shortened(x)
            if clipping is None:
                parts = _plain_sums(network, tensors, x, y)
            else:
                parts = _clipped_sums(network, tensors, x, y, clipping)
            found.append(torch.cat([part.flatten() for part in parts]))
    total = reduce(torch.Tensor.add_, found) if found else torch.zeros_like(parameters)
    return total if clipping is None else clipping.clip_sum(total, batch)


def _plain_sums(network: Network, tensors, inputs, labels) -> tuple[Tensor, ...]:
    parameters = [each.requires_grad_() for each in _present(tensors)]
    return torch.autograd.grad(_loss(network.apply(tensors, inputs), labels), parameters)


def _clipped_sums(network: Network, tensors, inputs, labels, clipping: Clipping) -> list[Tensor]:
    recorder = _Recorder(_present(tensors), len(labels))
    with recorder:
        logits = network.apply(tensors, inputs)
    calls = recorder.finished()
    watched = [each for call in calls for each in call.watched]
    gradients = iter(torch.autograd.grad(_loss(logits, labels), watched, materialize_grads=True))
    squares = [call.squares(*(next(gradients) for _ in call.watched)) for call in calls]
    factors = clipping.factors(sum(squares).sqrt_())
    return recorder.in_order(call.sums(factors) for call in calls)


def _present(tensors) -> list[Tensor]:
    return [each for pair in tensors for each in pair if each is not None]


def _loss(logits, labels) -> Tensor:
    return functional.cross_entropy(logits, labels, reduction="sum")


class _Recorder(TorchFunctionMode):
    """Records the calls with parameters, and refuses those that it does not know.

    Args:
        parameters: All parameters of the network.
        examples: Number of rows of its inputs.
    """

    def __init__(self, parameters: list[Tensor], examples: int) -> None:
        super().__init__()
        self.parameters, self.examples = parameters, examples
        self.known = {id(parameter) for parameter in parameters}
        self.calls: list[Call] = []
        self.versions: list[tuple[Tensor, int]] = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in _MIXING:
            raise NoSingleGradients(
                f"{func.__name__} mixes the examples of a batch, so that no example has a gradient "
                "of its own; use group_norm or layer_norm"
            )
        given = list(_tensors((*args, *kwargs.values())))
        used = [each for each in given if id(each) in self.known]
        if not used or func in _QUESTIONS:
            return func(*args, **kwargs)
        try:
            result, calls = self._called(func, args, kwargs)
        except TypeError as error:
            raise self._refusal(func, used, error) from error
        recorded = [id(parameter) for call in calls for parameter in call.parameters]
        if sorted(recorded) != sorted(id(each) for each in used):
            raise self._refusal(func, used, "weight and bias must both be parameters")
        if len(result) != self.examples or len(args[0]) != self.examples:
            raise self._refusal(func, used, "the rows of its input must be the examples")
        self.calls += calls
        self.versions += [(each, each._version) for each in (*given, result)]
        return (result, None, None) if func is torch.lstm else result

    def _called(self, func, args, kwargs) -> tuple[Tensor, list[Call]]:
        if func is torch.lstm:
            return lstm(lambda tensor: id(tensor) in self.known, *args, **kwargs)
        if func not in _CALLS:
            raise TypeError(f"use one of {_ALLOWED}")
        call = _CALLS[func](*args, **kwargs)
        return call.result, [call]

    def _refusal(self, func, used: list[Tensor], reason) -> NoSingleGradients:
        shapes = " and ".join(str(tuple(each.shape)) for each in used)
        name = getattr(func, "__name__", func)
        return NoSingleGradients(
            f"no gradients of single examples by parameters {shapes} in {name}: {reason}"
        )

    def finished(self) -> list[Call]:
        """All calls, when the network has run.

        Raises:
            NoSingleGradients: A parameter is not used exactly once, or an operation in place has
                overwritten what a call was given or has returned.
        """
        recorded = [id(parameter) for call in self.calls for parameter in call.parameters]
        for number, parameter in enumerate(self.parameters):
            if (times := recorded.count(id(parameter))) != 1:
                raise NoSingleGradients(
                    f"every parameter must be used once; tensor {number} of shape "
                    f"{tuple(parameter.shape)} is used {times} times"
                )
        if any(tensor._version != version for tensor, version in self.versions):
            raise NoSingleGradients(
                "the network overwrites inputs or results of its layers; use operations that are "
                "not in place"
            )
        return self.calls

    def in_order(self, sums: Iterable[list[Tensor]]) -> list[Tensor]:
        """The sums of all calls, in the order of the parameters."""
        found = {
            id(parameter): total
            for call, totals in zip(self.calls, sums, strict=True)
            for parameter, total in zip(call.parameters, totals, strict=True)
        }
        return [found[id(parameter)] for parameter in self.parameters]


def _tensors(values) -> Iterator[Tensor]:
    """The tensors among values, and in lists and tuples of them."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)
