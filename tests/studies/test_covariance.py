"""mvg2018 Experiment III: the residual sum of squares, shared draws, the paper's records."""

import numpy as np
import pytest

from tests.studies.mvg_studies import Echo, measure, reference, series


@pytest.fixture(autouse=True)
def forget_calls():
    Echo.calls.clear()


def test_without_noise_there_is_no_error():
    _, values = measure("covariance", "non-private")
    assert series(values, "rss").max() < 1e-12


def test_vanishing_noise_leaves_no_error(monkeypatch):
    monkeypatch.setattr(
        Echo, "answer", lambda self, v, rng: v + 1e-9 * rng.standard_normal(v.shape)
    )
    _, values = measure("covariance", Echo)
    assert 0 <= series(values, "rss").max() < 1e-8


def test_rss_by_hand(monkeypatch):
    """Records along the axes, of decreasing length: the components are the axes in that order."""
    order = np.random.default_rng(2).permutation(30)
    answer = np.zeros((30, 40))
    answer[order, np.arange(30)] = np.arange(30, 0, -1)
    monkeypatch.setattr(Echo, "answer", lambda self, v, rng: answer)
    problem, values = measure("covariance", Echo)
    exact = problem.exact @ problem.exact.T / 40
    eigenvalues = np.sort(np.linalg.eigvalsh(exact))[::-1]
    expected = sum((eigenvalues[i] - exact[order[i], order[i]]) ** 2 for i in range(30))
    assert series(values, "rss") == pytest.approx(expected, rel=1e-9)


def test_calibrations_share_their_draws():
    """Both calibrations of analytic Gaussian noise have the same scale, and the same normals."""
    _, published = measure("covariance", "gaussian-analytic")
    _, exact = measure("covariance", "gaussian-analytic", "exact")
    assert series(published, "rss") == pytest.approx(series(exact, "rss"), rel=1e-6)


def test_the_paper_s_data(official_data):
    problem, point = reference("covariance", "cardiotocography", official_data("cardiotocography"))
    assert (point.shape, point.epsilon, point.delta) == ((21, 2126), 1.0, 1 / 2126)
    assert problem.exact.shape == (21, 2126)
    assert np.abs(problem.exact).max() == 1
