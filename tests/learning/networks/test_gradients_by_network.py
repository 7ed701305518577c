"""Gradients of single examples for every network that learns from noisy gradients."""

import functools

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from experiments.gradients import NETWORKS
from learning.networks.graph_convolution import gcn
from learning.networks.network import Layer, Network
from learning.records.citation_graph import neighbourhoods
from learning.training.clipping import Clipping
from learning.training.ghost_clipping import l2_clipped_sum
from learning.training.per_example_gradients import clipped_sum, per_example_gradients

SHAPES = {
    "digits": (1, 8, 8),
    "breast_cancer": (30,),
    "mnist": (1, 28, 28),
    "adult": (105,),
    "svhn": (3, 32, 32),
    "cifar10": (3, 32, 32),
}
# Deep ones are compared in double precision: rectifiers and maxima amplify rounding.
DEEP = ("svhn", "cifar10")
# These use group normalisation, which is no affine map of the input with the layer's weight.
NO_AFFINE_SHORTCUT = ("cifar10",)
ALL = [*NETWORKS, "cora"]


def random_graph(rng, nodes=60):
    """A graph with one node that has many neighbours."""
    pairs = np.concatenate([rng.integers(0, nodes, (80, 2)), [[0, k] for k in range(1, 30)]])
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    return neighbourhoods(pairs, nodes)


def batch(name, seed=0):
    rng, n = np.random.default_rng(seed), 2 if name in DEEP else 4
    if name == "cora":
        network = gcn(rng.random((60, 1433), np.float32))
        inputs, classes = random_graph(rng)[:n], 7
    else:
        network, classes = NETWORKS[name], NETWORKS[name].layers[-1].weight[0]
        inputs = rng.random((n, *SHAPES[name]), np.float32)
    labels = torch.from_numpy(rng.integers(0, classes, n))
    kind = torch.float64 if name in DEEP else torch.float32
    parameters = torch.from_numpy(network.initial(rng)).to(kind)
    return network, parameters, torch.from_numpy(inputs).to(kind), labels


def one_by_one(network, parameters, inputs, labels):
    """Gradients of micro-batches of one example by plain reverse mode, a row per example."""
    rows = []
    for k in range(len(labels)):
        leaf = parameters.clone().requires_grad_()
        cross_entropy(network.logits(leaf, inputs[k : k + 1]), labels[k : k + 1]).backward()
        rows.append(leaf.grad)
    return torch.stack(rows)


@functools.cache
def with_gradients(name):
    """A batch of a network, and its gradients one by one."""
    network, parameters, inputs, labels = batch(name)
    return network, parameters, inputs, labels, one_by_one(network, parameters, inputs, labels)


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


@pytest.mark.parametrize("name", ALL)
def test_single_gradients_equal_those_of_micro_batches(name):
    network, parameters, inputs, labels, expected = with_gradients(name)
    found = per_example_gradients(network, parameters, inputs, labels)
    assert ((found - expected).norm(dim=1) / expected.norm(dim=1)).max() < 1e-5


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("share", [0.5, 2.0])
def test_clipped_sums_equal_those_of_micro_batches(name, share):
    """Clipped at half and at twice the mean norm: all of them, or some, or none."""
    network, parameters, inputs, labels, rows = with_gradients(name)
    clipping = Clipping(bound=share * float(rows.norm(dim=1).mean()))
    expected = clipping.clip(rows).sum(dim=0)
    found = clipped_sum(network, parameters, inputs, labels, clipping, batch=4, chunk=3)
    assert (found - expected).norm() < 1e-5 * expected.norm()
    short = l2_clipped_sum(network, parameters, inputs, labels, clipping.bound)
    assert (short is None) == (name in NO_AFFINE_SHORTCUT)


@pytest.mark.parametrize("use", ["twice", "transposed", "never"])
def test_the_short_way_is_left_where_a_layer_is_used_otherwise(use):
    from torch.nn.functional import linear

    def apply(parameters, inputs):
        x = linear(inputs, *parameters[0])
        if use == "twice":
            x = linear(x, *parameters[0])
        if use == "transposed":
            x = x @ parameters[0][0].T
        return x

    layers = (Layer(weight=(3, 3)),) * (2 if use == "never" else 1)
    network = Network(layers=layers, apply=apply)
    rng = np.random.default_rng(0)
    parameters = torch.from_numpy(network.initial(rng))
    inputs, labels = torch.from_numpy(rng.random((5, 3), np.float32)), torch.arange(5) % 3
    assert l2_clipped_sum(network, parameters, inputs, labels, 1.0) is None


def test_group_normalisation_sees_one_image_alone():
    network, parameters, inputs, _ = batch("cifar10")
    together = network.logits(parameters, inputs)
    alone = torch.cat([network.logits(parameters, image[None]) for image in inputs])
    assert torch.allclose(together, alone, atol=1e-9 * float(together.abs().max()))


def test_a_gradient_of_zero_is_not_divided_by():
    network, parameters, inputs, _ = batch("digits")
    zeros = torch.zeros_like(inputs)
    certain = parameters.clone() * 0
    certain[-10:] = torch.tensor([1000.0] + [0.0] * 9)
    found = l2_clipped_sum(network, certain, zeros, torch.zeros(4, dtype=torch.int64), 1.0)
    assert not found.any()
