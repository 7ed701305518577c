"""Verdicts on imgm2022's learning studies, on made-up accuracies whose verdict is known."""

import numpy as np
import pytest

from paper_figures.imgm2022.features import features_order
from paper_figures.imgm2022.gradients import gradients_beside_features
from paper_figures.ledger import CONTRADICTED, NOT_REPRODUCED, NOT_RUN, REPRODUCED, CannotJudge

ALL = ("mnist", "cifar10", "svhn", "imdb")
AS_CLAIMED = {"imgm": 0.9, "gaussian-analytic": 0.8, "mvg": 0.12, "random-answer": 0.1}
METRICS = {"features": "test_accuracy", "gradients": "final_test_accuracy"}


def rows(levels, datasets=ALL, experiment="features", source="official", deviations=None, seed=0):
    """Accuracies of every mechanism at two epsilons, four trials, either calibration."""
    rng, found = np.random.default_rng(seed), []
    for dataset in datasets:
        for mechanism, level in levels.items():
            for epsilon in (0.1, 1.0):
                cell = {
                    "experiment": experiment,
                    "dataset": dataset,
                    "data_source": source,
                    "mechanism": mechanism,
                    "epsilon": epsilon,
                }
                noise = (deviations or {}).get(mechanism, level)
                found.append(cell | {"metric": "noise_deviation", "value": noise})
                for trial in range(4):
                    at = cell | {"metric": METRICS[experiment], "trial": trial}
                    found.append(at | {"value": level + 1e-3 * rng.standard_normal()})
                    found.append(at | {"value": 0.5, "calibration": "exact"})
    return found


def order(make_claim, make_results, levels=AS_CLAIMED, **more):
    claim = make_claim(datasets=list(ALL), margin=0.1)
    return features_order(claim, make_results(rows(levels, **more)))


def test_the_claimed_order_is_reproduced(make_claim, make_results):
    found = order(make_claim, make_results)
    assert found.verdict == REPRODUCED
    assert found.trials == 4
    assert "mnist 0.5, 0.5, 0.5" in found.detail


def test_one_noise_under_two_names_cannot_be_in_order(make_claim, make_results):
    same = {"imgm": 2.0, "gaussian-analytic": 2.0}
    assert order(make_claim, make_results, deviations=same).verdict == NOT_REPRODUCED


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"imgm": 0.7}, CONTRADICTED),
        ({"mvg": 0.3}, NOT_REPRODUCED),
        ({"mvg": 0.85}, CONTRADICTED),
    ],
)
def test_another_order_is_not(changes, expected, make_claim, make_results):
    assert order(make_claim, make_results, AS_CLAIMED | changes).verdict == expected


def test_what_holds_on_some_data_sets_is_not_run_on_the_others(make_claim, make_results):
    found = order(make_claim, make_results, datasets=("mnist",))
    assert found.verdict == NOT_RUN
    assert "Not run: cifar10, svhn and imdb." in found.detail


def test_bundled_data_decide_nothing(make_claim, make_results):
    with pytest.raises(CannotJudge, match="official"):
        order(make_claim, make_results, source="bundled")


def beside(make_claim, make_results, gradients, features, datasets=("mnist",)):
    claim = make_claim(datasets=["mnist", "cifar10"], mechanism="imgm")
    both = [
        *rows({"imgm": gradients}, datasets, "gradients", seed=1),
        *rows({"imgm": features}, ("mnist",), seed=2),
    ]
    return gradients_beside_features(claim, make_results(both))


@pytest.mark.parametrize(
    ("gradients", "features", "expected"),
    [(0.9, 0.8, REPRODUCED), (0.7, 0.8, CONTRADICTED), (0.8, 0.8, NOT_REPRODUCED)],
)
def test_gradients_beside_features(gradients, features, expected, make_claim, make_results):
    found = beside(make_claim, make_results, gradients, features)
    assert found.verdict == expected
    assert f"mnist {gradients:.3g} (published, epsilon 1)" in found.detail


def test_one_study_alone_decides_nothing(make_claim, make_results):
    with pytest.raises(CannotJudge, match="both studies"):
        beside(make_claim, make_results, 0.9, 0.8, datasets=("cifar10",))
