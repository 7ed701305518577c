"""Training on protected features: releases, scores and extractors."""

import numpy as np
import pytest
from one_case import case_of, checked, measured, numbers, points_of, problem_of, setup_of
from torchvision.models import mobilenet_v2

from learning.records.labelled import Split
from runs.cells import cells_of, sources_of
from runs.config import check_config
from studies import private_features

SETTINGS = {
    "datasets": ["digits"],
    "mechanisms": ["laplace"],
    "epsilons": [20.0],
    "delta": 1e-5,
    "extractor_epochs": {"digits": 20},
    "training_epochs": 20,
    "trials": 2,
}


def setup(dataset="digits", **changed):
    return setup_of("private_features", dataset, checked("private_features", SETTINGS | changed))


@pytest.fixture(scope="module")
def problem():
    return problem_of(setup())


def measure(problem, key, calibration="published", **changed):
    return measured(case_of(setup(**changed), key, calibration), problem)


def test_features_lie_in_the_range_of_the_query(problem):
    split = problem.split
    for features in (split.train_inputs, split.test_inputs):
        assert features.shape[1:] == (32,)
        assert np.abs(features).max() <= 1
    assert np.abs(split.train_inputs).max() > 0.9
    assert problem.public + len(split.train_labels) == 1438


def test_rows_of_a_point(problem):
    values = measure(problem, "tldp-g")
    assert numbers(values, "records") == numbers(values, "public_records") == [719]
    assert numbers(values, "epochs") == [setup().settings.training_epochs]
    assert numbers(values, "extractor_accuracy")[0] > 0.8
    # 32 components of variance Delta^2 / (2 epsilon) with Delta = 2.
    assert numbers(values, "expected_loss") == [pytest.approx(32 * 4 / 40, rel=1e-6)]
    for error in numbers(values, "squared_error"):
        assert error == pytest.approx(3.2, rel=0.05)
    assert len(numbers(values, "f1")) == len(numbers(values, "accuracy")) == 2
    assert not np.array_equal(*numbers(values, "squared_error"))


def test_scores_without_noise_with_noise_and_without_data(problem):
    clean, noisy, exact, chance = (
        numbers(measure(problem, *args, trials=1, training_epochs=60), "f1")[0]
        for args in (
            ("non-private",),
            ("tldp-g",),
            ("tldp-g", "exact"),
            ("random-answer",),
        )
    )
    assert clean > 0.8
    assert 0.6 < noisy < clean
    assert chance < 0.2
    assert exact < noisy - 0.2


IMAGENET = {"datasets": ["mnist"], "extractors": {"mnist": "mobilenet_v2"}, "extractor_epochs": {}}


def test_an_extractor_with_imagenet_weights(monkeypatch):
    weights = mobilenet_v2(weights=None).state_dict()
    loaded = []
    monkeypatch.setattr(
        private_features.datasets, "load", lambda name, folder: loaded.append(name) or weights
    )
    rng = np.random.default_rng(0)
    images, labels = rng.random((24, 1, 28, 28), np.float32), rng.integers(0, 10, 24)
    split = Split(
        train_inputs=images[:20],
        train_labels=labels[:20],
        test_inputs=images[20:],
        test_labels=labels[20:],
    )
    monkeypatch.setattr(private_features.labelled, "load", lambda *args: split)
    case = case_of(setup("mnist", **IMAGENET), "gaussian")
    (point,) = points_of(case)
    assert point.shape == (1, 1280)
    problem = problem_of(case)
    assert loaded == ["mobilenet_v2"]
    values = measured(case, problem)
    assert numbers(values, "records") == [20] and numbers(values, "public_records") == [0]
    assert numbers(values, "extractor_accuracy") == []
    assert len(numbers(values, "f1")) == 2


def test_imagenet_weights_are_fetched_before_a_cell_that_reads_them():
    """Their loader is part of the code that the cell depends on."""
    config = check_config({"run": "test", "studies": {"private_features": SETTINGS | IMAGENET}})
    for cell in cells_of(config):
        assert cell.reads == ("mnist", "mobilenet_v2")
        assert "datasets/loaders/mobilenet_v2.py" in sources_of(cell)
