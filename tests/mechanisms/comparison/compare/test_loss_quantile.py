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
    assert closed["quantile_from"] == "closed form" and closed["rmse_quantile_error"] == 0.0

    single = row_of(rows_of(histogram(1), "laplace"), "laplace", "published")
    assert single["quantile_from"] == "sampled"
    # At 10,000 draws: sqrt(p (1 - p) / n) over the density, 1 - p, and the quantile, log 100.
    error = math.sqrt(0.99 / 0.01 / 10_000) / math.log(100)
    assert single["rmse_quantile_error"] == pytest.approx(error, rel=0.4)
    assert single["rmse_quantile"] == pytest.approx(math.log(100), rel=4 * error)

    many = row_of(rows_of(histogram(10_000), "laplace"), "laplace", "published")
    assert many["quantile_from"] == "cumulants"
    losses = np.random.default_rng(1).laplace(size=(2000, 10_000))
    drawn = np.quantile(np.vecdot(losses, losses), 0.99)
    assert many["rmse_quantile"] ** 2 * 10_000 == pytest.approx(drawn, rel=5e-3)


def test_equal_laws_have_draws_of_their_own():
    """The error of one sampled quantile says nothing of that of another."""
    first, second = (
        row_of(rows_of(histogram(1), key), key, calibration)
        for key, calibration in (("laplace", "published"), ("laplace", "exact"))
    )
    assert first["rmse"] == pytest.approx(second["rmse"], rel=1e-4)
    assert first["rmse_quantile"] != second["rmse_quantile"]
    spread = 5 * first["rmse_quantile_error"]
    assert first["rmse_quantile"] == pytest.approx(second["rmse_quantile"], rel=spread)


def test_the_error_of_a_sampled_quantile_covers_the_truth():
    from mechanisms.comparison.loss_quantile import loss_quantile
    from mechanisms.noise.laplace_noise import IndependentLaplace
    from mechanisms.strategies.workload import Identity

    noise, truth = IndependentLaplace(shape=(1,), scale=1.0), math.log(100) ** 2
    found = [loss_quantile(noise, (Identity(1),), 0.99, seed) for seed in range(100)]
    scores = np.array([(each.value - truth) / (each.value * each.error) for each in found])
    assert 0.7 < scores.std() < 1.4 and abs(scores.mean()) < 0.5


def test_expanded_quantiles_agree_with_closed_forms(monkeypatch):
    from mechanisms.comparison import loss_quantile
    from mechanisms.noise.gaussian_noise import IndependentGaussian
    from mechanisms.strategies.workload import Identity

    monkeypatch.setattr(IndependentGaussian, "squared_norm_survival", lambda self, threshold: None)
    for cells in (801, 5000):
        noise = IndependentGaussian(shape=(cells,), sigma=1.0)
        found = loss_quantile.loss_quantile(noise, (Identity(cells),), 0.99)
        assert found.source == "cumulants"
        assert found.value == pytest.approx(stats.chi2(cells).ppf(0.99), rel=1e-5)
