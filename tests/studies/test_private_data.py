"""Training on protected images: releases, public information, scores and classifiers."""

import dataclasses
import math

import numpy as np
import pytest
from one_case import case_of, checked, measured, numbers, problem_of, series, setup_of

from learning.releases import protected
from learning.training.classifiers import in_units, logistic
from mechanisms import Budget, get_mechanism
from mechanisms.query.box_query import box_query
from papers.tldp2025 import PIXELS
from runs.cells import cells_of
from runs.config import check_config
from studies import private_data
from studies.base import Point
from studies.private_data import SHAPES

SETTINGS = {
    "datasets": ["digits"],
    "epsilons": [1.0],
    "delta": 1e-5,
    "classifiers": {"digits": "logistic"},
    "records": {"digits": 400},
    "training_epochs": 10,
    "trials": 2,
    "device": "cpu",
}


def setup(**changed):
    return setup_of("private_data", "digits", checked("private_data", SETTINGS | changed))


@pytest.fixture(scope="module")
def problem():
    return problem_of(setup())


def image_query(shape):
    return box_query(shape, *PIXELS)


def measure(problem, key, epsilon=1.0, calibration="published", **options):
    point = Point(shape=SHAPES["digits"], epsilon=epsilon, delta=1e-5)
    return measured(case_of(setup(), key, calibration, **options), problem, point)


def test_channels_are_rows():
    images = np.arange(2 * 3 * 4 * 5, dtype=np.float32).reshape(2, 3, 4, 5)
    mechanism = get_mechanism("non-private").calibrate(image_query((12, 5)), Budget(epsilon=1.0))
    assert np.array_equal(protected(mechanism, images, np.random.default_rng(0)), images)


def test_without_noise_the_digits_are_learned_and_random_images_teach_nothing(problem):
    clean = series(measure(problem, "non-private"), "f1")
    assert (clean > 0.9).all() and clean[0] == clean[1]
    assert series(measure(problem, "random-answer"), "f1").max() < 0.3


def test_published_noise_learns_and_noise_of_the_same_true_privacy_does_not(problem):
    assert series(measure(problem, "tldp-g", epsilon=5.0), "f1").min() > 0.8
    assert series(measure(problem, "tldp-g", 5.0, "exact"), "f1").max() < 0.5


def test_weights_come_from_the_public_test_inputs(problem):
    """The weights reach the mechanism: with all weights one, no value is kept."""
    expected = problem.split.test_inputs.mean(axis=(0, 1))
    assert problem.mean_image == pytest.approx(expected, abs=1e-6)
    loss = {
        name: next(v.value for v in values if v.metric == "expected_loss")
        for name, values in {
            "public": measure(problem, "tldp-g-w", epsilon=0.01),
            "ones": measure(problem, "tldp-g-w", epsilon=0.01, weights=np.ones((8, 8)).tolist()),
        }.items()
    }
    plain = get_mechanism("tldp-g").calibrate(image_query((8, 8)), Budget(epsilon=0.01))
    p = math.exp(plain.parameters()["log_p"])
    assert loss["ones"] == pytest.approx(64 * 50.0)
    assert loss["public"] == pytest.approx(50.0 * np.sum(1 - p * (1 - expected)), rel=1e-6)


def test_public_information_is_declared_and_recorded(problem):
    """Options are not recognised by name: undeclared, `weights` keeps its default."""
    public = numbers(measure(problem, "tldp-g-w"), "public_records")
    assert public == [len(problem.split.test_labels)]
    assert numbers(measure(problem, "tldp-g"), "public_records") == []
    given = measure(problem, "tldp-g-w", weights=np.ones((8, 8)).tolist())
    assert numbers(given, "public_records") == []


def test_the_unit_of_the_pixels_does_not_matter(problem):
    data = in_units(problem.split)
    assert np.mean(np.square(data.train_inputs)) == pytest.approx(1.0, rel=1e-5)
    split = problem.split
    bytes_ = dataclasses.replace(
        split, train_inputs=split.train_inputs * 256, test_inputs=split.test_inputs * 256
    )
    assert np.array_equal(logistic(data), logistic(in_units(bytes_)))


def test_rows_say_which_classifier_was_trained(problem):
    other = setup(classifiers={"digits": "network"}, training_epochs=1)
    point = Point(shape=SHAPES["digits"], epsilon=1.0, delta=1e-5)
    values = measured(case_of(other, "tldp-g"), problem, point)
    scores = [value for value in values if value.metric in ("f1", "accuracy")]
    assert [dict(value.at) for value in scores] == [{"classifier": "network"}] * 4
    assert numbers(values, "epochs") == [1]
    assert numbers(measure(problem, "tldp-g"), "epochs") == []


def test_a_classifier_with_imagenet_weights(problem, monkeypatch):
    """The weights are fetched before the cell; the classifier is trained on released images."""
    own = SETTINGS | {"mechanisms": ["laplace"], "training_epochs": 1}
    own["classifiers"] = {"digits": "mobilenet_v2"}
    config = check_config({"run": "test", "studies": {"private_data": own}})
    assert {cell.reads for cell in cells_of(config)} == {("mobilenet_v2",)}
    settings = config["studies"]["private_data"]
    seen = []

    def guess(weights, data, classes, training, seed):
        seen.append((weights, data.train_inputs, classes, training.epochs))
        return data.test_labels

    monkeypatch.setattr(private_data.datasets, "load", lambda name, folder: {"read": name})
    monkeypatch.setattr(private_data, "fine_tuned", guess)
    case = case_of(setup_of("private_data", "digits", settings), "laplace")
    values = measured(case)
    scores = [v for v in values if v.metric == "f1"]
    assert [v.value for v in scores] == [1.0, 1.0]
    assert all(v.at["classifier"] == "mobilenet_v2" for v in scores)
    weights, images, classes, epochs = seen[0]
    assert (weights, classes, epochs) == ({"read": "mobilenet_v2"}, 10, 1)
    # The noise has scale 64 / epsilon; released images are scaled by their root mean square.
    assert np.sqrt(np.mean(np.square(images))) == pytest.approx(1, rel=1e-5)
    assert np.abs(images.mean()) < 0.1
