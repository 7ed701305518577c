"""Verdicts on tldp2025's type II, on made-up scores whose verdict is known."""

from dataclasses import replace

import pytest

from claims.ledger import CannotJudge
from claims.verdicts import (
    CONFIRMED,
    CONTRADICTED,
    DEPENDS,
    INCONCLUSIVE,
    NOT_RUN,
    PARTLY,
)
from paper_figures.tldp2025.private_features import (
    IMAGENET,
    feature_score,
    feature_variants,
    figure_2,
)
from paper_figures.tldp2025.theorems import tensor_mechanism


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


def judged(make_claim, make_results, given, stated=None):
    claim = replace(make_claim(tolerance=0.1, stated=stated or {"mnist": 0.8}), margin=0.01)
    return feature_score(claim, make_results(given))


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ({}, CONFIRMED),
        ({"images": 0.5}, PARTLY),
        ({"changes": {"tldp-g": 0.93}}, PARTLY),
        ({"changes": {"tldp-g": 0.97}}, CONTRADICTED),
        # Images score higher, but neither network could reach the paper's score.
        ({"changes": {"tldp-g": 0.4, "tldp-l": 0.4, "non-private": 0.5}}, PARTLY),
    ],
)
def test_features_score_lower_than_images(given, verdict, make_claim, make_results, features):
    found = judged(make_claim, make_results, features(**given))
    own, papers, wide = found.outcomes
    assert (own.verdict, found.verdict) == (verdict, INCONCLUSIVE)
    assert papers.verdict == wide.verdict == NOT_RUN
    assert wide.choice == "Delta = 256, of Table 3"
    assert "3,000 released records" in found.detail


def test_the_noise_at_the_stated_delta_is_that_of_a_smaller_epsilon():
    for epsilon in (0.5, 50.0):
        here = tensor_mechanism("tldp-l", epsilon, 2.0, 400).parameters()
        there = tensor_mechanism("tldp-l", 128 * epsilon, 256.0, 400).parameters()
        assert there["b"] == pytest.approx(here["b"])
        # No value is kept either way.
        assert max(here["log_p"], there["log_p"]) < -100


def test_an_extractor_with_imagenet_weights_is_the_papers(make_claim, make_results, features):
    given = [row | {"value": 0} if row["metric"] == "public_records" else row for row in features()]
    found = judged(make_claim, make_results, given)
    settled, wide = found.outcomes
    assert settled.choice == f"{IMAGENET}, Delta = 2"
    # The other Delta of the paper stays open.
    assert (settled.verdict, wide.verdict, found.verdict) == (CONFIRMED, NOT_RUN, INCONCLUSIVE)


def test_a_data_set_that_the_run_lacks_is_left_out(make_claim, make_results, features):
    stated = {"mnist": 0.8, "cifar10": 0.4}
    found = judged(make_claim, make_results, features(), stated)
    assert len(found.outcomes[0].parts) == 2 and "CIFAR-10" not in found.ours


def test_a_score_without_the_images_is_half_a_claim(make_claim, make_results, features):
    own = [row for row in features() if row["study"] == "private_features"]
    parts = judged(make_claim, make_results, own).outcomes[0].parts
    assert [part.verdict for part in parts] == [CONFIRMED, NOT_RUN]


LOW, HIGH = (0.5, 2.0), (10.0, 50.0)


@pytest.mark.parametrize(
    ("ahead", "behind", "verdicts", "verdict"),
    [
        ((*LOW, *HIGH), (), [CONFIRMED, CONFIRMED], CONFIRMED),
        (LOW, HIGH, [CONFIRMED, CONTRADICTED], DEPENDS),
        ((), (*LOW, *HIGH), [CONTRADICTED, CONTRADICTED], CONTRADICTED),
        # Ahead at one of two budgets is not most of them.
        ((0.5, *HIGH), (2.0,), [CONTRADICTED, CONFIRMED], DEPENDS),
        # Four trials leave a small difference open.
        (LOW, (), [CONFIRMED, INCONCLUSIVE], DEPENDS),
    ],
)
def test_one_variant_above_the_other_at_most_budgets(
    ahead, behind, verdicts, verdict, make_claim, make_results, study_rows
):
    gaussian = dict.fromkeys((*LOW, *HIGH), 0.781)
    gaussian |= dict.fromkeys(ahead, 0.85) | dict.fromkeys(behind, 0.7)
    scores = {"tldp-l": 0.78, "tldp-g": gaussian, "random-answer": 0.1}
    claim = replace(make_claim(crossing=4.0), margin=0.01)
    given = study_rows("private_features", "mnist", scores, epsilons=(*LOW, *HIGH))
    found = feature_variants(claim, make_results(given))
    assert [outcome.verdict for outcome in found.outcomes] == verdicts
    assert found.verdict == verdict


def test_budgets_on_one_side_alone_say_nothing_of_the_other(make_claim, make_results, study_rows):
    scores = {"tldp-l": 0.78, "tldp-g": 0.85, "random-answer": 0.1}
    given = study_rows("private_features", "mnist", scores, epsilons=HIGH)
    found = feature_variants(replace(make_claim(crossing=4.0), margin=0.01), make_results(given))
    assert [outcome.verdict for outcome in found.outcomes] == [NOT_RUN, CONFIRMED]
    assert found.verdict == INCONCLUSIVE


def test_other_data_decide_nothing(make_claim, make_results, features):
    with pytest.raises(CannotJudge, match="no official data"):
        judged(make_claim, make_results, features(data_source="bundled"))


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
    assert len(drawn.caption.split()) <= 70
    assert "Data: CIFAR-10, MNIST and SVHN (official data)" in drawn.caption
    assert "MNIST: an extractor trained on 3,000 public records (accuracy 0.94" in drawn.note
    assert "CIFAR-10: MobileNetV2 with ImageNet weights" in drawn.note
    assert "3,000 other records released as 400 features" in drawn.note
    assert "Delta = 256, at which all noise would be 128 times as large" in drawn.note
