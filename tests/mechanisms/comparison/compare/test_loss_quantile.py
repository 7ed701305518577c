"""Quantiles of the loss against closed forms and draws."""

import math

import numpy as np
import pytest
from compared_rows import SIGMA, histogram, row_of, rows_of
from scipy import stats

from mechanisms import Query


def test_quantiles_of_the_loss():
    """Of |n|^2 for two Gaussians, of one Laplace, and of ten thousand Laplace numbers."""
    pair = rows_of(Query(shape=(2,), l2_sensitivity=1.0), "gaussian-analytic")
    closed = row_of(pair, "gaussian-analytic", "exact")
    assert closed["rmse_quantile"] == pytest.approx(SIGMA * math.sqrt(math.log(100)), rel=1e-9)
    assert closed["quantile_from"] == "closed form"

    single = row_of(rows_of(histogram(1), "laplace"), "laplace", "published")
    assert single["quantile_from"] == "sampled"
    # The standard error of this quantile is 2% at 10,000 draws.
    assert single["rmse_quantile"] == pytest.approx(math.log(100), rel=0.08)

    many = row_of(rows_of(histogram(10_000), "laplace"), "laplace", "published")
    assert many["quantile_from"] == "cumulants"
    losses = np.random.default_rng(1).laplace(size=(2000, 10_000))
    drawn = np.quantile(np.vecdot(losses, losses), 0.99)
    assert many["rmse_quantile"] ** 2 * 10_000 == pytest.approx(drawn, rel=5e-3)


def test_expanded_quantiles_agree_with_closed_forms(monkeypatch):
    from mechanisms.comparison import loss_quantile
    from mechanisms.noise.gaussian_noise import IndependentGaussian
    from mechanisms.strategies.workload import Identity

    monkeypatch.setattr(IndependentGaussian, "loss_survival", lambda self, threshold: None)
    for cells in (801, 5000):
        noise = IndependentGaussian(shape=(cells,), sigma=1.0)
        found = loss_quantile.loss_quantile(noise, (Identity(cells),), 0.99)
        assert found.source == "cumulants"
        assert found.value == pytest.approx(stats.chi2(cells).ppf(0.99), rel=1e-5)
