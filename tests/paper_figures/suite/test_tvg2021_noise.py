"""Gaussian noise with a covariance per axis against i.i.d. noise of the same privacy."""

import functools
import math

import numpy as np
import pytest

from mechanisms import Query
from mechanisms.noise.gaussian_noise import IndependentGaussian
from paper_figures.tvg2021.theorems import factor_over_iid


def random_covariance(size, rng):
    root = rng.standard_normal((size, size))
    return root @ root.T + 0.1 * np.eye(size)


@pytest.mark.parametrize("shape", [(4,), (3, 5), (2, 3, 4)])
def test_by_the_whole_covariance(shape):
    """The worst change is the least eigenvector of the product; its mu sets the i.i.d. noise."""
    rng = np.random.default_rng(len(shape))
    axes = [random_covariance(size, rng) for size in shape]
    whole = functools.reduce(np.kron, axes)
    mu = 1 / math.sqrt(np.linalg.eigvalsh(whole)[0])
    query = Query(shape=shape, l2_sensitivity=1.0)
    iid = IndependentGaussian(shape=shape, sigma=1 / mu)
    assert iid.profile(query).mu == pytest.approx(mu)
    found = factor_over_iid([np.linalg.eigvalsh(each) for each in axes])
    assert found == pytest.approx(np.trace(whole) / iid.loss().mean)
    # No linear function of the answer has a smaller error either.
    function = rng.standard_normal((50, math.prod(shape)))
    own = np.sum(function @ whole * function, axis=1)
    assert (own >= np.sum(function**2, axis=1) / mu**2 * (1 - 1e-9)).all()


def test_equal_eigenvalues_are_iid_noise():
    assert factor_over_iid([np.full(3, 2.0), np.full(4, 0.5)]) == 1
