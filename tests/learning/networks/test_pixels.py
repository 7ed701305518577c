"""Our pooling equals torch's, and the memory layout of images does not change them."""

import math

import pytest
import torch
from torch.nn.functional import max_pool2d

from learning.networks.pixels import channels_together, pooled


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("sides", [(2, 2), (5, 6), (8, 7), (14, 14)])
def test_values_and_gradients_equal_those_of_torch(sides, stride):
    torch.manual_seed(0)
    # Whole numbers, so that windows have several largest pixels.
    images = torch.randint(-3, 3, (4, 3, *sides)).float()
    expected = max_pool2d(images, 2, stride=stride)
    assert torch.equal(pooled(images, stride), expected)
    images.requires_grad_()
    weights = torch.randn_like(expected)
    ours, theirs = (
        torch.autograd.grad(pool, images, weights)[0]
        for pool in (pooled(images, stride), max_pool2d(images, 2, stride=stride))
    )
    assert torch.equal(pooled(images, stride), expected)
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("shape", [(4, 1, 6, 5), (4, 3, 6, 5), (1, 1, 1, 1)])
def test_values_are_the_same_and_channels_are_together(shape):
    images = torch.arange(math.prod(shape), dtype=torch.float32).reshape(shape)
    found = channels_together(images)
    assert torch.equal(found, images)
    # The strides from one channel to the next and from one pixel to the next.
    assert found.stride()[1::2] == (1, shape[1])
