"""Gaussian noise with a covariance per axis against i.i.d. noise of the same privacy."""

import functools
import math

import numpy as np
import pytest

from mechanisms import Budget, Query, get_mechanism
from mechanisms.noise.gaussian_noise import IndependentGaussian
from mechanisms.noise.tensor_gaussian import TensorGaussian
from paper_figures.tvg2021.theorems import factor_over_iid, rising_noise


def random_noise(shape, rng):
    """A random covariance for each axis, and the noise that has them."""
    roots = [rng.standard_normal((size, size)) for size in shape]
    axes = [root @ root.T + 0.1 * np.eye(len(root)) for root in roots]
    values, directions = zip(*(np.linalg.eigh(each) for each in axes), strict=True)
    return axes, TensorGaussian(stds=tuple(map(np.sqrt, values)), directions=directions)


@pytest.mark.parametrize("shape", [(4,), (3, 5), (2, 3, 4)])
def test_by_the_whole_covariance(shape):
    """The worst change is the least eigenvector of the product; its mu sets the i.i.d. noise."""
    rng = np.random.default_rng(len(shape))
    axes, noise = random_noise(shape, rng)
    whole = functools.reduce(np.kron, axes)
    mu = 1 / math.sqrt(np.linalg.eigvalsh(whole)[0])
    query = Query(shape=shape, l2_sensitivity=1.0)
    iid = IndependentGaussian(shape=shape, sigma=1 / mu)
    assert iid.profile(query).mu == pytest.approx(mu)
    assert factor_over_iid(noise) == pytest.approx(np.trace(whole) / iid.loss().mean)
    # No linear function of the answer has a smaller error either.
    function = rng.standard_normal((50, math.prod(shape)))
    own = np.sum(function @ whole * function, axis=1)
    assert (own >= np.sum(function**2, axis=1) / mu**2 * (1 - 1e-9)).all()


def test_it_is_what_the_mechanism_costs_at_the_exact_calibration():
    query, budget = Query(shape=(4, 2, 3), l2_sensitivity=3.0), Budget(epsilon=1.0, delta=1e-6)
    variances = [np.geomspace(1.0, 10.0, size) for size in query.shape]
    precision = [each**-2 / np.sum(each**-2) for each in variances]
    tvg = get_mechanism("tvg").calibrate(query, budget, "exact", axis_precision=precision)
    iid = get_mechanism("gaussian-analytic").calibrate(query, budget, "exact")
    factor = math.prod(float(each.mean()) for each in variances)
    assert tvg.expected_loss() / iid.expected_loss() == pytest.approx(factor)
    assert factor_over_iid(rising_noise(query.shape, 10.0)) == pytest.approx(factor)


def test_equal_eigenvalues_are_iid_noise():
    noise = TensorGaussian(stds=(np.full(3, 2.0), np.full(4, 0.5)), directions=(None, None))
    assert factor_over_iid(noise) == pytest.approx(1)
