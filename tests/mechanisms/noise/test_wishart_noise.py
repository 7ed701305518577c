"""Wishart noise: moments of traces by formulas and Wick's theorem, draws against scipy."""

import numpy as np
import pytest
from scipy import stats

from mechanisms.noise.wishart_noise import Wishart, trace_moment


def pairings(items):
    """All perfect matchings of a list."""
    if not items:
        yield []
        return
    for index in range(1, len(items)):
        rest = items[1:index] + items[index + 1 :]
        for others in pairings(rest):
            yield [(items[0], items[index]), *others]


@pytest.mark.parametrize("copies", [1, 2])
def test_moments_of_traces_by_wicks_theorem(copies):
    """Every matching of the factors G_am contributes d^(loops of a) k^(loops of m)."""
    size, freedom = 4, 6
    # tr W^2 = sum G_am G_bm G_bn G_an: row and column index of factor 4 c + (0, 1, 2, 3).
    rows = [(c, row) for c in range(copies) for row in (0, 1, 1, 0)]
    columns = [(c, column) for c in range(copies) for column in (0, 0, 1, 1)]

    def loops(labels, matching):
        parent = {label: label for label in labels}

        def root(label):
            while parent[label] != label:
                label = parent[label]
            return label

        for i, j in matching:
            parent[root(labels[i])] = root(labels[j])
        return len({root(label) for label in labels})

    total = sum(
        size ** loops(rows, matching) * freedom ** loops(columns, matching)
        for matching in pairings(list(range(4 * copies)))
    )
    assert trace_moment((2,) * copies, size, freedom) == total


def test_wishart_noise_has_the_law_of_scipy():
    noise = Wishart(shape=(3, 3), scale=0.7)
    draws = noise.sample(np.random.default_rng(0), 20_000)
    theirs = stats.wishart(df=4, scale=0.7 * np.eye(3)).rvs(20_000, random_state=1)
    for statistic in (lambda w: w[:, 0, 0], lambda w: w[:, 0, 1], np.linalg.det):
        assert stats.ks_2samp(statistic(draws), statistic(theirs)).pvalue > 1e-3
    mean = draws.mean(axis=0)
    assert np.abs(mean - 4 * 0.7 * np.eye(3)).max() < 0.1
    assert np.linalg.eigvalsh(draws).min() > 0
