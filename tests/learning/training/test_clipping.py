"""Per-example gradients, their clipping and the resulting sensitivity."""

import math

import numpy as np
import pytest
import torch

from learning.networks.small_cnns import TUTORIALS
from learning.training.clipped_sums import clipped_sum
from learning.training.clipping import Clipping

SHAPES = {"digits": (1, 8, 8), "mnist": (1, 28, 28), "cifar10": (3, 32, 32)}
CLIPPING = Clipping(bound=0.7)


def batch(dataset, n, seed=0):
    rng = np.random.default_rng(seed)
    images = torch.from_numpy(rng.random((n, *SHAPES[dataset]), np.float32))
    labels = torch.from_numpy(rng.integers(0, 10, n))
    network = TUTORIALS[dataset]
    return network, torch.from_numpy(network.initial(rng)), images, labels


@pytest.mark.parametrize("dataset", TUTORIALS)
def test_weights_start_as_glorot_says_and_biases_at_zero(dataset):
    network = TUTORIALS[dataset]
    flat = network.initial(np.random.default_rng(0))
    assert flat.dtype == np.float32
    start = 0
    for layer in network.layers:
        shape = layer.weight
        count, taps = math.prod(shape), math.prod(shape[2:])
        weight, bias = flat[start : start + count], flat[start + count : start + count + shape[0]]
        start += count + shape[0]
        variance = 2 / (taps * (shape[0] + shape[1]))
        # The variance of a uniform sample has a relative standard deviation of sqrt(0.8 / n).
        assert weight.var() == pytest.approx(variance, rel=4 * math.sqrt(0.8 / count))
        assert not bias.any()
    assert start == network.size


@pytest.mark.parametrize("clipping", [None, CLIPPING])
def test_an_empty_sample_has_the_sum_zero(clipping):
    network, parameters, images, labels = batch("digits", 0)
    found = clipped_sum(network, parameters, images, labels, clipping, batch=4, chunk=2)
    assert found.shape == (network.size,)
    assert not found.any()


@pytest.mark.parametrize("dataset", TUTORIALS)
# At an expected batch of 1 the sum itself is clipped; at 1000 it is not.
@pytest.mark.parametrize("expected", [1, 1000])
def test_one_record_moves_the_sum_by_at_most_the_stated_sensitivity(dataset, expected):
    network, parameters, images, labels = batch(dataset, 6)
    query = CLIPPING.query(network.size, expected)
    kind = {"batch": expected, "chunk": 6}
    whole = clipped_sum(network, parameters, images, labels, CLIPPING, **kind).double()
    slack = 1 + 1e-5
    assert whole.norm() <= query.frobenius_bound * slack
    for k in range(6):
        kept = torch.arange(6) != k
        without = clipped_sum(
            network, parameters, images[kept], labels[kept], CLIPPING, **kind
        ).double()
        change = whole - without
        assert 0 < change.norm() <= query.l2_sensitivity * slack
        assert change.abs().sum() <= query.l1_sensitivity * slack


def test_sensitivities_are_attained():
    """A gradient far above the bound, in the worst direction of each norm, attains it."""
    query = CLIPPING.query(16, 100)
    assert query.shape == (1, 16)
    assert query.adjacency == "add-remove"
    gradient = torch.full((16,), 1e6, dtype=torch.float64)
    even = gradient * CLIPPING.factors(gradient @ gradient)
    assert float(even.norm()) == pytest.approx(query.l2_sensitivity)
    assert float(even.abs().sum()) == pytest.approx(query.l1_sensitivity)
    assert float(CLIPPING.clip_sum(gradient, 100).norm()) == pytest.approx(query.frobenius_bound)
