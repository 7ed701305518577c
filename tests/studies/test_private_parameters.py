"""Protected parameters: sensitivities, privacy of all rounds, calibrations, rows, options."""

import math

import numpy as np
import pytest
from one_case import case_of, checked, measured, numbers, points_of, problem_of, setup_of, variant

from learning.releases import rescaled_for_all, spent_by_releases
from mechanisms import (
    Budget,
)
from mechanisms.privacy.gaussian_profile import GaussianProfile, mu_for
from mechanisms.query.box_query import box_query
from studies import private_parameters

SETTINGS = {
    "datasets": ["digits"],
    "mechanisms": ["laplace"],
    "epsilons": [100.0],
    "delta": 1e-5,
    "networks": {"digits": "small"},
    "rounds": {"digits": 2},
    "records": {"digits": 400},
    "test_records": {"digits": 150},
    "batch": {"digits": 16},
    "learning_rate": {"digits": 0.01},
    "trials": 2,
}
BUDGET = Budget(epsilon=20.0, delta=1e-5)


def setup(**changed):
    settings = checked("private_parameters", SETTINGS | changed)
    return setup_of("private_parameters", "digits", settings)


def measure(key, calibration="published", folder=None, **changed):
    return measured(case_of(setup(**changed), key, calibration, folder))


def calibrate(key, releases, calibration="published", size=50, **options):
    query = box_query((1, size), -1.0, 1.0)
    mechanism = variant(key).calibrate(query, BUDGET, **options)
    if calibration == "published":
        return mechanism
    return rescaled_for_all(mechanism, BUDGET, releases)


@pytest.mark.parametrize("releases", [1, 4])
def test_all_releases_of_gaussian_noise_are_composed_by_hand(releases):
    mechanism = calibrate("llagp", releases, layers=[30, 20])
    mus = [mu_for(share * 20.0, 1e-5 / 2) for share in (2 / 3, 1 / 3)]
    total = GaussianProfile(mu=math.sqrt(releases * np.sum(np.square(mus))))
    found = spent_by_releases(mechanism, releases, BUDGET)
    assert found["true_delta_upper"] == pytest.approx(total.delta(20.0).value, rel=1e-6)
    assert found["true_epsilon_upper"] == pytest.approx(total.epsilon(1e-5).value, rel=1e-6)


@pytest.mark.parametrize("releases", [1, 5])
@pytest.mark.parametrize("key", ["laplace", "gaussian", "idn", "tldp-l", "tldp-g", "dphsgd"])
def test_at_the_exact_calibration_all_releases_together_spend_the_budget(key, releases):
    mechanism = calibrate(key, releases, "exact")
    total = mechanism.profile().compose(releases)
    assert total.delta(20.0).upper == pytest.approx(1e-5, rel=1e-6)
    assert mechanism.calibration == "exact"


def test_user_public_and_test_records_are_disjoint():
    problem = problem_of(setup())
    assert [len(labels) for _, labels in problem.users] == [112, 112, 112]
    assert len(problem.public[1]) == 64 and len(problem.test[1]) == 150
    parts = [problem.public, problem.test, *problem.users]
    rows = [{row.tobytes() for row in inputs} for inputs, _ in parts]
    assert len(set().union(*rows)) == sum(map(len, rows)) == 64 + 150 + 336


def test_rows_of_a_point():
    values = measure("tldp-g")
    assert numbers(values, "records") == [336] and numbers(values, "rounds") == [2]
    # Delta / sqrt(2 epsilon) with Delta = 2.
    sigma = 2 / math.sqrt(200)
    assert numbers(values, "noise_deviation") == [pytest.approx(sigma)]
    assert numbers(values, "true_delta_upper") == [pytest.approx(1.0)]
    # In each of 2 rounds, 2410 components move by 2.
    total = GaussianProfile(mu=2 * math.sqrt(2 * 2410) / sigma)
    [upper] = numbers(values, "true_epsilon_upper")
    assert 1 <= upper / total.epsilon(1e-5).value < 1 + 1e-8
    for metric in ("f1", "accuracy"):
        own = [v for v in values if v.metric == metric]
        assert [v.trial for v in own] == [0, 1]
        assert own[0].value != own[1].value


def test_a_point_measured_twice_is_the_same_and_resumes_from_a_checkpoint(tmp_path):
    first = measure("tldp-g", folder=tmp_path)
    assert len(list(tmp_path.glob("*.checkpoint"))) == 2
    assert first == measure("tldp-g", folder=tmp_path) == measure("tldp-g")


def test_small_noise_learns_and_noise_of_the_same_true_privacy_does_not():
    longer = {"rounds": {"digits": 5}, "records": {}, "trials": 1}
    clean, published, exact = (
        np.mean(numbers(measure(key, calibration, **longer), "f1"))
        for key, calibration in (
            ("non-private", "published"),
            ("tldp-g", "published"),
            ("tldp-g", "exact"),
        )
    )
    assert clean > 0.85
    assert published > 0.75
    assert exact < 0.3


BY_RANGE = {
    "epsilons_by_range": {"digits": {"clip": [100.0], "stated": [100.0, 3000.0]}},
    "trials": 1,
    "rounds": {"digits": 1},
}


def at(key, epsilon, calibration="published"):
    """The values at one epsilon by range."""
    case = case_of(setup(**BY_RANGE), key, calibration)
    points = points_of(case)
    assert [point.epsilon for point in points] == [100.0, 3000.0]
    point = next(point for point in points if point.epsilon == epsilon)
    values = measured(case, point=point)
    ranges = dict.fromkeys(value.at["range"] for value in values if value.at)
    return {
        name: {value.metric: value.value for value in values if value.at == {"range": name}}
        for name in ranges
    }


@pytest.mark.parametrize("key", ["tldp-g", "gaussian", "dphsgd", "llagp"])
def test_noise_for_the_stated_range_is_128_times_as_large(key):
    both = at(key, 100.0)
    assert list(both) == ["clip", "stated"]
    ratio = both["stated"]["noise_deviation"] / both["clip"]["noise_deviation"]
    assert ratio == pytest.approx(128, rel=1e-9)
    # The privacy spent refers to the range of the parameters, so more noise spends less.
    assert both["stated"]["true_epsilon_upper"] < both["clip"]["true_epsilon_upper"] / 10


def test_true_epsilon_at_the_stated_range_refers_to_clipped_parameters():
    """TLDP-G's sigma is 256 / sqrt(2 epsilon), and each of the 2410 parameters moves by 2."""
    found = at("tldp-g", 3000.0)
    assert list(found) == ["stated"]
    sigma = 256 / math.sqrt(6000)
    assert found["stated"]["noise_deviation"] == pytest.approx(sigma)
    expected = GaussianProfile(mu=2 * math.sqrt(2410) / sigma).epsilon(1e-5).value
    assert found["stated"]["true_epsilon_upper"] == pytest.approx(expected, rel=1e-6)


def test_at_equal_true_privacy_one_range_stands_for_both():
    assert list(at("gaussian", 100.0, "exact")) == ["clip"]
    assert at("gaussian", 3000.0, "exact") == {}


@pytest.mark.parametrize("key", ["llagp", "dphsgd"])
def test_baselines_get_the_public_information_that_they_declare(key):
    case = case_of(setup(), key)
    problem = problem_of(case)
    (point,) = points_of(case)
    first, second = (
        private_parameters._mechanism(problem, "clip", case, point, trial) for trial in (0, 1)
    )
    if key == "llagp":
        assert first.settings["layers"] == [64 * 32 + 32, 32 * 10 + 10]
    else:
        thresholds = first.settings["thresholds"]
        assert thresholds.shape == (1, 2410) and 0 < thresholds.min() < thresholds.max() == 1
        assert not np.array_equal(thresholds, second.settings["thresholds"])
        # Thresholds from the config are not from public records.
        for own, metric in ({}, "public_records"), ({"thresholds": [[1.0] * 2410]}, "test_records"):
            values = private_parameters.PrivateParameters().measure(
                problem, case_of(setup(), key, **own), point
            )
            assert [next(values).metric for _ in range(2)] == ["records", metric]


def test_more_words_than_a_text_has_are_an_error():
    of_reviews = {
        "datasets": ["reviews"],
        "mechanisms": ["laplace"],
        "epsilons": [100.0],
        "delta": 1e-5,
        "networks": {"reviews": "small"},
        "rounds": {"reviews": 2},
        "words": {"reviews": 41},
    }
    settings = checked("private_parameters", of_reviews)
    with pytest.raises(ValueError, match=r"words must be at most 40, .* of reviews .*, got 41"):
        problem_of(setup_of("private_parameters", "reviews", settings))
