"""Verdicts on tldp2025's type II, on made-up scores whose verdict is known."""

import pytest

from paper_figures.ledger import NOT_REPRODUCED, REPRODUCED, CannotJudge
from paper_figures.tldp2025.private_features import feature_score, figure_2


@pytest.fixture
def features(study_rows):
    """Scores on features and, of TLDP, on images."""

    def make(changes=None, images=0.95, **more):
        scores = {"non-private": 0.9, "tldp-l": 0.78, "tldp-g": 0.8} | (changes or {})
        pictures = {"tldp-l": images, "tldp-g": images}
        return [
            *study_rows("private_features", "mnist", scores, **more),
            *study_rows("private_data", "mnist", pictures, classifier="logistic", **more),
        ]

    return make


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ({}, REPRODUCED),
        ({"images": 0.5}, NOT_REPRODUCED),
        ({"changes": {"tldp-g": 0.93}}, NOT_REPRODUCED),
    ],
)
def test_features_score_lower_than_images(given, verdict, make_claim, make_results, features):
    claim = make_claim(tolerance=0.1, stated={"mnist": 0.8})
    found = feature_score(claim, make_results(features(**given)))
    assert found.verdict == verdict
    assert "3,000 released records and an extractor trained on 3,000 public records" in found.detail


def test_an_extractor_with_imagenet_weights_is_named(make_claim, make_results, features):
    given = [row | {"value": 0} if row["metric"] == "public_records" else row for row in features()]
    found = feature_score(make_claim(tolerance=0.1, stated={"mnist": 0.8}), make_results(given))
    assert "an extractor trained on ImageNet;" in found.detail


def test_a_data_set_that_the_run_lacks_is_a_part_not_run(make_claim, make_results, features):
    claim = make_claim(tolerance=0.1, stated={"mnist": 0.8, "cifar10": 0.4})
    found = feature_score(claim, make_results(features()))
    assert found.verdict == "not run"
    assert "CIFAR-10: number not run" in found.detail and found.ours == "0.801 (mnist)"


def test_a_score_without_the_images_is_half_a_claim(make_claim, make_results, features):
    claim = make_claim(tolerance=0.1, stated={"mnist": 0.8})
    own = [row for row in features() if row["experiment"] == "private_features"]
    found = feature_score(claim, make_results(own))
    assert found.verdict == "not run" and "no images were released" in found.detail


def test_other_data_decide_nothing(make_claim, make_results, features):
    claim = make_claim(tolerance=0.1, stated={"mnist": 0.8})
    with pytest.raises(CannotJudge, match="no official data"):
        feature_score(claim, make_results(features(data_source="bundled")))


def test_figure_2_says_what_computes_the_features(make_results, study_rows):
    given = [
        row
        for name in ("mnist", "cifar10", "svhn")
        for row in study_rows("private_features", name, {"tldp-g": 0.8}, (10.0,), shape="1x400")
    ]
    for row in given:
        if row["metric"] == "public_records" and row["dataset"] != "mnist":
            row["value"] = 0.0
    accuracy = {"experiment": "private_features", "metric": "extractor_accuracy", "value": 0.94}
    drawn = figure_2(make_results([*given, accuracy | {"dataset": "mnist"}]))
    assert len(drawn.caption.split()) <= 70
    assert "Data: CIFAR-10, MNIST and SVHN (official data)" in drawn.caption
    assert "MNIST: an extractor trained on 3,000 public records (accuracy 0.94" in drawn.note
    assert "CIFAR-10: MobileNetV2 with ImageNet weights" in drawn.note
    assert "3,000 other records released as 400 features" in drawn.note
    assert "Delta = 256, at which all noise would be 128 times as large" in drawn.note
