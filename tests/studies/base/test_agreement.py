"""Means are compared with stored closed forms, and values with those of another machine."""

import numpy as np
import pytest

from mechanisms import Inconsistent
from studies.base import SCORE
from studies.base.agreement import require_agreement, require_mean
from studies.base.case import Value
from studies.base.study import all_studies, study_named

STUDY = all_studies()["linear_queries"]
TRIALS = 20


def rows(stated, draws, workload="prefix"):
    at = {"workload": workload}
    yield Value("expected_mse", stated, at=at)
    for trial, draw in enumerate(draws):
        yield Value("mse", draw, trial=trial, at=at)


def draws(seed=0):
    return np.random.default_rng(seed).normal(1.0, 0.1, TRIALS)


def test_a_closed_form_that_is_four_times_the_error_is_refused_for_the_workload_that_has_it():
    right = list(rows(1.0, draws(0), "identity"))
    require_agreement(STUDY, right + list(rows(1.0, draws(1))))
    with pytest.raises(Inconsistent, match=r"the mean of 20 draws is .* and expected_mse states 4"):
        require_agreement(STUDY, right + list(rows(4.0, draws(1))))


def test_few_trials_and_trials_without_a_closed_form_are_not_compared():
    require_agreement(STUDY, rows(4.0, draws()[:9]))
    require_agreement(STUDY, list(rows(4.0, draws()))[1:])


def test_a_mean_of_a_thousand_draws_at_ten_percent_is_refused():
    with pytest.raises(Inconsistent, match=r"3205.9 \+- 8.6, and expected_loss states 3562.9"):
        require_mean(3205.9, 8.6, 1000, 3562.9, "expected_loss")


@pytest.mark.parametrize("trials", [10, 20, 100])
def test_correct_chi_squared_draws_are_not_accused(trials):
    """R1SMG's loss, a multiple of one squared normal number, is the most skewed of the suite."""
    losses = np.random.default_rng(trials).standard_normal((20_000, trials)) ** 2
    means = losses.mean(axis=1)
    errors = losses.std(axis=1, ddof=1) / np.sqrt(trials)
    for mean, error in zip(means, errors, strict=True):
        require_mean(mean, error, trials, 1.0, "expected_loss")


def test_an_exact_mean_without_spread_agrees_within_rounding():
    require_mean(1.0, 0.0, 10, 1.0 + 1e-12, "expected_loss")
    with pytest.raises(Inconsistent):
        require_mean(1.0, 0.0, 10, 1.001, "expected_loss")


@pytest.mark.parametrize(
    "study",
    ["dpsgd", "federated_horizontal", "federated_vertical", "gradients", "features",
     "private_data", "private_features", "private_parameters"],
)  # fmt: skip
def test_studies_that_train_judge_scores_by_the_spread_of_trials(study):
    scores = [metric for metric in study_named(study).metrics if "accuracy" in metric.name]
    assert scores and all(metric.tolerance == SCORE for metric in scores)
