"""Private features: sensitivity, the claimed amplification, releases and rows."""

import math

import numpy as np
import pytest
from one_case import case_of, checked, measured, number, setup_of

from mechanisms import Budget, get_mechanism
from studies import features

SETTINGS = {
    "datasets": ["digits"],
    "mechanisms": ["imgm"],
    "epsilons": [1.0],
    "delta": 1e-5,
    "networks": {"digits": "perceptron"},
    "batch": 64,
    "public_share": 0.25,
    "records": {"digits": 400},
    "extractor_epochs": {"digits": 5},
    "training_epochs": {"digits": 3},
    "trials": 2,
}


def settings_of(**changes):
    return checked("features", SETTINGS | changes)


def measure(mechanism, calibration="published", **changes):
    setup = setup_of("features", "digits", settings_of(**changes))
    return measured(case_of(setup, mechanism, calibration))


def test_sensitivities_are_attained_by_one_record():
    query = features.batch_query((5, 9))
    change = np.zeros((5, 9))
    change[2] = 2.0
    assert np.linalg.norm(change) == pytest.approx(query.l2_sensitivity)
    assert np.abs(change).sum() == query.l1_sensitivity
    assert np.abs(change).max() == query.linf_sensitivity
    assert np.linalg.norm(np.ones((5, 9))) == pytest.approx(query.frobenius_bound)
    assert query.adjacency == "replace"


def test_the_claimed_amplification_does_not_exist():
    values = measure("imgm")
    rate = 64 / 300
    assert number(values, "sampling_rate") == pytest.approx(rate)
    assert number(values, "batch_epsilon") == pytest.approx(1 / rate)
    assert number(values, "batch_delta") == pytest.approx(1e-5 / rate)
    # The release spends as much as one batch, far more than (1, 1e-5).
    assert number(values, "true_delta_lower") > 0.1
    assert number(values, "true_epsilon_upper") > 1 / rate


def test_at_the_exact_calibration_imgm_spends_its_budget():
    values = measure("imgm", "exact")
    assert number(values, "batch_epsilon") == 1
    assert number(values, "true_delta_upper") == pytest.approx(1e-5, rel=1e-6)
    assert number(values, "true_epsilon_upper") == pytest.approx(1, rel=1e-6)
    mu = 0.26805112
    assert number(values, "noise_deviation") == pytest.approx(2 * math.sqrt(32) / mu, rel=1e-6)


def test_rows_of_a_point():
    values = measure("non-private", training_epochs={"digits": 40})
    assert number(values, "records") == 300 and number(values, "public_records") == 100
    found = [v for v in values if v.metric == "test_accuracy"]
    assert [v.trial for v in found] == [0, 1]
    assert min(v.value for v in found) > 0.5
    random = [v.value for v in measure("random-answer") if v.metric == "test_accuracy"]
    assert max(random) < 0.4


def test_the_last_batch_is_padded_and_cut():
    query = features.batch_query((4, 3))
    mechanism = get_mechanism("non-private").calibrate(query, Budget(epsilon=1.0, delta=1e-5))
    rows = np.random.default_rng(0).uniform(-1, 1, (10, 3)).astype(np.float32)
    released = features.released_in_batches(mechanism, rows, np.random.default_rng(1))
    assert np.array_equal(released, rows) and released.dtype == np.float32
