"""Tolerances for values that another machine computes again."""

import pytest

from studies.base import SCORE
from studies.base.study import study_named


@pytest.mark.parametrize(
    "study",
    ["dpsgd", "federated_horizontal", "federated_vertical", "gradients", "features",
     "private_data", "private_features", "private_parameters"],
)  # fmt: skip
def test_studies_that_train_judge_scores_by_the_spread_of_trials(study):
    scores = [metric for metric in study_named(study).metrics if "accuracy" in metric.name]
    assert scores and all(metric.tolerance == SCORE for metric in scores)
