"""Verdicts on tldp2025's types II and III, on made-up scores whose verdict is known."""

import numpy as np
import pytest

from paper_figures.ledger import CONTRADICTED, NOT_REPRODUCED, REPRODUCED, CannotJudge
from paper_figures.tldp2025.private_models_claims import (
    comparable_range,
    feature_score,
    parameter_order,
    two_groups,
)

OTHERS = ["laplace", "gaussian", "mvg-sqrt", "idn"]
LOW = dict.fromkeys((*OTHERS, "dphsgd", "random-answer"), 0.35)
HIGH = {"non-private": 0.85, "tldp-l": 0.8, "tldp-g": 0.82, "llagp": 0.76}


def rows(experiment, dataset, scores, epsilons=(10.0, 500.0), metric="f1", **more):
    """Four trials with a little spread of every score; exact ones are 0.3."""
    rng = np.random.default_rng(1)
    found = []
    for mechanism, score in scores.items():
        for epsilon in epsilons:
            cell = {
                "paper": "tldp2025",
                "experiment": experiment,
                "dataset": dataset,
                "mechanism": mechanism,
                "epsilon": epsilon,
                "delta": 1e-5,
            } | more
            for fact in ("records", "public_records", "rounds"):
                found.append(cell | {"metric": fact, "value": 3000.0})
            own = score[epsilon] if isinstance(score, dict) else score
            for trial in range(4):
                value = {"metric": metric, "trial": trial}
                found.append(cell | value | {"value": own + rng.normal(0, 0.002)})
                found.append(cell | value | {"value": 0.3, "calibration": "exact"})
    return found


def parameters(dataset="imdb", changes=None, **more):
    return rows("private_parameters", dataset, LOW | HIGH | (changes or {}), **more)


GROUPS = [
    {"f1": 0.8, "mechanisms": ["tldp-l", "tldp-g", "llagp"]},
    {"f1": 0.4, "mechanisms": OTHERS},
]


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [({}, REPRODUCED), ({"llagp": 0.35}, NOT_REPRODUCED), ({"idn": 0.7}, NOT_REPRODUCED)],
)
def test_two_groups(changes, verdict, make_claim, make_results):
    claim = make_claim(tolerance=0.2, dataset="imdb", stated=GROUPS)
    found = two_groups(claim, make_results(parameters(changes=changes)))
    assert found.verdict == verdict
    assert found.trials == 4
    assert ("none." in found.detail) == (verdict == REPRODUCED)
    assert "without noise 0.85" in found.detail and "reaches 0.3 at most" in found.detail


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"tldp-l": 0.35, "tldp-g": {10.0: 0.36, 500.0: 0.8}, "llagp": 0.35}, REPRODUCED),
        # Somebody learns below already, and nobody above.
        ({"tldp-l": 0.35, "tldp-g": 0.8}, NOT_REPRODUCED),
        ({"tldp-l": 0.35, "tldp-g": 0.35, "llagp": 0.35}, NOT_REPRODUCED),
    ],
)
def test_range_in_which_somebody_learns(changes, verdict, make_claim, make_results):
    claim = make_claim(above=100, margin=0.1)
    assert comparable_range(claim, make_results(parameters(changes=changes))).verdict == verdict


def test_a_range_needs_budgets_on_both_sides(make_claim, make_results):
    claim = make_claim(above=100, margin=0.1)
    with pytest.raises(CannotJudge, match="both sides of 100"):
        comparable_range(claim, make_results(parameters(epsilons=(200.0, 500.0))))


ORDER = {"exception": "cifar10", "good_on": "darknet2020", "others": OTHERS, "margin": 0.15}


@pytest.mark.parametrize(
    ("changes", "verdict", "words"),
    [
        ({}, "not run", "DPHSGD good not run"),
        ({"llagp": 0.35}, NOT_REPRODUCED, "LLAGP second not reproduced"),
        ({"llagp": 0.9}, CONTRADICTED, "TLDP best contradicted"),
        ({"dphsgd": 0.7}, NOT_REPRODUCED, "DPHSGD low not reproduced"),
    ],
)
def test_order_without_the_data_of_one_part(changes, verdict, words, make_claim, make_results):
    found = parameter_order(make_claim(**ORDER), make_results(parameters(changes=changes)))
    assert found.verdict == verdict
    assert words in found.detail


def test_order_with_all_data(make_claim, make_results):
    both = parameters() + parameters("darknet2020", {"dphsgd": 0.7})
    assert parameter_order(make_claim(**ORDER), make_results(both)).verdict == REPRODUCED
    neither = parameters() + parameters("darknet2020")
    found = parameter_order(make_claim(**ORDER), make_results(neither))
    assert found.verdict == NOT_REPRODUCED and "DPHSGD good not reproduced" in found.detail
    # On CIFAR-10 LLAGP need not be second.
    third = both + parameters("cifar10", {"llagp": 0.3})
    assert parameter_order(make_claim(**ORDER), make_results(third)).verdict == REPRODUCED


def features(changes=None, images=0.95, **more):
    scores = {"non-private": 0.9, "tldp-l": 0.78, "tldp-g": 0.8} | (changes or {})
    found = rows("private_features", "mnist", scores, **more)
    pictures = {"tldp-l": images, "tldp-g": images}
    return found + rows("private_data", "mnist", pictures, metric="f1_logistic", **more)


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ({}, REPRODUCED),
        ({"images": 0.5}, NOT_REPRODUCED),
        ({"changes": {"tldp-g": 0.93}}, NOT_REPRODUCED),
    ],
)
def test_features_score_lower_than_images(given, verdict, make_claim, make_results):
    claim = make_claim(tolerance=0.1, stated={"mnist": 0.8})
    found = feature_score(claim, make_results(features(**given)))
    assert found.verdict == verdict
    assert "3,000 released records and an extractor trained on 3,000 public records" in found.detail


def test_an_extractor_with_imagenet_weights_is_named(make_claim, make_results):
    given = [row | {"value": 0} if row["metric"] == "public_records" else row for row in features()]
    found = feature_score(make_claim(tolerance=0.1, stated={"mnist": 0.8}), make_results(given))
    assert "an extractor trained on ImageNet;" in found.detail


def test_a_data_set_that_the_run_lacks_is_a_part_not_run(make_claim, make_results):
    claim = make_claim(tolerance=0.1, stated={"mnist": 0.8, "cifar10": 0.4})
    found = feature_score(claim, make_results(features()))
    assert found.verdict == "not run"
    assert "cifar10: number not run" in found.detail and found.ours == "0.801 (mnist)"


def test_a_score_without_the_images_is_half_a_claim(make_claim, make_results):
    claim = make_claim(tolerance=0.1, stated={"mnist": 0.8})
    own = [row for row in features() if row["experiment"] == "private_features"]
    found = feature_score(claim, make_results(own))
    assert found.verdict == "not run" and "no images were released" in found.detail


def test_other_data_decide_nothing(make_claim, make_results):
    source = {"data_source": "bundled"}
    with pytest.raises(CannotJudge):
        feature_score(
            make_claim(tolerance=0.1, stated={"mnist": 0.8}), make_results(features(**source))
        )
    claim = make_claim(above=100, margin=0.1)
    for measure, given in (
        (comparable_range, claim),
        (parameter_order, make_claim(**ORDER)),
        (two_groups, make_claim(tolerance=0.2, dataset="imdb", stated=GROUPS)),
    ):
        with pytest.raises(CannotJudge):
            measure(given, make_results(parameters(**source)))
