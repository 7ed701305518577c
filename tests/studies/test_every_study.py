"""Contract tests of every study of the tiny run: repetition, seeds, settings by data set."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import yaml
from one_case import case_of, checked, measured, points_of, problem_of, setup_of

from mechanisms import Unsupported
from studies.base.settings import ConfigError

TINY = yaml.safe_load((Path(__file__).resolve().parents[2] / "config/tiny.yaml").read_text())
STUDIES = TINY["studies"]
# The grids of mechanisms that are not measured here are left out.
FEW = {"trials": 2, "epsilons_for": {}, "map_epsilons": {"default": [0.5]}}
KEYS = {"common_queries": "laplace", "private_parameters": "tldp-g"}


def settings_of(name, **changed):
    own = STUDIES[name] | {key: value for key, value in FEW.items() if key in STUDIES[name]}
    return checked(name, own | {"mechanisms": [KEYS.get(name, "gaussian")]} | changed)


def case(name, calibration="published", key=None):
    dataset = STUDIES[name]["datasets"][0]
    setup = setup_of(name, dataset, settings_of(name))
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
    words = rf"{key} has no entry for {STUDIES[name]['datasets'][0]}"
    with pytest.raises(ConfigError, match=words):
        settings_of(name, **{key: {}})
