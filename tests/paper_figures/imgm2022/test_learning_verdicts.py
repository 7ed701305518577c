"""Verdicts on imgm2022's learning studies, on made-up accuracies whose verdict is known."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from claims.ledger import CannotJudge
from claims.verdicts import (
    CONFIRMED,
    CONTRADICTED,
    INCONCLUSIVE,
    NOT_FOUND,
    PARTLY,
)
from learning.networks.cut_network import CUTS
from paper_figures.imgm2022.accuracies import CUT_NETWORKS, GRADIENT_NETWORKS
from paper_figures.imgm2022.features import features_order, imgm_and_analytic
from paper_figures.imgm2022.gradients import gradients_beside_features
from studies import gradients

ALL = ("mnist", "cifar10", "svhn", "imdb")
AS_CLAIMED = {"imgm": 0.8, "gaussian-analytic": 0.8, "mvg": 0.12}
CONTROLS = {"random-answer": 0.1, "non-private": 0.95}
FEATURES = {"mnist": 400, "cifar10": 512, "svhn": 1024, "imdb": 150}
METRICS = {"features": "test_accuracy", "gradients": "final_test_accuracy"}


def rows(levels, datasets=ALL, study="features", source="official", trials=10, seed=0):
    """Accuracies of every mechanism at two epsilons, either calibration."""
    rng, found = np.random.default_rng(seed), []
    for dataset in datasets:
        for mechanism, level in (CONTROLS | levels).items():
            for epsilon in (0.1, 1.0):
                cell = {
                    "study": study,
                    "dataset": dataset,
                    "data_source": source,
                    "mechanism": mechanism,
                    "epsilon": epsilon,
                    "shape": f"256x{FEATURES[dataset]}",
                }
                found.append(cell | {"metric": "records", "value": 100.0})
                for trial in range(trials):
                    at = cell | {"metric": METRICS[study], "trial": trial}
                    found.append(at | {"value": level + 1e-3 * rng.standard_normal()})
                    found.append(at | {"value": 0.5, "calibration": "exact"})
    return found


def order(make_claim, make_results, levels=AS_CLAIMED, **more):
    claim = replace(make_claim(datasets=list(ALL), random=0.1), margin=0.01)
    return features_order(claim, make_results(rows(levels, **more)))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, CONFIRMED),
        ({"mvg": 0.3}, PARTLY),
        ({"mvg": 0.85}, CONTRADICTED),
        ({"mvg": 0.105, "imgm": 0.1}, PARTLY),
    ],
)
def test_imgm_above_mvg(changes, expected, make_claim, make_results):
    found = order(make_claim, make_results, AS_CLAIMED | changes)
    assert found.verdict == expected
    assert found.sizes.trials == 10 and found.sizes.records == 100


def test_the_networks_of_a_run_follow_from_its_features(make_claim, make_results):
    found = order(make_claim, make_results)
    assert found.sizes.network == "LeNet, VGG-16, AlexNet, BiLSTM"
    of_another_run = [
        row | {"shape": row["shape"].replace("512", "256")} for row in rows(AS_CLAIMED)
    ]
    claim = replace(make_claim(datasets=["cifar10"], random=0.1), margin=0.01)
    assert features_order(claim, make_results(of_another_run)).sizes.network == "small CNN"


def test_every_network_for_official_data_has_a_title():
    official = {name for name, source in gradients.DATASETS.items() if source == "official"}
    assert set(GRADIENT_NETWORKS) == official
    config = yaml.safe_load(Path("config/paper.yaml").read_text())
    chosen = config["studies"]["features"]["networks"].values()
    assert set(chosen) <= set(CUT_NETWORKS) <= set(CUTS)
    widths = [cut.features for cut in CUTS.values()]
    assert len(widths) == len(set(widths)), "features tell the networks apart"


def test_nothing_learned_is_no_signal(make_claim, make_results):
    found = order(make_claim, make_results, AS_CLAIMED | {"mvg": 0.1, "imgm": 0.1})
    assert found.parts[0].verdict == INCONCLUSIVE
    assert "no signal" in found.parts[0].reason


def test_what_was_not_run_is_told(make_claim, make_results):
    found = order(make_claim, make_results, datasets=("mnist",))
    assert found.verdict == CONFIRMED
    assert "Not run: CIFAR-10, SVHN and IMDB." in found.detail


def test_bundled_data_decide_nothing(make_claim, make_results):
    with pytest.raises(CannotJudge, match="official"):
        order(make_claim, make_results, source="bundled")


def test_one_noise_under_two_names_cannot_be_in_order(make_claim, make_results):
    claim = make_claim(
        1e-9, shapes={"mnist": [4, 5]}, epsilons=[0.1, 10], delta=1e-5, says="IMGM ahead"
    )
    found = imgm_and_analytic(claim, make_results(rows(AS_CLAIMED)))
    assert found.verdict == CONTRADICTED
    assert "over 10 trials" in found.detail
    bundled = make_results(rows(AS_CLAIMED, source="bundled"))
    assert imgm_and_analytic(claim, bundled).verdict == CONTRADICTED


def beside(make_claim, make_results, gradients, features, datasets=("mnist",), trials=10):
    claim = make_claim(datasets=["mnist", "cifar10"], mechanism="imgm", decided_by="")
    both = [
        *rows({"imgm": gradients}, datasets, "gradients", trials=trials, seed=1),
        *rows({"imgm": features}, ("mnist",), trials=trials, seed=2),
    ]
    return gradients_beside_features(replace(claim, margin=0.01), make_results(both))


@pytest.mark.parametrize(
    ("gradients", "features", "trials", "expected"),
    [
        (0.9, 0.8, 10, CONFIRMED),
        (0.7, 0.8, 10, CONTRADICTED),
        (0.8, 0.8, 10, NOT_FOUND),
        (0.8, 0.8, 3, INCONCLUSIVE),
        (0.1, 0.09, 10, INCONCLUSIVE),
    ],
)
def test_gradients_beside_features(gradients, features, trials, expected, make_claim, make_results):
    found = beside(make_claim, make_results, gradients, features, trials=trials)
    assert found.verdict == expected
    assert "(published, epsilon 1)" in found.detail


def test_one_study_alone_decides_nothing(make_claim, make_results):
    with pytest.raises(CannotJudge, match="both studies"):
        beside(make_claim, make_results, 0.9, 0.8, datasets=("cifar10",))
