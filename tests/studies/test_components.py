"""mvg2018 Experiments II and III: errors of components, sensitivity and records."""

import math

import numpy as np
import pytest

from datasets import load as load_dataset
from mechanisms import Unsupported
from tests.studies.mvg_studies import Echo, measure, reference, series


@pytest.mark.parametrize(("study", "error"), [("first_component", "error"), ("covariance", "rss")])
def test_vanishing_noise_leaves_no_error(study, error, monkeypatch):
    monkeypatch.setattr(
        Echo, "answer", lambda self, v, rng: v + 1e-9 * rng.standard_normal(v.shape)
    )
    _, values = measure(study, Echo)
    assert 0 < series(values, error).max() < 1e-8


def test_the_error_of_a_component_by_hand(monkeypatch):
    """An answer with eigenvector e_2 captures C_22; its antisymmetric part has no effect."""
    skew = np.zeros((13, 13))
    skew[0, 3], skew[3, 0] = 100.0, -100.0
    answer = skew + np.diag([0.0, 0.0, 5.0, *[-9.0] * 10])
    monkeypatch.setattr(Echo, "answer", lambda self, v, rng: answer)
    problem, values = measure("first_component", Echo)
    largest = np.linalg.eigvalsh(problem)[-1]
    assert series(values, "error") == pytest.approx(largest - problem[2, 2], rel=1e-12)


def test_a_random_answer_knows_no_component():
    """The mean error of a random direction is lambda_1 - tr C / m."""
    problem, values = measure("first_component", "random-answer", trials=400)
    errors = series(values, "error")
    expected = np.linalg.eigvalsh(problem)[-1] - np.trace(problem) / 13
    assert errors.mean() == pytest.approx(expected, abs=4 * errors.std() / 20)


def test_the_exact_calibration_uses_what_one_record_can_change():
    measure("first_component", Echo)
    # An echo has no profile, but the study still asks for the exact calibration.
    with pytest.raises(Unsupported, match="no exact profile"):
        measure("first_component", Echo, "exact")
    for query, *_ in Echo.calls:
        assert query.l2_sensitivity == pytest.approx(2 * 13 / 40)
        assert query.reach == pytest.approx(math.sqrt(2) * 13 / 40)


def test_rss_by_hand(monkeypatch):
    """With records along the axes, of decreasing length, the components are the axes in order."""
    order = np.random.default_rng(2).permutation(30)
    answer = np.zeros((30, 40))
    answer[order, np.arange(30)] = np.arange(30, 0, -1)
    monkeypatch.setattr(Echo, "answer", lambda self, v, rng: answer)
    problem, values = measure("covariance", Echo)
    exact = problem @ problem.T / 40
    eigenvalues = np.sort(np.linalg.eigvalsh(exact))[::-1]
    expected = sum((eigenvalues[i] - exact[order[i], order[i]]) ** 2 for i in range(30))
    assert series(values, "rss") == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("study", "dataset", "shape", "records"),
    [
        ("regression", "liver_disorders", (6, 248), 248),
        ("first_component", "movement_aal", (4, 4), 2021),
        ("covariance", "cardiotocography", (21, 2126), 2126),
    ],
)
def test_the_paper_s_data(official_data, study, dataset, shape, records):
    problem, point = reference(study, dataset, official_data(dataset))
    assert (point.shape, point.epsilon, point.delta) == (shape, 1.0, 1 / records)
    exact = problem.private(0) if study == "regression" else problem
    assert exact.shape == shape
    assert np.abs(exact).max() <= 1


def test_the_paper_s_records_are_whole_sequences(official_data):
    sequences = load_dataset("movement_aal", official_data("movement_aal"))
    assert sum(map(len, sequences[:80])) == 2021
