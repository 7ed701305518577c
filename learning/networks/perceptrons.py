"""Networks of one hidden layer for records, among them the 105 x 12 one of mgm2021 Table 2."""

from __future__ import annotations

from learning.networks.network import Network, layers


def perceptron(inputs: int, hidden: int, classes: int) -> Network:
    """One hidden layer of rectifiers."""
    return Network(layers=layers((hidden, inputs), (classes, hidden)), apply=_perceptron)


def _perceptron(parameters, records):
    from torch.nn.functional import linear, relu

    return linear(relu(linear(records, *parameters[0])), *parameters[1])


ADULT_MLP = perceptron(105, 12, 2)
BREAST_CANCER_MLP = perceptron(30, 8, 2)
