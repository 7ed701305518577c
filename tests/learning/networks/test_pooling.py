"""Our pooling equals torch's, with and without gradients."""

import pytest
import torch
from torch.nn.functional import max_pool2d

from learning.networks.pooling import pooled


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
