"""Contract tests of every study of the tiny run: repetition, seeds, shapes and bad settings."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import yaml
from one_case import case_of, checked, measured, points_of, problem_of, setup_of

from mechanisms import Unsupported
from runs.config import read_config
from studies.base.settings import ConfigError
from studies.base.study import study_named
from studies.base.treatments import feature_names

CONFIGS = Path(__file__).resolve().parents[2] / "config"
STUDIES = yaml.safe_load((CONFIGS / "tiny.yaml").read_text())["studies"]
# The grids of mechanisms that are not measured here are left out.
FEW = {"trials": 2, "epsilons_for": {}, "map_epsilons": {"default": [0.5]}}
KEYS = {"common_queries": "laplace", "private_parameters": "tldp-g"}


def settings_of(name, **changed):
    own = STUDIES[name] | {key: value for key, value in FEW.items() if key in STUDIES[name]}
    return checked(name, own | {"mechanisms": [KEYS.get(name, "gaussian")]} | changed)


def case(name, calibration="published", key=None, **changed):
    dataset = STUDIES[name]["datasets"][0]
    setup = setup_of(name, dataset, settings_of(name, **changed))
    return case_of(setup, key or KEYS.get(name, "gaussian"), calibration)


def values_of(own, problem):
    point = points_of(own)[0]
    return [value for value in measured(own, problem, point) if not value.timing]


def arrays(problem):
    """The arrays of a problem by name."""
    found = vars(problem) if hasattr(problem, "__dict__") else {}
    return {name: value for name, value in found.items() if isinstance(value, np.ndarray)}


@pytest.mark.parametrize("name", STUDIES)
def test_a_point_measured_again_is_the_same_and_calibrations_share_their_seeds(name):
    own = case(name)
    problem, again = problem_of(own), problem_of(own)
    for key, value in arrays(problem).items():
        assert np.array_equal(value, arrays(again)[key]), key
    first, second = values_of(own, problem), values_of(own, again)
    assert first == second != []
    keys = [(value.metric, value.trial, tuple(value.at.items())) for value in first]
    assert len(set(keys)) == len(keys)
    assert all(np.isfinite(value.value) for value in first)
    try:
        exact = values_of(case(name, "exact"), problem)
    except Unsupported:
        return
    seeds = [
        {(value.metric, value.trial): value.seed for value in values} for values in (first, exact)
    ]
    shared = seeds[0].keys() & seeds[1].keys()
    assert shared and all(seeds[0][key] == seeds[1][key] for key in shared)


# The error of each study that has one.
ERRORS = {
    "count_query": "loss",
    "linear_queries": "mse",
    "pca": "total_deviation",
    "first_component": "error",
    "covariance": "rss",
}


@pytest.mark.parametrize("name", ERRORS)
def test_without_noise_there_is_no_error(name):
    own = case(name, key="non-private")
    values = values_of(own, problem_of(own))
    errors = [value.value for value in values if value.metric == ERRORS[name]]
    assert errors
    assert np.abs(errors).max() < 1e-12


def by_dataset():
    """(study, key) of all settings of the tiny run that have an entry for each data set."""
    for name, settings in STUDIES.items():
        for key, value in settings.items():
            if isinstance(value, Mapping) and set(value) & set(settings["datasets"]):
                yield name, key


# Settings that have a default for data sets without an entry.
OPTIONAL = {"records"}


@pytest.mark.parametrize(("name", "key"), list(by_dataset()))
def test_a_setting_by_data_set_has_an_entry_for_each(name, key):
    if key in OPTIONAL:
        assert settings_of(name, **{key: {}})
        return
    words = rf"{key}: no entry for {STUDIES[name]['datasets'][0]}"
    with pytest.raises(ConfigError, match=words):
        settings_of(name, **{key: {}})


BAD_SETTINGS = [
    (
        "dpsgd",
        {"budgets": {"mnist": [1]}},
        r"budgets\.mnist: unknown name; allowed here are digits",
    ),
    ("dpsgd", {"delta": 1e-10}, "delta: Input should be greater than 0.0000000001"),
    ("dpsgd", {"device": "gpu"}, "device: Input should be 'cpu' or 'auto'"),
    ("pca", {"components": 37}, "at most 36, the features of boids, got 37"),
    (
        "pca",
        {"components": 2401, "datasets": ["swarm"]},
        "at most 2400, the features of swarm, got 2401",
    ),
    (
        "federated_horizontal",
        {"networks": {"breast_cancer": "small"}},
        "breast_cancer: must be paper, got 'small'",
    ),
    (
        "federated_horizontal",
        {"records": {"breast_cancer": 4}},
        r"records\.breast_cancer: must be at least 5, .*, got 4",
    ),
    (
        "noise_only",
        {"svd_shapes": ["7x7"]},
        r"svd_shapes: must be among gradient_shapes, with .*, got '7x7'",
    ),
    (
        "private_features",
        {"extractors": {"digits": "vgg16"}},
        r"'own' or 'mobilenet_v2', got 'vgg16'",
    ),
    (
        "private_parameters",
        {"networks": {"digits": "paper"}},
        r"networks\.digits: must be small, got 'paper'",
    ),
    ("private_parameters", {"networks": {"digits": "huge"}}, "'tiny', 'small' or 'paper'"),
    (
        "private_parameters",
        {"epsilons_by_range": {"digits": {"narrow": [1]}}},
        "'clip' or 'stated'",
    ),
    (
        "private_parameters",
        {"records": {"digits": 66}},
        r"records\.digits: Input should be greater than or equal to 67",
    ),
    (
        "private_parameters",
        {"words": {"digits": 5}},
        r"words\.digits: must be left out: it has no texts, got 5",
    ),
    (
        "covariance",
        {"directions": {"breast_cancer": {"worst": ["worst radios"]}}},
        "did you mean 'worst radius'",
    ),
    (
        "covariance",
        {"directions": {"breast_cancer": {"iid": ["worst radius"]}}},
        "breast_cancer: must be sets of features with names other than iid, .*, got 'iid'",
    ),
    ("covariance", {"shares": [1.0]}, r"shares\.0: Input should be less than 1"),
    ("covariance", {"trials": 1}, "trials: Input should be greater than or equal to 2"),
    ("regression", {"scaling": "rows"}, "'largest' or 'columns'"),
    ("regression", {"scaling": "columns"}, "no entry for the scaling columns"),
    ("regression", {"kernels": {"rbf": {"largest": {"gamma": 1}}}}, "ridge: Field required"),
    ("regression", {"kernels": {"rows": {}}}, r"kernels\.rows"),
    (
        "regression",
        {"kernels": {"rbf": {"largest": {"ridge": 1}}}},
        "gamma: must be a number > 0",
    ),
    (
        "regression",
        {"directions": {"diabetes": {"bmi": ["bmi"]}}},
        "must be a list with progression and a feature",
    ),
    (
        "first_component",
        {"directions": {"wine": {"all": list(feature_names("wine"))}}},
        "must be a list that leaves some feature out",
    ),
]


@pytest.mark.parametrize(("name", "changed", "words"), BAD_SETTINGS)
def test_bad_settings_are_named(name, changed, words):
    with pytest.raises(ConfigError, match=words):
        settings_of(name, **changed)


@pytest.mark.parametrize(
    ("name", "changed", "words"),
    [
        ("dpsgd", {"records": {"digits": 20}}, r"^batch must be at most .*, 20, got 32; lower it"),
        (
            "gradients",
            {"records": {"digits": 20}},
            r"lots\.digits must be at most .*, 20, got 32; lower it",
        ),
        (
            "federated_horizontal",
            {"tests": {"breast_cancer": 114}},
            "tests must be at most 113, .*, got 114",
        ),
        (
            "federated_vertical",
            {"tests": {"breast_cancer": 114}},
            "tests must be at most 113, .*, got 114",
        ),
        (
            "federated_vertical",
            {"batch": {"breast_cancer": 457}},
            r"batch\.breast_cancer must be at most .*, 456, got 457",
        ),
        (
            "private_parameters",
            {"test_records": {"digits": 360}},
            r"test_records must be at most 359, .*, got 360",
        ),
        *((name, {"records": 1000}, "records") for name in ("regression", "covariance")),
        ("first_component", {"records": 1000}, "records"),
    ],
)
def test_more_than_the_data_hold_is_refused(name, changed, words):
    own = case(name, **changed)
    with pytest.raises(ValueError, match=words):
        values_of(own, problem_of(own))


# The shapes of points that the papers' sizes make, by study and data set.
SHAPES = {
    "dpsgd": {"mnist": (1, 26_010), "cifar10": (1, 122_570)},
    "gradients": {"mnist": (1, 61_706), "cora": (1, 1433 * 16 + 16 + 16 * 7 + 7)},
    # Those of Table 1 but for the batch of SVHN.
    "features": {
        "mnist": (256, 400),
        "cifar10": (256, 512),
        "svhn": (256, 1024),
        "imdb": (256, 150),
    },
    "federated_horizontal": {
        "mnist": (401, 120),
        "cifar10": (4608, 512),
        "imdb": (20002, 128),
        "adult": (106, 12),
    },
    "federated_vertical": {
        "adult": (2, 10),
        "purchase100": (100, 64),
        "location30": (100, 128),
        "texas100": (30, 64),
    },
}


@pytest.mark.parametrize("name", SHAPES)
def test_points_have_the_shapes_of_the_papers(name):
    settings = read_config(CONFIGS / "paper.yaml")["studies"][name]
    points = {d: study_named(name).points(settings, "gaussian", d) for d in SHAPES[name]}
    assert {dataset: found[0].shape for dataset, found in points.items()} == SHAPES[name]
