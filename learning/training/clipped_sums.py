"""Sums of clipped gradients, in one forward and one backward pass.

The network runs once, and its calls with parameters are recorded (recorded_calls.py). The norms of
the per-example gradients, and their weighted sum, follow from what each call keeps; no example's
gradient with respect to all parameters is formed.
"""

from __future__ import annotations

from functools import reduce

import torch
from torch import Tensor
from torch.nn import functional

from learning.networks.network import Network
from learning.training.clipping import Clipping
from learning.training.recorded_calls import (
    Call,
    Convolution,
    Embedding,
    GroupNorm,
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
}
_ALLOWED = ", ".join([*(function.__name__ for function in _CALLS), "torch.lstm"])
# Attributes and methods of a parameter that do not depend on its values.
_QUESTIONS = {
    *(getattr(Tensor, name).__get__ for name in ("shape", "dtype", "device", "ndim")),
    *(Tensor.size, Tensor.dim, Tensor.__len__),
}


class NoPerExampleGradients(NotImplementedError):
    """The network does something whose per-example gradients this module cannot compute."""


def clipped_sum(
    network: Network, parameters, inputs, labels, clipping: Clipping | None, *, batch, chunk
) -> Tensor:
    """Return the sum (M,) of the clipped gradients, clipped again, which answers `Clipping.query`.

    The network must treat every example (a row of its inputs) separately. It must use every
    parameter once, in linear, conv2d (without dilation and groups), embedding, group_norm or
    torch.lstm (of one layer in one direction).

    Args:
        inputs, labels: (n, ...) and (n,); n = 0 gives zeros.
        clipping: None for the plain gradient of the summed loss, which any network has.
        batch: Expected number of examples.
        chunk: Number of examples processed at once. Memory holds their intermediate results, and
            their per-example gradients of one layer if its weight is small.

    Raises:
        NoPerExampleGradients: The network breaks one of these rules.
    """
    found, tensors = [], network.tensors(parameters.detach())
    for x, y in zip(inputs.split(chunk), labels.split(chunk), strict=True):
        if len(y):
            x = network.shortened(x)
            if clipping is None:
                parts = _plain_sums(network, tensors, x, y)
            else:
                parts = _clipped_sums(network, tensors, x, y, clipping)
            found.append(torch.cat([part.flatten() for part in parts]))
    total = reduce(torch.Tensor.add_, found) if found else torch.zeros_like(parameters)
    return total if clipping is None else clipping.clip_sum(total, batch)


def require_alone(network: Network, parameters, inputs) -> None:
    """Check, on the first of a few inputs (n, ...), that a network treats examples separately.

    Raises:
        NoPerExampleGradients: Its logits depend on the other examples.
    """
    with torch.no_grad():
        together = network.logits(parameters, network.shortened(inputs[:8]))[:1]
        alone = network.logits(parameters, network.shortened(inputs[:1]))
    # Another order of summation changes logits by far less.
    if (together - alone).abs().max() > 1e-3 * together.abs().max():
        raise NoPerExampleGradients(
            "the logits of an example depend on the other examples of its batch, so that there "
            "are no per-example gradients; normalise with group_norm"
        )


def _plain_sums(network: Network, tensors, inputs, labels) -> tuple[Tensor, ...]:
    parameters = [each.requires_grad_() for each in _present(tensors)]
    return torch.autograd.grad(_loss(network.apply(tensors, inputs), labels), parameters)


def _clipped_sums(network: Network, tensors, inputs, labels, clipping: Clipping) -> list[Tensor]:
    record = _Record(len(labels))
    recorded = [[_Recorded.of(each, record) for each in pair] for pair in tensors]
    loss = _loss(network.apply(recorded, inputs), labels)
    parameters = _present(tensors)
    record.require_each_once(parameters)
    watched = [each for call in record.calls for each in call.watched]
    gradients = iter(torch.autograd.grad(loss, watched))
    squares = [call.squares(*(next(gradients) for _ in call.watched)) for call in record.calls]
    factors = clipping.factors(reduce(Tensor.add_, squares))
    sums = {}
    for call in record.calls:
        sums |= zip(map(id, call.parameters), call.sums(factors), strict=True)
    return [sums[id(parameter)] for parameter in parameters]


def _present(tensors) -> list[Tensor]:
    return [each for pair in tensors for each in pair if each is not None]


def _loss(logits, labels) -> Tensor:
    return functional.cross_entropy(logits, labels, reduction="sum")


class _Recorded(Tensor):
    """A parameter that the network receives; torch calls `__torch_function__` for every use of it.

    Attributes:
        plain: The parameter.
        record: Where calls with it are kept.
    """

    @classmethod
    def of(cls, parameter: Tensor | None, record: _Record) -> _Recorded | None:
        """Wrap a parameter; None stays None."""
        if parameter is None:
            return None
        recorded = parameter.as_subclass(cls)
        recorded.plain, recorded.record = parameter, record
        return recorded

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        used: list[_Recorded] = []
        args = _plain(args, used)
        if func in _QUESTIONS:
            return func(*args)
        kwargs = {name: _plain(value, used) for name, value in (kwargs or {}).items()}
        return used[0].record.called(func, args, kwargs, [each.plain for each in used])


class _Record:
    """The calls with parameters in one run of a network.

    Args:
        examples: Number of rows of its inputs.
    """

    def __init__(self, examples: int) -> None:
        self.examples = examples
        self.calls: list[Call] = []
        self.versions: list[tuple[Tensor, int]] = []

    def called(self, func, args, kwargs, used: list[Tensor]):
        """Call the function, record the call and return its result.

        Raises:
            NoPerExampleGradients: The function or its arguments are not supported, weight and bias
                are not both parameters, or the rows are not the examples.
        """
        try:
            call = _call_of(func, args, kwargs, {id(each) for each in used})
        except TypeError as error:
            raise _refusal(func, used, error) from error
        if sorted(map(id, call.parameters)) != sorted(map(id, used)):
            raise _refusal(func, used, "weight and bias must both be parameters")
        result = call.result
        if not args[0].shape[0] == result.shape[0] == self.examples:
            raise _refusal(func, used, "the rows of its input must be the examples")
        self.calls.append(call)
        self.versions += ((each, each._version) for each in (args[0], result))
        return (result, None, None) if func is torch.lstm else result

    def require_each_once(self, parameters: list[Tensor]) -> None:
        """Check the requirements on all calls together.

        Raises:
            NoPerExampleGradients: A parameter is not used exactly once, or an in-place operation
                has overwritten the inputs or the result of a call.
        """
        used = [id(parameter) for call in self.calls for parameter in call.parameters]
        for number, parameter in enumerate(parameters):
            if (times := used.count(id(parameter))) != 1:
                raise NoPerExampleGradients(
                    f"every parameter must be used once; tensor {number} of shape "
                    f"{tuple(parameter.shape)} is used {times} times"
                )
        if any(tensor._version != version for tensor, version in self.versions):
            raise NoPerExampleGradients(
                "the network overwrites inputs or results of its layers; use operations that are "
                "not in place"
            )


def _call_of(func, args, kwargs, parameters: set[int]) -> Call:
    """Call a function and return the record of the call."""
    if func is torch.lstm:
        return lstm(lambda tensor: id(tensor) in parameters, *args, **kwargs)
    if func not in _CALLS:
        raise TypeError(f"use one of {_ALLOWED}")
    return _CALLS[func](*args, **kwargs)


def _refusal(func, used: list[Tensor], reason) -> NoPerExampleGradients:
    shapes = " and ".join(str(tuple(each.shape)) for each in used)
    name = getattr(func, "__name__", func)
    return NoPerExampleGradients(
        f"no per-example gradients for parameters {shapes} in {name}: {reason}"
    )


def _plain(value, used: list[_Recorded]):
    """Replace recorded parameters in a value, list or tuple by plain ones; add them to `used`."""
    if isinstance(value, _Recorded):
        used.append(value)
        return value.plain
    if isinstance(value, (list, tuple)):
        return type(value)([_plain(each, used) for each in value])
    return value
