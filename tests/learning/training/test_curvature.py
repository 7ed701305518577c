"""The diagonal of the Hessian of a loss, and the clipping thresholds that follow from it."""

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from learning.networks.multilayer_perceptron import multilayer_perceptron
from learning.training.curvature import hessian_diagonal, thresholds


def test_the_estimate_is_the_diagonal_of_the_hessian():
    network = multilayer_perceptron(4, 3, 2)
    parameters = network.initial(np.random.default_rng(7)) * 2
    rng = np.random.default_rng(8)
    inputs, labels = rng.standard_normal((40, 4)).astype(np.float32), rng.integers(0, 2, 40)

    def loss(at):
        return cross_entropy(network.logits(at, torch.from_numpy(inputs)), torch.from_numpy(labels))

    whole = torch.autograd.functional.hessian(loss, torch.from_numpy(parameters)).numpy()
    probes = 2500
    found = hessian_diagonal(network, parameters, inputs, labels, rng, probes)
    # The variance of one probe is the sum of squares off the diagonal; five standard errors.
    error = np.sqrt((np.square(whole).sum(axis=1) - np.diag(whole) ** 2) / probes)
    assert (np.abs(found - np.diag(whole)) <= 5 * error + 1e-5).all()
    assert np.abs(np.diag(whole)).max() > 5 * error.max()


def test_thresholds_fall_with_the_root_of_the_curvature():
    found = thresholds(np.array([0.0, 1.0, -4.0, 4.0, 16.0, 1.0, 9.0]))
    # The median of 1, 1, 4, 4, 9, 16 is 4.
    assert found == pytest.approx(np.array([[1, 1, 1, 1, 0.5, 1, 2 / 3]]))
    assert (thresholds(np.zeros(3)) == 1).all()
