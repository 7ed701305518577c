"""Figure 2 of tldp2025 on made-up scores, and the noise at the Delta that it states."""

import pytest

from paper_figures.tldp2025.figures import figure_2
from paper_figures.tldp2025.released_verdicts import feature_score
from paper_figures.tldp2025.theorems import tensor_mechanism


def test_the_noise_at_the_stated_delta_is_that_of_a_smaller_epsilon():
    for epsilon in (0.5, 50.0):
        here = tensor_mechanism("tldp-l", epsilon, 2.0, 400).parameters()
        there = tensor_mechanism("tldp-l", 128 * epsilon, 256.0, 400).parameters()
        assert there["b"] == pytest.approx(here["b"])
        # Neither keeps any value.
        assert max(here["log_p"], there["log_p"]) < -100


def test_figure_2_says_what_computes_the_features(make_results, study_rows):
    given = [
        row
        for name in ("mnist", "cifar10", "svhn")
        for row in study_rows("private_features", name, {"tldp-g": 0.8}, (10.0,), shape="1x400")
    ]
    for row in given:
        if row["metric"] == "public_records" and row["dataset"] != "mnist":
            row["value"] = 0.0
    accuracy = {"study": "private_features", "metric": "extractor_accuracy", "value": 0.94}
    drawn = figure_2(make_results([*given, accuracy | {"dataset": "mnist"}]))
    assert "MNIST: an extractor trained on 3,000 public records (accuracy 0.94" in drawn.note
    assert "CIFAR-10: MobileNetV2 with ImageNet weights" in drawn.note
    assert "3,000 other records released as 400 features" in drawn.note
    assert "Delta = 256, at which all noise would be 128 times as large" in drawn.note


@pytest.mark.parametrize(
    ("of_images", "named"),
    [
        ({"mnist": 0.9, "cifar10": 0.7}, "features of CIFAR-10 than on images"),
        ({"mnist": 0.7, "cifar10": 0.7}, "features of MNIST and CIFAR-10 than on images"),
        ({"mnist": 0.9, "cifar10": 0.9}, ""),
    ],
)
def test_the_reason_names_the_data_sets_where_features_are_ahead(
    make_results, study_rows, of_images, named
):
    given = []
    for name, score in of_images.items():
        levels = {"non-private": 0.9, "random-answer": 0.1}
        features = levels | {"tldp-l": 0.8, "tldp-g": 0.8}
        images = levels | {"tldp-l": score, "tldp-g": score}
        given += study_rows("private_features", name, features, (10.0,), shape="1x400")
        kind = {"shape": "28x28", "classifier": "logistic"}
        given += study_rows("private_data", name, images, (10.0,), **kind)
    stated = {"mnist": 0.8, "cifar10": 0.4}
    found = feature_score(make_results(given), stated=stated, tolerance=0.1, margin=0.01)
    assert named in found.because
    assert ("than on images" in found.because) == bool(named)
