"""Networks of tldp2025: sizes that others state, invariances, and the curvature of a loss."""

import math

import numpy as np
import pytest
import torch
from learning.networks.bilstm import bilstm
from torch.nn.functional import cross_entropy

from learning.networks.mobilenet import FULL, SMALL, mobilenet
from learning.networks.multilayer_perceptron import multilayer_perceptron
from learning.networks.strided_cnn import strided_cnn
from learning.records import labelled as data
from learning.training.curvature import hessian_diagonal, thresholds


def at_start(network, seed=0):
    return torch.from_numpy(network.initial(np.random.default_rng(seed)))


@pytest.mark.parametrize(("classes", "size"), [(1000, 3_504_872), (10, 2_236_682)])
def test_the_full_mobilenet_has_as_many_parameters_as_torchvisions(classes, size):
    """3,504,872 are stated for torchvision's mobilenet_v2; its last layer has 1,281 a class."""
    assert mobilenet(3, classes, FULL).size == size
    assert 3_504_872 - 990 * 1281 == 2_236_682


@pytest.mark.parametrize(
    ("network", "shape"),
    [
        (mobilenet(1, 10, SMALL), (1, 28, 28)),
        (mobilenet(3, 10, SMALL), (3, 32, 32)),
        (strided_cnn(1, 28), (1, 28, 28)),
        (strided_cnn(3, 32), (3, 32, 32)),
        (multilayer_perceptron(79, 256, 256, 256, 128, 4), (79,)),
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


def test_mobilenet_normalises_what_its_convolutions_give():
    """The scale of a convolution's weights does not matter, its sign does."""
    network = mobilenet(1, 10, SMALL)
    inputs = torch.rand(3, 1, 28, 28, generator=torch.Generator().manual_seed(1))
    parameters = at_start(network)
    first = network.layers[0].size
    scaled, turned = parameters.clone(), parameters.clone()
    scaled[:first] *= 3
    turned[:first] *= -1
    before = network.logits(parameters, inputs)
    assert torch.allclose(network.logits(scaled, inputs), before, rtol=1e-2, atol=1e-3)
    assert not torch.allclose(network.logits(turned, inputs), before, rtol=1e-2, atol=1e-3)


def test_bilstm_reads_in_both_directions():
    network = bilstm(30, 4, 5, 2)
    parameters = at_start(network)
    texts = torch.randint(0, 30, (6, 9), generator=torch.Generator().manual_seed(3))
    before = network.logits(parameters, texts)
    assert before.shape == (6, 2)
    assert not torch.allclose(network.logits(parameters, texts.flip(1)), before, atol=1e-6)
    # Embedding, cells with one bias in both directions of both layers, and two classes.
    expected = 30 * 4 + 2 * (20 * 4 + 20 + 20 * 5) + 2 * (20 * 10 + 20 + 20 * 5) + 2 * 10 + 2
    assert network.size == expected


def test_bilstm_is_torchs_own():
    network = bilstm(12, 3, 4, 2)
    parameters = at_start(network, 5)
    cells = torch.nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True)
    (words, _), *pairs, (weight, bias) = network.tensors(parameters)
    names = ("l0", "l0_reverse", "l1", "l1_reverse")
    with torch.no_grad():
        for name, (inner, offset), (recurrent, _) in zip(
            names, pairs[::2], pairs[1::2], strict=True
        ):
            getattr(cells, f"weight_ih_{name}").copy_(inner)
            getattr(cells, f"weight_hh_{name}").copy_(recurrent)
            getattr(cells, f"bias_ih_{name}").copy_(offset)
            getattr(cells, f"bias_hh_{name}").zero_()
        texts = torch.arange(12).reshape(2, 6)
        states, _ = cells(20.0 * words[texts])
        expected = states.mean(dim=1) @ weight.T + bias
    assert torch.allclose(network.logits(parameters, texts), expected, atol=1e-6)


def test_the_diagonal_is_that_of_the_hessian():
    network = multilayer_perceptron(4, 3, 2)
    parameters = network.initial(np.random.default_rng(7)) * 2
    rng = np.random.default_rng(8)
    inputs, labels = rng.standard_normal((40, 4)).astype(np.float32), rng.integers(0, 2, 40)

    def loss(at):
        return cross_entropy(network.logits(at, torch.from_numpy(inputs)), torch.from_numpy(labels))

    whole = torch.autograd.functional.hessian(loss, torch.from_numpy(parameters)).numpy()
    probes = 4000
    found = hessian_diagonal(network, parameters, inputs, labels, rng, probes)
    # Var of one probe is the sum of squares beside the diagonal; five standard errors.
    error = np.sqrt((np.square(whole).sum(axis=1) - np.diag(whole) ** 2) / probes)
    assert (np.abs(found - np.diag(whole)) <= 5 * error + 1e-5).all()
    assert np.abs(np.diag(whole)).max() > 5 * error.max()


def test_thresholds_fall_with_the_root_of_the_curvature():
    found = thresholds(np.array([0.0, 1.0, -4.0, 4.0, 16.0, 1.0, 9.0]))
    # The median of 1, 1, 4, 4, 9, 16 is 4.
    assert found == pytest.approx(np.array([[1, 1, 1, 1, 0.5, 1, 2 / 3]]))
    assert (thresholds(np.zeros(3)) == 1).all()


def test_thresholds_differ_within_a_real_network():
    split = data.load("digits", None, 64, seed=4)
    network = multilayer_perceptron(64, 16, 10)
    start = network.initial(np.random.default_rng(1))
    diagonal = hessian_diagonal(
        network, start, split.train_inputs, split.train_labels, np.random.default_rng(2)
    )
    found = thresholds(diagonal)
    assert found.shape == (1, network.size)
    assert 0 < found.min() < 0.5 and found.max() == 1
    assert math.isclose(np.mean(found == 1), 0.55, abs_tol=0.25)
