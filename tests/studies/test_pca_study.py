"""The PCA study against brute force and closed forms."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from one_case import case_of, checked, measured, number, problem_of, series, setup_of
from scipy.optimize import minimize

from datasets.loaders import boids
from mechanisms import (
    Budget,
    get_mechanism,
)
from papers.r1smg2024 import covariance_query
from studies import pca
from studies.base import Point
from studies.base.study import study_named

SETTINGS = {
    "datasets": ["boids"],
    "epsilons": [0.4],
    "delta": 1e-7,
    "boids": 3,
    "groups": 120,
    "components": 4,
    "trials": 3,
}


STUDY = study_named("pca")


def setup(dataset="boids", **changes):
    return setup_of("pca", dataset, checked("pca", SETTINGS | {"datasets": [dataset]} | changes))


@pytest.fixture(scope="module")
def problem():
    return problem_of(setup())


def measure(problem, key, epsilon=0.4, calibration="published", **options):
    size = problem.features.shape[1]
    point = Point(shape=(size, size), epsilon=epsilon, delta=1e-7)
    return measured(case_of(setup(), key, calibration, **options), problem, point)


def test_replacing_one_record_moves_the_covariance_by_at_most_the_sensitivity(problem):
    records, size = problem.features.shape
    query = covariance_query(records, size)
    rng = np.random.default_rng(0)
    extremes = np.sign(rng.standard_normal((200, size)))
    changes = [
        np.linalg.norm(np.outer(x, x) - np.outer(y, y)) / records
        for x, y in zip(extremes[::2], extremes[1::2], strict=True)
    ]
    assert max(changes) <= query.l2_sensitivity
    # Two orthogonal records of signs attain it.
    x, y = np.ones(size), np.tile([1.0, -1.0], size // 2)
    attained = np.linalg.norm(np.outer(x, x) - np.outer(y, y)) / records
    assert attained == pytest.approx(query.l2_sensitivity, rel=1e-12)
    assert np.linalg.norm(x / math.sqrt(records)) == pytest.approx(query.record_bound)
    assert np.linalg.norm(np.outer(x, x)) == query.frobenius_bound
    assert np.linalg.norm(problem.covariance) <= query.frobenius_bound


def test_metrics_against_brute_force(problem):
    values = measure(problem, "gaussian")
    covariance = sum(np.outer(x, x) for x in problem.features) / len(problem.features)
    eigenvalues = np.sort(np.linalg.eigvalsh(covariance))[::-1]
    point = Point(shape=(36, 36), epsilon=0.4, delta=1e-7)
    mechanism = get_mechanism("gaussian").calibrate(
        covariance_query(120, 36), Budget(epsilon=0.4, delta=1e-7)
    )
    for trial in range(3):
        rng = np.random.default_rng(case_of(setup(), "gaussian").seed(point, trial))
        released = mechanism.release(problem.covariance, rng)
        noisy, vectors = np.linalg.eigh((released + released.T) / 2)
        order = np.argsort(noisy)[::-1]
        total, leading = 0.0, 0.0
        for rank, index in enumerate(order):
            v = vectors[:, index]
            deviation = eigenvalues[rank] - v @ covariance @ v
            total += abs(deviation)
            leading += deviation if rank < 4 else 0.0
        assert series(values, "total_deviation")[trial] == pytest.approx(total, rel=1e-9)
        assert series(values, "leading_deviation")[trial] == pytest.approx(leading, rel=1e-9)
    assert number(values, "variance") == pytest.approx(np.trace(covariance))
    assert number(values, "leading_variance") == pytest.approx(eigenvalues[:4].sum())
    assert (number(values, "records"), number(values, "components")) == (120, 4)


def test_accuracy_belongs_to_the_minimum_of_the_stated_objective(problem):
    """A general minimiser of |w|^2 / 2 plus squared hinge losses, with a penalised bias, agrees."""
    eigenvectors = np.linalg.eigh(problem.covariance)[1][:, ::-1][:, :4]
    projected, training = problem.features @ eigenvectors, problem.training
    points = np.column_stack([projected, np.ones(len(projected))])
    signs = 2 * problem.labels - 1

    def objective(weights):
        lacking = np.maximum(1 - signs[training] * (points[training] @ weights), 0)
        slope = weights - 2 * (lacking * signs[training]) @ points[training]
        return weights @ weights / 2 + lacking @ lacking, slope

    weights = minimize(objective, np.zeros(5), jac=True, options={"gtol": 1e-8}).x
    expected = np.mean((points[~training] @ weights > 0) == (problem.labels[~training] == 1))
    assert set(series(measure(problem, "non-private"), "accuracy")) == {expected}
    assert expected > 0.7


def test_ppca_gets_the_components_and_tells_of_its_chains(problem):
    values = measure(problem, "ppca", epsilon=1.6)
    assert not [v for v in values if v.metric == "total_deviation"]
    assert len(series(values, "leading_deviation")) == 3
    assert series(values, "r_hat").max() < 1.01
    assert series(values, "sweeps").min() >= 128
    point = Point(shape=(36, 36), epsilon=1.6, delta=1e-7)
    assert {v.seed for v in values if v.metric == "r_hat"} == {
        case_of(setup(), "ppca").seed(point, t) for t in range(3)
    }
    fewer = measure(problem, "ppca", epsilon=1.6, components=1)
    assert series(fewer, "leading_deviation").mean() != series(values, "leading_deviation").mean()


def test_swarm_is_scaled_and_its_incomplete_record_left_out(monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    features = rng.uniform(-5, 40, (11, 2400))
    features[:, 7] = 3.0
    features[10, 0] = np.nan
    labels = np.arange(11) % 2
    data = SimpleNamespace(features=features, targets=labels)
    monkeypatch.setattr(pca, "load_dataset", lambda name, folder: data)
    problem = problem_of(setup("swarm"), tmp_path)
    assert (len(problem.features), problem.dropped) == (10, 1)
    assert problem.labels.tolist() == labels[:10].tolist()
    assert np.all(problem.features[:, 7] == 0)
    others = np.delete(problem.features, 7, axis=1)
    assert np.all(others.min(axis=0) == -1) and np.all(others.max(axis=0) == 1)
    # The map is affine in every column.
    column, whole = problem.features[:, 3], features[:10, 3]
    assert np.corrcoef(column, whole)[0, 1] == pytest.approx(1)


def test_boids_are_used_as_they_are(problem):
    data = boids.load(seed=setup().shared_seed("boids"), groups=120, boids=3)
    assert np.array_equal(problem.features, data.features)
    assert (problem.training.sum(), problem.dropped) == (72, 0)
