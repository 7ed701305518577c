"""Per-example gradients of a convolution, for any memory layout of images and gradients."""

import random

import pytest
import torch
from torch.nn import functional

from learning.training import recorded_calls
from learning.training.recorded_calls import Convolution

FORMATS = (torch.contiguous_format, torch.channels_last)


@pytest.mark.parametrize("seed", range(60))
def test_norms_and_sums_equal_those_of_single_examples(seed, monkeypatch):
    """Holds for any kernel, stride and padding, by all three methods."""
    torch.manual_seed(seed)
    draw = random.Random(seed)
    monkeypatch.setitem(recorded_calls._PATCHES_AT_ONCE, "cpu", draw.choice([1, 1000, 1 << 20]))
    monkeypatch.setattr(recorded_calls, "_PRODUCTS_PER_NUMBER", draw.choice([0, 20, 10**6]))
    images = torch.randn(draw.randint(1, 5), draw.choice([1, 2, 16]), 11, 10).double()
    kernel = [draw.randint(1, 4), draw.randint(1, 4)]
    weight = torch.randn(draw.choice([1, 4]), images.shape[1], *kernel).double()
    bias = draw.choice([None, torch.randn(len(weight)).double()])
    options = [(draw.randint(least, 3), draw.randint(least, 3)) for least in (1, 0)]

    call = Convolution(
        images.contiguous(memory_format=draw.choice(FORMATS)), weight, bias, *options
    )
    gradient = torch.randn_like(call.result).contiguous(memory_format=draw.choice(FORMATS))
    factors = torch.rand(len(images)).double()
    squares, sums = call.squares(gradient), call.sums(factors)

    leaves = [each.clone().requires_grad_() for each in (weight, bias) if each is not None]
    singles = []
    for image, g in zip(images.split(1), gradient.split(1), strict=True):
        y = functional.conv2d(image, leaves[0], *(leaves[1:] or [None]), *options)
        singles.append(torch.autograd.grad(y, leaves, g))
    for number, found in enumerate(sums):
        each = torch.stack([single[number] for single in singles])
        torch.testing.assert_close(found.reshape(each[0].shape), torch.tensordot(factors, each, 1))
    expected = [sum(part.square().sum() for part in single) for single in singles]
    torch.testing.assert_close(squares, torch.stack(expected))
