"""The clipped sum equals that of opacus, an independent implementation."""

import numpy as np
import pytest
import torch
from opacus.grad_sample import GradSampleModule
from torch import nn

from learning.networks.multilayer_perceptron import ADULT_MLP
from learning.networks.small_cnns import TUTORIALS
from learning.training.clipped_sums import clipped_sum
from learning.training.clipping import Clipping
from tests.learning import opacus_networks

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
