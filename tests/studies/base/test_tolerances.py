"""Tolerances for values that another machine computes again."""

import pytest

from studies.base import ACCOUNTED, ACCOUNTED_DELTA, EXACT, SCORE, Tolerance
from studies.base.study import study_named


@pytest.mark.parametrize(
    ("tolerance", "before", "spread", "allowed"),
    [
        (EXACT, -2.0, 5.0, 2e-9),
        (EXACT, 0.0, 5.0, 0.0),
        (SCORE, 0.9, 0.02, 0.05),
        (ACCOUNTED, 2.0, 0.0, 2e-4),
        (ACCOUNTED_DELTA, 1e-5, 0.0, 2.000001e-8),
        (Tolerance(relative=0.1, absolute=1.0, spreads=2.0), 10.0, 0.5, 3.0),
    ],
)
def test_the_allowed_difference(tolerance, before, spread, allowed):
    assert tolerance.allowed(before, spread) == pytest.approx(allowed, rel=1e-4)


@pytest.mark.parametrize(
    "study",
    ["dpsgd", "federated_horizontal", "federated_vertical", "gradients", "features",
     "private_data", "private_features", "private_parameters"],
)  # fmt: skip
def test_studies_that_train_judge_scores_by_the_spread_of_trials(study):
    scores = [metric for metric in study_named(study).metrics if "accuracy" in metric.name]
    assert scores and all(metric.tolerance == SCORE for metric in scores)
