"""Networks of tldp2025: published sizes, invariances, and agreement with torch's LSTM."""

import numpy as np
import pytest
import torch

from learning.networks.lstm import EMBEDDING_SCALE, lstm
from learning.networks.mobilenet import mobilenet
from learning.networks.multilayer_perceptron import DARKNET_MLP
from learning.networks.small_cnns import strided_cnn


def at_start(network, seed=0):
    return torch.from_numpy(network.initial(np.random.default_rng(seed)))


@pytest.mark.parametrize(("classes", "size"), [(1000, 3_504_872), (10, 2_236_682)])
def test_the_full_mobilenet_has_as_many_parameters_as_torchvisions(classes, size):
    """torchvision documents 3,504,872 for mobilenet_v2; its last layer has 1,281 per class."""
    assert mobilenet(3, classes).size == size
    assert 3_504_872 - 990 * 1281 == 2_236_682


@pytest.mark.parametrize(
    ("network", "shape"),
    [
        (mobilenet(1, 10), (1, 28, 28)),
        (mobilenet(3, 10), (3, 32, 32)),
        (strided_cnn(1, 28), (1, 28, 28)),
        (strided_cnn(3, 32), (3, 32, 32)),
        (DARKNET_MLP, (79,)),
    ],
    ids=["mobilenet-mnist", "mobilenet-cifar", "cnn-mnist", "cnn-cifar", "darknet"],
)
def test_logits_depend_on_every_layer(network, shape):
    inputs = torch.rand(5, *shape, generator=torch.Generator().manual_seed(1))
    parameters = at_start(network)
    before = network.logits(parameters, inputs)
    assert before.shape == (5, network.layers[-1].weight[0])
    place = 0
    for layer in network.layers:
        changed = parameters.clone()
        changed[place : place + layer.size] += 0.1 * torch.randn(
            layer.size, generator=torch.Generator().manual_seed(2)
        )
        assert not torch.allclose(network.logits(changed, inputs), before, atol=1e-6)
        place += layer.size
    assert place == network.size == len(parameters)


@pytest.mark.parametrize(("depth", "bidirectional"), [(1, False), (2, False), (1, True), (2, True)])
def test_the_lstm_is_torchs_own(depth, bidirectional):
    network = lstm(12, 3, 4, depth=depth, bidirectional=bidirectional)
    parameters = at_start(network, 5)
    cells = torch.nn.LSTM(3, 4, depth, batch_first=True, bidirectional=bidirectional)
    (words, _), *pairs, (weight, bias) = network.tensors(parameters)
    ways = ("", "_reverse") if bidirectional else ("",)
    names = [f"l{layer}{way}" for layer in range(depth) for way in ways]
    with torch.no_grad():
        for name, (inner, offset), (recurrent, _) in zip(
            names, pairs[::2], pairs[1::2], strict=True
        ):
            getattr(cells, f"weight_ih_{name}").copy_(inner)
            getattr(cells, f"weight_hh_{name}").copy_(recurrent)
            getattr(cells, f"bias_ih_{name}").copy_(offset)
            getattr(cells, f"bias_hh_{name}").zero_()
        texts = torch.arange(12).reshape(2, 6)
        states, _ = cells(EMBEDDING_SCALE * words[texts])
        expected = states.mean(dim=1) @ weight.T + bias
    assert torch.allclose(network.logits(parameters, texts), expected, atol=1e-6)
