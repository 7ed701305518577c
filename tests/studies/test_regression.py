"""mvg2018 Experiment I: errors against scikit-learn, subspace, private directions and splits."""

import math

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from datasets import load as load_dataset
from mechanisms.catalogue.gram.added_noise import ModSulq
from mechanisms.privacy.gaussian_profile import GaussianProfile, mu_for
from papers.mvg2018 import record_covariance, scaled_records
from studies.base import case
from tests.studies.mvg_studies import (
    DirectionalEcho,
    Echo,
    measure,
    series,
)


class ClaimingEcho(DirectionalEcho):
    """An echo with a profile that meets every budget, which the exact calibration needs."""

    def profile(self):
        return GaussianProfile(mu=float(mu_for(self.budget.epsilon, self.budget.delta)))


def oracle_rmse(private, tests):
    """The error of KernelRidge with the tiny config's kernel; the target is the last column."""
    fitted = KernelRidge(kernel="rbf", gamma=0.1, alpha=1e-3).fit(private[:, :-1], private[:, -1])
    errors = fitted.predict(tests[:, :-1]) - tests[:, -1]
    return math.sqrt(np.mean(errors**2))


def test_errors_are_taken_on_the_test_records():
    problem, values = measure("regression", "non-private")
    dataset = load_dataset("diabetes")
    table = np.column_stack([dataset.features, dataset.targets])
    table = table / table.max()
    assert len({tuple(split) for split in problem.splits}) == 3
    for trial, found in enumerate(series(values, "rmse", kernel="rbf")):
        private, tests = table[problem.splits[trial, :40]], table[problem.splits[trial, 40:]]
        assert sorted(problem.splits[trial]) == list(range(442))
        assert found == pytest.approx(oracle_rmse(private, tests), rel=1e-8)
        zero = math.sqrt(np.mean(tests[:, -1] ** 2))
        assert series(values, "rmse_of_zero")[trial] == pytest.approx(zero, rel=1e-12)
        mean = math.sqrt(np.mean((tests[:, -1] - private[:, -1].mean()) ** 2))
        assert series(values, "rmse_of_mean")[trial] == pytest.approx(mean, rel=1e-12)
    without_noise = series(values, "rmse_without_noise", kernel="rbf", scaling="largest")
    assert without_noise == pytest.approx(series(values, "rmse", kernel="rbf"), rel=1e-9)


def test_the_subspace_has_the_right_features_and_the_target_alone():
    problem, values = measure("regression", Echo)
    bmi = load_dataset("diabetes").features[:, 2]
    scaled = problem.records["largest"]
    assert scaled[:, 2] == pytest.approx(bmi / 346, rel=1e-12)
    for trial, found in enumerate(series(values, "rmse", treatment="subspace", kernel="rbf")):
        split = problem.splits[trial]
        kept = scaled[:, [2, -1]]
        assert found == pytest.approx(oracle_rmse(kept[split[:40]], kept[split[40:]]), rel=1e-8)
    whole, subspace = (query for query, *_ in Echo.calls)
    assert whole == scaled_records(11, 40)
    assert subspace == scaled_records(2, 40)
    assert subspace.l2_sensitivity == 2 * math.sqrt(2)


def test_vanishing_noise_leaves_the_error_without_noise(monkeypatch):
    monkeypatch.setattr(
        Echo, "answer", lambda self, v, rng: v + 1e-9 * rng.standard_normal(v.shape)
    )
    _, noisy = measure("regression", Echo)
    _, exact = measure("regression", "non-private")
    for kernel in ("linear", "rbf"):
        found = series(noisy, "rmse", kernel=kernel)
        assert found == pytest.approx(series(exact, "rmse", kernel=kernel), rel=1e-5)


def test_noise_without_bound_predicts_zero(monkeypatch):
    """The kernel between test records and released records vanishes."""
    monkeypatch.setattr(Echo, "answer", lambda self, v, rng: 1e6 * rng.standard_normal(v.shape))
    _, values = measure("regression", Echo)
    _, exact = measure("regression", "non-private")
    assert series(values, "rmse", kernel="rbf").tolist() == series(exact, "rmse_of_zero").tolist()


def test_private_directions_split_the_budget(monkeypatch):
    """MOD-SULQ gets 20% of both numbers, and the release along its directions the rest."""
    spent, found = [], []
    calibrate, release = ModSulq.calibrate.__func__, ModSulq._release

    def watched_calibrate(cls, query, budget, calibration="published", **options):
        spent.append((query, budget, calibration))
        return calibrate(cls, query, budget, calibration, **options)

    def watched_release(self, value, rng):
        found.append((value, release(self, value, rng)))
        return found[-1][1]

    monkeypatch.setattr(ModSulq, "calibrate", classmethod(watched_calibrate))
    monkeypatch.setattr(ModSulq, "_release", watched_release)
    # An echo adds no noise, whatever its profile states, so the check would accuse it.
    monkeypatch.setattr(case, "require_consistent_in_study", lambda mechanism, seed, first: None)
    _, values = measure("regression", ClaimingEcho, "exact")
    assert series(values, "rmse", treatment="pca", share=0.95, kernel="linear").shape == (3,)
    private = [call for call in Echo.calls if call[3]["directions"] is not None]
    assert len(private) == len(found) == 2 * 3
    for query, budget, calibration in spent:
        assert (budget.epsilon, budget.delta) == pytest.approx((0.2, 0.2 / 40), rel=1e-12)
        assert query == record_covariance(11, 40)
        assert calibration == "exact"
    for (query, budget, calibration, options), (value, noisy) in zip(private, found, strict=True):
        assert (budget.epsilon, budget.delta) == pytest.approx((0.8, 0.8 / 40), rel=1e-12)
        assert calibration == "exact"
        assert query == scaled_records(11, 40)
        along = options["directions"]
        assert along.T @ along == pytest.approx(np.eye(11), abs=1e-12)
        # The first two columns span the two largest components of the noisy answer.
        top = np.linalg.eigvalsh(noisy)[-2:]
        assert np.diag(along.T @ noisy @ along)[:2] == pytest.approx(top[::-1], rel=1e-9)
        assert options["precision"][:2] == pytest.approx([sum(options["precision"][:2]) / 2] * 2)
        assert np.trace(value) <= 11
