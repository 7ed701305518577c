"""Tolerances of values that another machine computes again."""

import pytest
from studies.base.tolerances import ACCOUNTED, ACCOUNTED_DELTA, EXACT, SCORE, Tolerance

from studies.base.study import all_studies


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
def test_what_is_allowed(tolerance, before, spread, allowed):
    assert tolerance.allowed(before, spread) == pytest.approx(allowed, rel=1e-4)


def test_studies_declare_tolerances_of_their_own_metrics():
    for study in all_studies().values():
        assert getattr(study, "TOLERANCES", {}).keys() <= study.METRICS.keys(), study.NAME


@pytest.mark.parametrize(
    "study",
    ["dpsgd", "federated_horizontal", "federated_vertical", "gradients", "features",
     "private_data", "private_features", "private_parameters"],
)  # fmt: skip
def test_studies_that_train_judge_scores_by_the_spread_of_trials(study):
    tolerances = all_studies()[study].TOLERANCES
    scores = [name for name in all_studies()[study].METRICS if "accuracy" in name]
    assert scores and all(tolerances[name] == SCORE for name in scores)
