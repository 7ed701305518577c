"""Cora's neighbourhoods and graph convolutions: matrix products, and a published accuracy."""

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from learning.networks.graph_convolution import gcn
from learning.records import citation_graph, labelled
from learning.training import noisy_descent as loop


def normalised(edges, nodes):
    """D^-1/2 (A + I) D^-1/2 as a matrix."""
    a = np.eye(nodes)
    a[edges[:, 0], edges[:, 1]] = a[edges[:, 1], edges[:, 0]] = 1
    d = a.sum(axis=1)
    return a / np.sqrt(np.outer(d, d))


EDGES = np.array([[0, 1], [0, 2], [0, 3], [2, 3], [4, 5]])


def test_neighbourhoods_are_the_rows_of_the_normalised_matrix():
    found = citation_graph.neighbourhoods(EDGES, 7)
    assert found.shape == (7, 4, 2)
    dense = np.zeros((7, 7))
    for node, near in enumerate(found):
        np.add.at(dense[node], near[:, 0].astype(int), near[:, 1])
    assert dense == pytest.approx(normalised(EDGES, 7), abs=1e-7)
    # A node without neighbours sees itself; padding comes last.
    assert found[6].tolist() == [[6, 1], [0, 0], [0, 0], [0, 0]]


@pytest.mark.parametrize("gradients", [True, False])
def test_the_network_is_two_matrix_products_per_layer(gradients):
    rng = np.random.default_rng(0)
    words = rng.random((7, 1433), np.float32)
    a = normalised(EDGES, 7)
    network = gcn((a @ words).astype(np.float32))
    parameters = rng.standard_normal(network.size).astype(np.float32)
    (w1, b1), (w2, b2) = (
        (w.numpy(), b.numpy()) for w, b in network.tensors(torch.from_numpy(parameters))
    )
    expected = a @ np.maximum(a @ words @ w1.T + b1, 0) @ w2.T + b2
    nodes = torch.from_numpy(citation_graph.neighbourhoods(EDGES, 7))
    with torch.set_grad_enabled(gradients):
        found = network.logits(torch.from_numpy(parameters), nodes)
    assert found.numpy() == pytest.approx(expected, rel=1e-4)
    short = network.shortened(nodes[4:])
    assert short.shape == (3, 2, 2)
    found = network.logits(torch.from_numpy(parameters), short)
    assert found.numpy() == pytest.approx(expected[4:], rel=1e-4)


@pytest.fixture
def folder(official_data):
    return official_data("cora")


def test_training_nodes_are_the_official_ones_and_a_thousand_more(folder):
    drawn, other = (labelled.load("cora", folder, None, seed) for seed in (1, 2))
    assert len(drawn.train_labels) == 1140 and len(drawn.test_labels) == 1000
    assert np.array_equal(drawn.train_inputs[:140], other.train_inputs[:140])
    assert not np.array_equal(drawn.train_inputs, other.train_inputs)
    assert np.array_equal(drawn.test_inputs, other.test_inputs)


def test_no_test_node_is_trained_on(folder, monkeypatch):
    monkeypatch.setattr(citation_graph, "neighbourhoods", lambda edges, nodes: np.arange(nodes))
    train, _, test, _ = citation_graph.load("cora", folder, np.random.default_rng(0))
    assert len(set(train) | set(test)) == 2140
    assert set(train[:140]) == set(range(140))


def test_the_planetoid_split_has_about_the_published_accuracy(folder):
    """Kipf and Welling 2017 report 81.5% with dropout; weight decay alone gives slightly less."""
    split = labelled.load("cora", folder, None, 0)
    inputs, labels = (
        torch.from_numpy(each[:140]) for each in (split.train_inputs, split.train_labels)
    )
    network = gcn(citation_graph.mixed_words(folder))
    torch.set_num_threads(1)
    start = network.initial(np.random.default_rng(1))
    parameters = torch.from_numpy(start).requires_grad_()
    optimiser = torch.optim.Adam([parameters], lr=0.01, weight_decay=5e-3)
    nodes = network.shortened(inputs)
    for _ in range(60):
        optimiser.zero_grad()
        cross_entropy(network.logits(parameters, nodes), labels).backward()
        optimiser.step()
    tests = torch.from_numpy(split.test_inputs), torch.from_numpy(split.test_labels)
    found = loop.accuracy(network, parameters.detach(), *tests)
    assert found == pytest.approx(0.815, abs=0.025)
