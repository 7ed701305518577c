"""Clipped sums of every network against the gradients of single examples."""

import numpy as np
import pytest
import torch

from learning.networks.cut_network import CUTS
from learning.networks.graph_convolution import gcn
from learning.networks.lstm import lstm
from learning.networks.multilayer_perceptron import DARKNET_MLP
from learning.networks.resnet import RESNET18
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
