"""Figures 1 and 2 and Table 5 of tldp2025, on made-up rows with a known answer."""

import pytest

from claims.judges import CannotJudge
from claims.verdicts import CONFIRMED, CONTRADICTED, INCONCLUSIVE, NOT_RUN
from paper_figures.tldp2025.released_verdicts import (
    others_low,
    trained_score,
    variant_order,
)
from paper_figures.tldp2025.scores import TLDP, figure_2, table_5
from paper_figures.tldp2025.theorems import tensor_mechanism


def test_table_5_has_the_stated_error_over_the_measured_one(make_results):
    """For an image of 64 pixels, Laplace noise has scale 64 and TLDP-G noise variance 1/2."""
    cell = {"study": "private_data", "dataset": "digits", "shape": "8x8", "epsilon": 1.0}
    errors = {"laplace": 64 * 2 * 64.0**2, "tldp-g": 64 / 2, "llagp": 1.0}
    given = [
        cell | {"mechanism": key, "metric": metric, "value": value}
        for key, value in errors.items()
        for metric in ("expected_loss", "squared_error")
    ]
    table = table_5(make_results(given)).data.set_index("mechanism")
    assert list(table.index) == ["laplace", "tldp-g"]
    assert table.loc["laplace", "stated / measured"] == pytest.approx(1.0)
    # The paper states 1 / (2 epsilon) in place of its root.
    assert table.loc["tldp-g", "stated error"] == pytest.approx(4.0, rel=1e-6)
    assert table.loc["tldp-g", "measured"] == pytest.approx(32**0.5)


KIND = {"classifier": "network", "shape": "28x28"}
VARIANTS = {"crossing": 4.0, "slight": 0.1, "negligible": 1e-9, "margin": 0.01}


@pytest.mark.parametrize(
    ("ahead", "verdict"),
    [
        ({0.5: 0.04, 0.9: 0.04}, CONFIRMED),
        ({0.5: 0.04, 0.9: 0.4}, INCONCLUSIVE),
        ({0.5: 0.4, 0.9: 0.4}, CONTRADICTED),
    ],
)
def test_a_slight_lead_is_decided_where_all_epsilons_agree(
    make_results, study_rows, ahead, verdict
):
    """The paper does not state its epsilons."""
    made = [
        row
        for epsilon, lead in ahead.items()
        for row in study_rows(
            "private_data", "mnist", {"tldp-g": 0.8, "tldp-l": 0.8 - lead}, (epsilon,), **KIND
        )
    ]
    found = variant_order(make_results(made), epsilons=list(ahead), **VARIANTS)
    below, above = found.outcomes
    assert below.parts[1].verdict == verdict
    assert [part.verdict for part in above.parts] == [NOT_RUN]


def test_which_variant_is_ahead_is_judged_on_both_sides_of_equal_noise(make_results, study_rows):
    """TLDP-G is ahead at 0.5 and behind at 50 on both data sets; 4 is on neither side."""
    given = [
        row
        for dataset in ("mnist", "cifar10")
        for epsilon, other in ((0.5, 0.7), (4.0, 0.8), (50.0, 0.9))
        for row in study_rows(
            "private_data", dataset, {"tldp-g": 0.8, "tldp-l": other}, (epsilon,), **KIND
        )
    ]
    found = variant_order(make_results(given), epsilons=[0.5], **VARIANTS)
    below, above = (outcome.parts[0] for outcome in found.outcomes)
    assert (below.verdict, above.verdict) == (CONFIRMED, CONTRADICTED)
    # It is e^-385.75.
    assert "e^-385 at most" in found.parts[0].found
    assert "CIFAR-10 at 50" in above.found
    assert "at 4" not in above.found
    assert "MNIST at 0.5" in below.found
    assert [found.sizes.dataset, *(each.dataset for each in found.other_sizes)] == [
        "cifar10",
        "mnist",
    ]


def scores_of(study_rows, dataset, scores):
    """Rows of both TLDP methods with these scores by epsilon, and of the controls."""
    controls = {"non-private": 0.72, "random-answer": 0.1}
    return [
        row
        for epsilon, score in scores.items()
        for row in study_rows(
            "private_data", dataset, controls | dict.fromkeys(TLDP, score), (epsilon,), **KIND
        )
    ]


GROWTH = {
    "dataset": "cifar10",
    "stated": 0.7,
    "slower_than": "mnist",
    "tolerance": 0.1,
    "margin": 0.1,
}


@pytest.mark.parametrize(
    ("at_half", "end", "verdicts"),
    [
        (0.2, 0.7, [CONFIRMED, CONFIRMED, CONFIRMED, INCONCLUSIVE]),
        (0.695, 0.7, [CONFIRMED, CONFIRMED, CONTRADICTED, CONFIRMED]),
        (0.2, 0.98, [INCONCLUSIVE, CONTRADICTED, CONFIRMED, INCONCLUSIVE]),
    ],
)
def test_slower_growth_lacks_more_of_its_end_below_epsilon_1(
    make_results, study_rows, at_half, end, verdicts
):
    """On MNIST too, the score starts near chance, and reaches most of its final value at 0.5.

    Without noise the score is 0.72, so 0.98 at the end tells nothing about noise; 0.7 does. The
    score stabilizes where 0.5, the last epsilon but one, has it already.
    """
    given = scores_of(study_rows, "mnist", {0.1: 0.12, 0.5: 0.7, 10.0: 0.84, 50.0: 0.85})
    given += scores_of(study_rows, "cifar10", {0.1: 0.1, 0.5: at_half, 50.0: end})
    found = trained_score(make_results(given), **GROWTH)
    assert [part.verdict for part in found.parts] == verdicts
    assert [sizes.dataset for sizes in (found.sizes, *found.other_sizes)] == ["cifar10", "mnist"]


def test_growth_needs_an_epsilon_below_1_and_another_of_both(make_results, study_rows):
    given = scores_of(study_rows, "mnist", {0.5: 0.7, 2.0: 0.8})
    given += scores_of(study_rows, "cifar10", {0.5: 0.7, 50.0: 0.7})
    with pytest.raises(CannotJudge, match="an epsilon below 1 and a larger one, as on MNIST"):
        trained_score(make_results(given), **GROWTH)


def test_an_end_of_the_axis_is_an_outcome(make_results, study_rows):
    """Gaussian is at chance at epsilon 2, and above it at 50."""
    given = scores_of(study_rows, "cifar10", {0.5: 0.2, 50.0: 0.7})
    for epsilon, score in {2.0: 0.1, 50.0: 0.6}.items():
        given += study_rows("private_data", "cifar10", {"gaussian": score}, (epsilon,), **KIND)
    arguments = {"datasets": ["cifar10"], "others": ["gaussian"], "ends": [2.0, 50.0]}
    found = others_low(make_results(given), margin=0.1, **arguments)
    assert [each.parts[0].verdict for each in found.outcomes] == [CONFIRMED, CONTRADICTED]
    assert found.sizes.epsilons == "2 to 50"


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
