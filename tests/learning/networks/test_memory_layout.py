"""The memory layout of images does not change the images."""

import numpy as np
import pytest
import torch

from learning.networks.memory_layout import channels_together


@pytest.mark.parametrize("shape", [(4, 1, 6, 5), (4, 3, 6, 5), (1, 1, 1, 1)])
def test_values_are_the_same_and_channels_are_together(shape):
    images = torch.arange(np.prod(shape), dtype=torch.float32).reshape(shape)
    found = channels_together(images)
    assert torch.equal(found, images)
    # The strides from one channel to the next and from one pixel to the next.
    assert found.stride()[1::2] == (1, shape[1])
