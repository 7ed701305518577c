"""Training on protected features: what is shared, what is released, who sees what."""

import math

import numpy as np
import pytest

from experiments import private_features
from experiments.checks import ConfigError
from experiments.config import check_config
from experiments.experiment import Names, Variant
from experiments.learning.box import box_query
from experiments.learning.protection import protected
from mechanisms import Budget, get_mechanism

SETTINGS = {
    "datasets": ["digits"],
    "mechanisms": ["laplace"],
    "epsilons": [20.0],
    "delta": 1e-5,
    "extractor_epochs": {"digits": 20},
    "training_epochs": 60,
    "trials": 2,
}


def checked(changed):
    config = {"run": "test", "experiments": {"private_features": changed}}
    return check_config(config)["experiments"]["private_features"]


def names(mechanism="tldp-g"):
    return Names(base_seed=1, experiment="private_features", dataset="digits", mechanism=mechanism)


@pytest.fixture(scope="module")
def problem():
    return private_features.load(checked(SETTINGS), "digits", None, names())


def measured(problem, key, footing="published"):
    variant = Variant(name=key, mechanism=get_mechanism(key))
    (point,) = private_features.points(checked(SETTINGS), key, "digits")
    return list(private_features.measure(problem, variant, footing, point, names(key)))


def numbers(values, metric):
    return [value.value for value in values if value.metric == metric]


def test_features_lie_in_the_range_of_the_query(problem):
    split = problem.extracted.split
    for features in (split.train_inputs, split.test_inputs):
        assert features.shape[1:] == (32,)
        assert np.abs(features).max() <= 1
    assert np.abs(split.train_inputs).max() > 0.9
    assert problem.extracted.public + len(split.train_labels) == 1438


def test_rows_of_a_point(problem):
    values = measured(problem, "tldp-g")
    assert numbers(values, "records") == numbers(values, "public_records") == [719]
    assert numbers(values, "extractor_accuracy")[0] > 0.8
    # 32 components of variance Delta^2 / (2 epsilon), Delta = 2.
    assert numbers(values, "expected_loss") == [pytest.approx(32 * 4 / 40, rel=1e-6)]
    for error in numbers(values, "squared_error"):
        assert error == pytest.approx(3.2, rel=0.05)
    assert len(numbers(values, "f1")) == len(numbers(values, "accuracy")) == 2
    assert not np.array_equal(*numbers(values, "squared_error"))


def test_the_same_seeds_give_the_same_numbers(problem):
    first, second = (
        [(v.metric, v.value) for v in measured(problem, "tldp-l") if not v.timing] for _ in range(2)
    )
    assert first == second


def test_scores_without_noise_with_noise_and_with_none_of_the_data(problem):
    clean, noisy, exact, chance = (
        np.mean(numbers(measured(problem, *args), "f1"))
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


def test_a_mechanism_that_clips_is_released_with_its_clipping():
    """Adding what it samples would leave the clipping out, and the guarantee with it."""
    thresholds = [[0.5, 0.0]]
    mechanism = get_mechanism("dphsgd").calibrate(
        box_query((1, 2), -1.0, 1.0), Budget(epsilon=1e4, delta=1e-5), thresholds=thresholds
    )
    records = np.array([[1.0, 1.0], [-1.0, 0.2]], dtype=np.float32)
    released = protected(mechanism, records, np.random.default_rng(0))
    sigma = mechanism.parameters()["sigma"]
    assert sigma < 0.02
    assert released == pytest.approx(np.array([[0.5, 0], [-0.5, 0]]), abs=5 * sigma)


def test_eq_18():
    query = box_query((1, 400), -1.0, 1.0)
    assert query.l2_sensitivity == 2 * math.sqrt(400)
    assert query.shape == (1, 400)


def test_every_data_set_needs_epochs_of_its_extractor():
    with pytest.raises(ConfigError, match="extractor_epochs has no entry for digits"):
        checked(SETTINGS | {"extractor_epochs": {}})
