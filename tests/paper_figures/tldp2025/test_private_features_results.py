"""Figure 2 of tldp2025 on made-up scores, and the noise at the Delta that it states."""

import pytest

from paper_figures.tldp2025.figures import figure_2
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
