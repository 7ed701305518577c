"""Clipped sums of every kind of layer, with both ways to compute norms, and those of opacus."""

import numpy as np
import pytest
import torch
from opacus.grad_sample import GradSampleModule
from torch import nn
from torch.nn import functional
from torch.nn.functional import conv2d, embedding, group_norm, linear

from learning.networks.multilayer_perceptron import ADULT_MLP
from learning.networks.network import Layer, Network
from learning.networks.small_cnns import TUTORIALS
from learning.training import recorded_calls
from learning.training.clipped_sums import NoPerExampleGradients, clipped_sum, require_alone
from learning.training.clipping import Clipping
from tests.learning import opacus_networks
from tests.learning.plain_gradients import one_by_one

EXAMPLES, CLASSES, WORDS = 6, 6, 5


def network(apply, *layers):
    return Network(
        layers=tuple(x if isinstance(x, Layer) else Layer(weight=x) for x in layers), apply=apply
    )


def convolution(*weight, bias=True, **options):
    """A convolution of images whose mean pixels are the logits."""
    return network(
        lambda p, x: conv2d(x, *p[0], **options).tanh().mean(dim=(2, 3)),
        Layer(weight=weight, bias=bias),
    )


def many_channels(layout):
    """A convolution of 16 channels in this memory layout."""

    def apply(p, x):
        images = x.repeat(1, 8, 1, 1).contiguous(memory_format=layout)
        return conv2d(images, *p[0]).tanh().mean(dim=(2, 3))

    return network(apply, (6, 16, 3, 3))


def gather(p, x):
    return linear(linear(x.flatten(2), *p[0]).tanh().mean(dim=1), *p[1])


def without_bias(p, x):
    return linear(linear(x.flatten(1), p[0][0]).tanh(), *p[1])


def group_normalised(p, x):
    return group_norm(conv2d(x, *p[0]), 3, *p[1]).square().mean(dim=(2, 3))


def lookup(p, x):
    return embedding((WORDS * x[:, 0]).long(), p[0][0]).square().mean(dim=(1, 2))


def recurrent(p, x, both=False):
    """torch.lstm on the rows of the first channel, from a nonzero initial state."""
    weights = [tensor for (w, b), (u, c) in [p] for tensor in (w, u, b, c)]
    start = [0.1 * x.new_ones(1, len(x), 6) for _ in range(2)]
    return torch.lstm(x[:, 0], start, weights, True, 1, 0.0, False, both, True)[0].mean(dim=1)


# Inputs are images of 2 channels, 7 by 8.
KINDS = {
    "linear": network(lambda p, x: linear(x.flatten(1), *p[0]), (6, 112)),
    "linear without bias": network(without_bias, Layer(weight=(4, 112), bias=False), (6, 4)),
    "linear at several places": network(gather, (3, 56), (6, 3)),
    "convolution": convolution(6, 2, 3, 3),
    "convolution without bias": convolution(6, 2, 3, 3, bias=False),
    "convolution with stride and padding": convolution(6, 2, 3, 2, stride=(2, 3), padding=(1, 0)),
    "convolution of many channels": many_channels(torch.contiguous_format),
    "convolution of channels together": many_channels(torch.channels_last),
    "embedding": network(lookup, Layer(weight=(WORDS, 6), bias=False)),
    "group norm": network(group_normalised, (6, 2, 3, 3), Layer(weight=(6, 1), scales=True)),
    "lstm": network(recurrent, (24, 8), (24, 6)),
}


def batch(net, seed=0):
    """Parameters, inputs and labels; no parameter is zero, unlike biases at the start."""
    rng = np.random.default_rng(seed)
    parameters = torch.from_numpy(0.3 * rng.standard_normal(net.size))
    inputs = torch.from_numpy(rng.random((EXAMPLES, 2, 7, 8)))
    return parameters, inputs, torch.from_numpy(rng.integers(0, CLASSES, EXAMPLES))


@pytest.mark.parametrize("products", [0, 1e9], ids=["direct", "ghost"])
@pytest.mark.parametrize("share", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("kind", KINDS)
def test_clipped_sums_equal_a_loop_over_examples(kind, share, products, monkeypatch):
    """Bounds of one, half and two mean norms clip some, most and few gradients."""
    monkeypatch.setattr(recorded_calls, "_PRODUCTS_PER_NUMBER", products)
    # The patches of one image at a time.
    monkeypatch.setitem(recorded_calls._PATCHES_AT_ONCE, "cpu", 1)
    net = KINDS[kind]
    parameters, inputs, labels = batch(net)
    rows = one_by_one(net, parameters, inputs, labels)
    norms = rows.norm(dim=1)
    bound = share * float(norms.mean())
    expected = (bound / norms).clamp(max=1) @ rows
    clipping = Clipping(bound=bound)
    found = clipped_sum(net, parameters, inputs, labels, clipping, batch=EXAMPLES, chunk=4)
    assert (found - expected).norm() < 1e-12 * expected.norm()


@pytest.mark.parametrize("kind", KINDS)
def test_the_plain_sum_adds_all_gradients(kind):
    net = KINDS[kind]
    parameters, inputs, labels = batch(net)
    expected = one_by_one(net, parameters, inputs, labels).sum(dim=0)
    found = clipped_sum(net, parameters, inputs, labels, None, batch=1, chunk=4)
    assert (found - expected).norm() < 1e-12 * expected.norm()


def test_a_zero_gradient_causes_no_division_by_zero():
    net = KINDS["linear"]
    parameters = torch.zeros(net.size)
    parameters[-CLASSES] = 1000.0
    inputs, labels = torch.zeros(4, 2, 7, 8), torch.zeros(4, dtype=torch.int64)
    found = clipped_sum(net, parameters, inputs, labels, Clipping(bound=1.0), batch=4, chunk=4)
    assert not found.any()


def twice(p, x):
    return linear(linear(x.flatten(1)[:, :6], *p[0]), *p[0])


def in_place(p, x):
    x = linear(x.flatten(1), *p[0])
    return linear(x, *p[1]).relu_()


def batch_normalised(p, x):
    x = linear(x.flatten(1), *p[0])
    return functional.batch_norm(x, None, None, *p[1], training=True)


def centred_over_the_batch(p, x):
    return linear(x.flatten(0, 1).flatten(1), *p[0]).view(len(x), 2, 6).sum(dim=1)


SQUARE, SCALES = (6, 6), Layer(weight=(6, 1), scales=True)
REFUSED = {
    "in batch_norm: use one of linear": network(batch_normalised, (6, 112), SCALES),
    r"shape \(6, 6\) is used 2 times": network(twice, SQUARE),
    r"tensor 2 of shape \(3, 4\) is used 0 times": network(
        lambda p, x: linear(x.flatten(1), *p[0]), (6, 112), (3, 4)
    ),
    r"\(112, 6\) in matmul: use one of linear": network(
        lambda p, x: x.flatten(1) @ p[0][0], Layer(weight=(112, 6), bias=False)
    ),
    r"in __get__: use one of linear": network(
        lambda p, x: x.flatten(1) @ p[0][0].T, Layer(weight=(6, 112), bias=False)
    ),
    "weight and bias must both be parameters": network(
        lambda p, x: linear(x.flatten(1), p[0][0], x.new_ones(6)),
        Layer(weight=(6, 112), bias=False),
    ),
    "the rows of its input must be the examples": network(centred_over_the_batch, (6, 56)),
    "operations that are not in place": network(in_place, (6, 112), SQUARE),
    "unexpected keyword argument 'groups'": convolution(6, 1, 3, 3, groups=2),
    "one layer in one direction": network(
        lambda p, x: recurrent(p, x, both=True), (24, 8), (24, 6)
    ),
    "padding_idx": network(
        lambda p, x: embedding((WORDS * x[:, 0]).long(), p[0][0], padding_idx=0).mean(dim=(1, 2)),
        Layer(weight=(WORDS, 6), bias=False),
    ),
}


@pytest.mark.parametrize("words", REFUSED)
def test_layers_without_per_example_gradients_are_refused(words):
    net = REFUSED[words]
    with pytest.raises(NoPerExampleGradients, match=words):
        clipped_sum(net, *batch(net), Clipping(bound=1.0), batch=EXAMPLES, chunk=EXAMPLES)


def test_normalisation_over_the_batch_is_refused_without_parameters_too():
    def apply(p, x):
        x = linear(x.flatten(1), *p[0])
        return x - x.mean(dim=0)

    alone, mixed = KINDS["linear"], network(apply, (6, 112))
    parameters, inputs, _ = batch(alone)
    require_alone(alone, parameters, inputs)
    with pytest.raises(NoPerExampleGradients, match="depend on the other examples"):
        require_alone(mixed, parameters, inputs)


CASES = {
    "perceptron": (ADULT_MLP, opacus_networks.perceptron, (105,)),
    "tutorial": (TUTORIALS["mnist"], opacus_networks.tutorial, (1, 28, 28)),
}
# These bounds lie near the median norm, so that some gradients are clipped and others are not.
BOUNDS = {"perceptron": 4.0, "tutorial": 6.0}


def opacus_sum(model: GradSampleModule, inputs, labels, bound: float):
    """The sum of opacus' gradients, each clipped to `bound`, and the norms of all gradients."""
    nn.functional.cross_entropy(model(inputs), labels, reduction="sum").backward()
    singles = [p.grad_sample.flatten(1) for p in model.parameters()]
    norms = torch.stack([single.norm(dim=1) for single in singles]).norm(dim=0)
    factors = (bound / norms).clamp(max=1.0)
    return torch.cat([factors @ single for single in singles]), norms


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("name", CASES)
def test_clipped_sums_equal_those_of_opacus(name):
    network, make, shape = CASES[name]
    n, rng = 32, np.random.default_rng(0)
    parameters = torch.from_numpy(network.initial(rng))
    inputs = torch.from_numpy(rng.random((n, *shape), np.float32))
    labels = torch.from_numpy(rng.integers(0, network.layers[-1].weight[0], n))
    clipping = Clipping(bound=BOUNDS[name])
    model = opacus_networks.copied(network, make(), parameters)
    graded = GradSampleModule(model, loss_reduction="sum")
    expected, norms = opacus_sum(graded, inputs, labels, clipping.bound)
    assert norms.min() < clipping.bound < norms.max()
    found = clipped_sum(network, parameters, inputs, labels, clipping, batch=n, chunk=20)
    assert (found - expected).norm() < 1e-5 * expected.norm()
