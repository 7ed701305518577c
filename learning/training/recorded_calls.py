"""Calls that use parameters, and what each reveals about per-example gradients.

The record of a call that maps inputs x to y = W x + b keeps x. One backward pass gives dL/dy for
every example; the example's gradient with respect to W is the product of dL/dy and x (Goodfellow
2015). A sum of clipped gradients needs the norm of every example's gradient, and then a weighted
sum of these gradients. Each call takes the cheaper of two ways at its sizes:

- direct: it forms the gradient of every example, which is cheap if the weight is small;
- ghost: with x_s and g_s = dL/dy_s at places s, the squared norm is the sum of
  (x_s . x_t)(g_s . g_t) over pairs of places (Li et al. 2022, Bu et al. 2022), which is cheap if
  there are few. The weighted sum is a single product for all examples, as in a plain backward pass.

Normalisations have few parameters, so the graph holds a copy of them for every example.
"""

from abc import ABC, abstractmethod

import torch
from torch import Tensor
from torch.nn import functional

# Writing, squaring and adding an element of a per-example gradient takes as long as this many
# multiplications in a matrix product, measured with convolutions on one core.
_PRODUCTS_PER_NUMBER = 20
# oneDNN convolves this many channels at once; with fewer in a group it is slow.
_CHANNELS_AT_ONCE = 16
# Elements of patches in memory at once, by kind of device: on a CPU about as many as the cache of a
# core holds.
_PATCHES_AT_ONCE = {"cpu": 1 << 20, "cuda": 1 << 26}


class Call(ABC):
    """One use of parameters.

    Attributes:
        parameters: The parameters in use, in the order of `sums`.
        result: The tensor that the call returns to the network.
        watched: Tensors of the graph; the loss's gradients with respect to them go to `squares`.
    """

    parameters: list[Tensor]
    result: Tensor
    watched: list[Tensor]

    @abstractmethod
    def squares(self, *gradients: Tensor) -> Tensor:
        """Return the squared l2 norms (n,) of the per-example gradients over all parameters."""

    @abstractmethod
    def sums(self, factors: Tensor) -> list[Tensor]:
        """Return, for each parameter, the sum of factors (n,) times its per-example gradients.

        `squares` must be called first.
        """


class Affine(Call):
    """y = W x + b at every place of every example.

    Args:
        weights: The parts of W that stand side by side, (p, ...) each.
        biases: [b], with b (p,), if b is a parameter beside W; else empty.
        result: The tensor that the call returns to the network.
        watched: The tensor of the graph whose gradient is dL/dy, in a shape that `outward` takes.
    """

    def __init__(self, weights, biases, result, watched) -> None:
        self.weights, self.biases = weights, biases
        self.parameters = [*weights, *biases]
        self.result, self.watched = result, [watched]

    @abstractmethod
    def inputs(self) -> Tensor:
        """Return x as (n, d, places)."""

    @abstractmethod
    def outward(self, gradient: Tensor) -> Tensor:
        """Return dL/dy as (n, p, places), from the gradient with respect to `watched`."""

    def has_cheap_ghost(self) -> bool:
        """Whether norms cost less without per-example gradients."""
        _, outputs, places = self.g.shape
        inputs = sum(weight[0].numel() for weight in self.weights)
        return places**2 * (inputs + outputs) < _PRODUCTS_PER_NUMBER * inputs * outputs

    def per_example_gradients(self) -> Tensor:
        """Return the per-example gradients (n, p, d)."""
        return self.g @ self.inputs().transpose(1, 2)

    def summed_gradient(self, g: Tensor) -> Tensor:
        """Return the gradient (p, d) of all examples together, for dL/dy = g."""
        rows_of_g, rows_of_x = (x.transpose(1, 2).flatten(0, 1) for x in (g, self.inputs()))
        return rows_of_g.T @ rows_of_x

    def squares(self, gradient):
        self.g, self.singles = self.outward(gradient), None
        if self.has_cheap_ghost():
            found = _ghost(self.inputs(), self.g)
        else:
            self.singles = self.per_example_gradients().flatten(1)
            found = _squares(self.singles)
        if self.biases:
            self.shifts = self.g.sum(dim=2)
            found = found + _squares(self.shifts)
        return found

    def sums(self, factors):
        if self.singles is None:
            total = self.summed_gradient(self.g * factors[:, None, None])
        else:
            total = factors @ self.singles
        widths = [weight[0].numel() for weight in self.weights]
        parts = total.view(self.g.shape[1], -1).split(widths, dim=1)
        return [*parts, *(factors @ self.shifts for _ in self.biases)]


class Linear(Call):
    """torch's linear, on inputs (n, d)."""

    def __init__(self, x, weight, bias=None) -> None:
        self.x, self.parameters = x.detach(), [weight] if bias is None else [weight, bias]
        self.result = functional.linear(x, weight, bias).requires_grad_()
        self.watched = [self.result]

    def squares(self, gradient):
        self.g = gradient
        return _squares(self.x).add_(len(self.parameters) - 1).mul_(_squares(gradient))

    def sums(self, factors):
        g = self.g * factors.unsqueeze(1)
        return [g.T @ self.x, g.sum(dim=0)][: len(self.parameters)]


class LinearAtPlaces(Affine):
    """torch's linear, on inputs (n, ..., d)."""

    def __init__(self, x, weight, bias=None) -> None:
        self.x = x.detach()
        y = functional.linear(x, weight, bias)
        super().__init__([weight], [] if bias is None else [bias], y, y.requires_grad_())

    def inputs(self):
        return self.outward(self.x)

    def outward(self, gradient):
        return gradient.reshape(len(gradient), -1, gradient.shape[-1]).transpose(1, 2)


class Convolution(Affine):
    """torch's conv2d; a place is a pixel of y, and its x the patch that the kernel covers."""

    def __init__(self, images, weight, bias=None, stride=1, padding=0):
        pairs = [(s, s) if isinstance(s, int) else s for s in (stride, padding)]
        self.images = images.detach()
        self.stride, self.padding = pairs
        y = functional.conv2d(images, weight, bias, *pairs)
        super().__init__([weight], [] if bias is None else [bias], y, y.requires_grad_())

    def inputs(self):
        return self._patches(self.images)

    def _patches(self, images) -> Tensor:
        """Return the patches (n, d, places), each contiguous in memory.

        A patch has the order (height, width, channels), like images in channels_last.
        """
        (up, left), (down, right) = self.padding, self.stride
        channels, height, width = self.weights[0].shape[1:]
        padded = functional.pad(images, (left, left, up, up)).permute(0, 2, 3, 1)
        # Axis by axis, so that the second copy, which is the larger one, copies longer pieces.
        columns = padded.unfold(2, width, right).permute(0, 2, 1, 4, 3).flatten(3).contiguous()
        row = width * channels
        patches = columns.flatten(2).unfold(2, height * row, down * row).transpose(1, 2)
        return patches.flatten(1, 2).transpose(1, 2)

    def outward(self, gradient):
        self.shape = gradient.shape[1:]
        if gradient.is_contiguous():
            return gradient.flatten(2)
        # This is a view if the channels of a pixel are adjacent in memory.
        return gradient.permute(0, 2, 3, 1).flatten(1, 2).transpose(1, 2)

    def _takes_patches(self) -> bool:
        """Whether per-example gradients are products of patches, not grouped convolutions."""
        few = self.weights[0].shape[1] < _CHANNELS_AT_ONCE
        if few or self.images.is_cuda:
            return True
        return self.images.is_contiguous(memory_format=torch.channels_last)

    def per_example_gradients(self):
        if self._takes_patches():
            return self._from_patches()
        n = len(self.g)
        weight = self.weights[0].new_empty(n * len(self.weights[0]), *self.weights[0].shape[1:])
        # All examples form one image, in which each example is a group of channels.
        images = self.images.reshape(1, -1, *self.images.shape[2:])
        found = self._backward(self.g.reshape(1, -1, *self.shape[1:]), images, weight, n)
        return found.view(n, len(self.weights[0]), -1)

    def _from_patches(self) -> Tensor:
        n, outputs, places = self.g.shape
        inputs = self.weights[0][0].numel()
        found = self.g.new_empty(n, outputs, inputs)
        size = max(_PATCHES_AT_ONCE[self.g.device.type] // (places * inputs), 1)
        parts = (each.split(size) for each in (self.g, self.images, found))
        for g, images, singles in zip(*parts, strict=True):
            torch.bmm(g, self._patches(images).transpose(1, 2), out=singles)
        return found

    def sums(self, factors):
        weight, *bias = super().sums(factors)
        if self.singles is not None and self._takes_patches():
            outputs, channels, height, width = self.weights[0].shape
            weight = weight.view(outputs, height, width, channels).permute(0, 3, 1, 2)
        return [weight, *bias]

    def summed_gradient(self, g):
        gradient = g.reshape(-1, *self.shape)
        return self._backward(gradient, self.images, self.weights[0], 1).flatten(1)

    def _backward(self, gradient, images, weight, times):
        options = (self.stride, self.padding, (1, 1), False, [0, 0], times)
        only_weight = [False, True, False]
        return torch.ops.aten.convolution_backward(
            gradient, images, weight, None, *options, only_weight
        )[1]


class Embedding(Call):
    """torch's embedding, of numbers (n, ...), without its options."""

    def __init__(self, numbers, table, padding_idx=None, max_norm=None, *_, **options) -> None:
        if padding_idx is not None or max_norm is not None or options.get("scale_grad_by_freq"):
            raise TypeError("padding_idx, max_norm and scale_grad_by_freq must not be given")
        self.numbers, self.parameters = numbers.reshape(len(numbers), -1), [table]
        self.result = functional.embedding(numbers, table).requires_grad_()
        self.watched = [self.result]

    def squares(self, gradient):
        """Add up the gradients of an example that looks up a row several times, then square."""
        n, rows = len(self.numbers), len(self.parameters[0])
        keys = self.numbers + rows * torch.arange(n, device=gradient.device)[:, None]
        keys, positions = keys.unique(return_inverse=True)
        self.examples, self.rows = keys // rows, keys % rows
        gradient = gradient.reshape(*positions.shape, -1)
        self.singles = _scattered(gradient, positions, len(keys))
        norms = self.singles.square().sum(dim=1, keepdim=True)
        return _scattered(norms, self.examples, n)[:, 0]

    def sums(self, factors):
        weighted = self.singles * factors[self.examples, None]
        return [_scattered(weighted, self.rows, len(self.parameters[0]))]


class GroupNorm(Call):
    """torch's group_norm with weight and bias, on the channels of all examples as one image.

    Every example has a copy of the parameters.
    """

    def __init__(self, x, num_groups, weight, bias, eps=1e-5) -> None:
        n, channels, *shape = x.shape
        self.parameters = [weight, bias]
        self.watched = [
            parameter.expand(n, *parameter.shape).contiguous().requires_grad_()
            for parameter in self.parameters
        ]
        scale, shift = (copies.view(-1) for copies in self.watched)
        image = x.reshape(1, n * channels, *shape)
        y = functional.group_norm(image, n * num_groups, scale, shift, eps)
        self.result = y.view(x.shape)

    def squares(self, *gradients):
        self.singles = gradients
        return sum(_squares(single.flatten(1)) for single in gradients)

    def sums(self, factors):
        return [torch.tensordot(factors, single, dims=1) for single in self.singles]


def _squares(rows: Tensor) -> Tensor:
    """Return the squared l2 norms (n,) of rows (n, k)."""
    norms = torch.linalg.vector_norm(rows, dim=1)
    return norms.mul_(norms)


def _ghost(x: Tensor, g: Tensor) -> Tensor:
    """Return ||sum_s g_s x_s^T||_F^2, (n,), of x (n, d, places) and g (n, p, places)."""
    pairs = (x.transpose(1, 2) @ x) * (g.transpose(1, 2) @ g)
    # Rounding may make a squared norm negative.
    return pairs.sum(dim=(1, 2)).clamp_(min=0)


def _scattered(rows: Tensor, numbers: Tensor, count: int) -> Tensor:
    """Return a table (count, k) whose row i is the sum of the rows (..., k) with the number i."""
    return torch.ops.aten.embedding_dense_backward(rows, numbers, count, -1, False)
