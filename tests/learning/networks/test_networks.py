"""Networks: clipped sums against single gradients, pooling, published sizes and invariances."""

import math

import numpy as np
import pytest
import torch
from torch.nn.functional import max_pool2d

from learning.networks.cut_network import CUTS
from learning.networks.deep_cnns import RESNET18
from learning.networks.graph_convolution import gcn
from learning.networks.lstm import EMBEDDING_SCALE, lstm
from learning.networks.mobilenet import mobilenet
from learning.networks.multilayer_perceptron import DARKNET_MLP
from learning.networks.pixels import channels_together, pooled
from learning.networks.small_cnns import TUTORIALS, strided_cnn
from learning.networks.split_network import SPLIT_NETWORKS
from learning.records.citation_graph import neighbourhoods
from learning.training.clipped_sums import clipped_sum
from learning.training.clipping import Clipping
from learning.training.device import prepared
from studies.gradients import NETWORKS
from tests.learning.gpu import ON_A_GPU
from tests.learning.plain_gradients import one_by_one

WORDS = 12
IMAGE = (3, 32, 32)
# The networks and the shapes of their inputs, or the number of words of texts.
CASES = {
    "digits": (NETWORKS["digits"], (1, 8, 8)),
    "breast_cancer": (NETWORKS["breast_cancer"], (30,)),
    "lenet": (NETWORKS["mnist"], (1, 28, 28)),
    "adult": (NETWORKS["adult"], (105,)),
    "alexnet": (NETWORKS["svhn"], IMAGE),
    "vgg16": (NETWORKS["cifar10"], IMAGE),
    "cora": (gcn(np.random.default_rng(0).random((60, 1433), np.float32)), None),
    "tutorial-mnist": (TUTORIALS["mnist"], (1, 28, 28)),
    "tutorial-cifar10": (TUTORIALS["cifar10"], IMAGE),
    "resnet18": (RESNET18, (3, 8, 8)),
    "strided-cnn": (strided_cnn(1, 28), (1, 28, 28)),
    "darknet": (DARKNET_MLP, (79,)),
    "split": (SPLIT_NETWORKS["breast_cancer"].network, (30,)),
    "lstm": (lstm(WORDS, 5, 4), 9),
    "cut-cnn": (CUTS["cnn"].whole, IMAGE),
}

# Cora's network stores words in single precision.
SINGLE = ("cora",)


def random_graph(rng, nodes=60):
    """A graph with one node that has many neighbours."""
    pairs = np.concatenate([rng.integers(0, nodes, (80, 2)), [[0, k] for k in range(1, 30)]])
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    return neighbourhoods(pairs, nodes)


def batch(name, seed=0):
    """A network with parameters, inputs and labels, mostly in double precision against rounding."""
    network, shape = CASES[name]
    rng, n = np.random.default_rng(seed), 2 if network.size > 1_000_000 else 4
    if shape is None:
        inputs = torch.from_numpy(random_graph(rng)[:n])
    elif isinstance(shape, int):
        inputs = torch.from_numpy(rng.integers(0, WORDS, (n, shape)))
    else:
        inputs = torch.from_numpy(rng.random((n, *shape)))
    # The last layer of every classifier has a row per class.
    labels = torch.from_numpy(rng.integers(0, network.layers[-1].weight[0], n))
    parameters = torch.from_numpy(network.initial(rng))
    if name in SINGLE:
        return network, parameters, inputs.float(), labels
    return network, parameters.double(), inputs, labels


def test_sizes():
    sizes = {name: network.size for name, network in NETWORKS.items()}
    # LeNet-5 as published, a perceptron by hand, and 14,714,688 weights and biases of VGG-16's
    # convolutions without biases (torchvision's vgg16_bn has 4,224 biases more) with three layers.
    assert sizes["mnist"] == 61_706
    assert sizes["adult"] == 105 * 12 + 12 + 12 * 2 + 2
    convolutions = 14_714_688 - 4_224 + 2 * 4_224
    layers = 512 * 1024 + 1024 + 1024 * 512 + 512 + 512 * 10 + 10
    assert sizes["cifar10"] == convolutions + layers
    assert gcn(np.zeros((1, 1433), np.float32)).size == 1433 * 16 + 16 + 16 * 7 + 7


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("device", ["cpu", pytest.param("auto", marks=ON_A_GPU)])
def test_clipped_sums_equal_those_of_single_examples(name, device):
    """The bound is the mean norm, so that some gradients are clipped and others are not."""
    network, parameters, inputs, labels = batch(name)
    rows = one_by_one(network, parameters, inputs, labels)
    norms = rows.norm(dim=1)
    bound = float(norms.mean())
    assert norms.min() < bound < norms.max()
    expected = (bound / norms).clamp(max=1) @ rows
    clipping = Clipping(bound=bound)
    place = prepared(device)
    placed = (tensor.to(place) for tensor in (parameters, inputs, labels))
    found = clipped_sum(network, *placed, clipping, batch=4, chunk=3).cpu()
    assert (found - expected).norm() < (1e-5 if name in SINGLE else 1e-9) * expected.norm()


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
