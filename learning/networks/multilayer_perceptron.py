"""Fully connected networks: those of mgm2021 Table 2 for records, and tldp2025's for DarkNet."""

from itertools import pairwise

from learning.networks.network import Network, layers


def multilayer_perceptron(*widths: int) -> Network:
    """Return a network of affine maps with rectifiers between them.

    Args:
        *widths: Number of inputs, of units in every hidden layer, and of classes. Inputs (n, ...)
            are flattened.
    """
    shapes = [(outputs, inputs) for inputs, outputs in pairwise(widths)]
    return Network(layers=layers(*shapes), apply=fully_connected, stacks=True)


def fully_connected(parameters, records):
    """Return the logits of records (n, ...), which are flattened."""
    from torch.nn.functional import linear, relu

    *hidden, last = parameters
    x = records.flatten(1)
    for pair in hidden:
        x = relu(linear(x, *pair))
    return linear(x, *last)


# The 105 x 12 layer of mgm2021 Table 2.
ADULT_MLP = multilayer_perceptron(105, 12, 2)
BREAST_CANCER_MLP = multilayer_perceptron(30, 8, 2)
# tldp2025 states hidden layers of 256, 256, 256 and 128. Its dropout of 0.3 is left out: a network
# here is a function of its parameters and inputs alone.
DARKNET_MLP = multilayer_perceptron(79, 256, 256, 256, 128, 4)
