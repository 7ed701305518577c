"""Wishart noise has the law of scipy's; test_every_noise.py compares its moments."""

import numpy as np
from scipy import stats

from mechanisms.noise.wishart_noise import Wishart


def test_wishart_noise_has_the_law_of_scipy():
    noise = Wishart(shape=(3, 3), scale=0.7)
    draws = noise.sample(np.random.default_rng(0), 20_000)
    theirs = stats.wishart(df=4, scale=0.7 * np.eye(3)).rvs(20_000, random_state=1)
    for statistic in (lambda w: w[:, 0, 0], lambda w: w[:, 0, 1], np.linalg.det):
        assert stats.ks_2samp(statistic(draws), statistic(theirs)).pvalue > 1e-3
    mean = draws.mean(axis=0)
    assert np.abs(mean - 4 * 0.7 * np.eye(3)).max() < 0.1
    assert np.linalg.eigvalsh(draws).min() > 0
