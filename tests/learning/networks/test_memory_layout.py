"""The memory layout of images changes neither the images nor the outputs of networks."""

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from learning.networks import cut_network, lenet, strided_cnn, tutorial_networks
from learning.networks.memory_layout import channels_together

NETWORKS = {
    "lenet": (lenet, lenet.LENET, (1, 28, 28)),
    "mnist": (tutorial_networks, tutorial_networks.TUTORIALS["mnist"], (1, 28, 28)),
    "strided": (strided_cnn, strided_cnn.strided_cnn(3, 32), (3, 32, 32)),
    "cut-lenet": (cut_network, cut_network.CUTS["lenet"].whole, (1, 28, 28)),
}


@pytest.mark.parametrize("shape", [(4, 1, 6, 5), (4, 3, 6, 5), (1, 1, 1, 1)])
def test_values_are_the_same_and_channels_are_together(shape):
    images = torch.arange(np.prod(shape), dtype=torch.float32).reshape(shape)
    found = channels_together(images)
    assert torch.equal(found, images)
    # The strides from one channel to the next and from one pixel to the next.
    assert found.stride()[1::2] == (1, shape[1])


@pytest.mark.parametrize("name", NETWORKS)
def test_gradients_do_not_depend_on_the_memory_layout(name, monkeypatch):
    module, network, shape = NETWORKS[name]
    rng = np.random.default_rng(0)
    start = torch.from_numpy(network.initial(rng))
    images = torch.from_numpy(rng.random((16, *shape), np.float32))
    labels = torch.from_numpy(rng.integers(10, size=16))

    def gradient():
        at = start.clone().requires_grad_()
        return torch.autograd.grad(cross_entropy(network.logits(at, images), labels), at)[0]

    ours = gradient()
    monkeypatch.setattr(module, "channels_together", lambda same: same)
    torch.testing.assert_close(ours, gradient())
