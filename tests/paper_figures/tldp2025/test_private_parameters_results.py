"""Verdicts on tldp2025's type III, on made-up scores whose verdict is known."""

import pytest

from paper_figures.ledger import CONTRADICTED, NOT_REPRODUCED, REPRODUCED, CannotJudge
from paper_figures.tldp2025.private_parameters import (
    comparable_range,
    figure_3,
    parameter_order,
    two_groups,
)

OTHERS = ["laplace", "gaussian", "mvg-sqrt", "idn"]
LOW = dict.fromkeys((*OTHERS, "dphsgd", "random-answer"), 0.35)
HIGH = {"non-private": 0.85, "tldp-l": 0.8, "tldp-g": 0.82, "llagp": 0.76}


@pytest.fixture
def parameters(study_rows):
    """Scores of averaged models."""

    def make(dataset="imdb", changes=None, **more):
        return study_rows("private_parameters", dataset, LOW | HIGH | (changes or {}), **more)

    return make


GROUPS = [
    {"f1": 0.8, "mechanisms": ["tldp-l", "tldp-g", "llagp"]},
    {"f1": 0.4, "mechanisms": OTHERS},
]


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [({}, REPRODUCED), ({"llagp": 0.35}, NOT_REPRODUCED), ({"idn": 0.7}, NOT_REPRODUCED)],
)
def test_two_groups(changes, verdict, make_claim, make_results, parameters):
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
def test_range_in_which_somebody_learns(changes, verdict, make_claim, make_results, parameters):
    claim = make_claim(above=100, margin=0.1)
    assert comparable_range(claim, make_results(parameters(changes=changes))).verdict == verdict


def test_a_range_needs_budgets_on_both_sides(make_claim, make_results, parameters):
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
def test_order_without_the_data_of_one_part(
    changes, verdict, words, make_claim, make_results, parameters
):
    found = parameter_order(make_claim(**ORDER), make_results(parameters(changes=changes)))
    assert found.verdict == verdict
    assert words in found.detail


def test_order_with_all_data(make_claim, make_results, parameters):
    both = parameters() + parameters("darknet2020", {"dphsgd": 0.7})
    assert parameter_order(make_claim(**ORDER), make_results(both)).verdict == REPRODUCED
    neither = parameters() + parameters("darknet2020")
    found = parameter_order(make_claim(**ORDER), make_results(neither))
    assert found.verdict == NOT_REPRODUCED and "DPHSGD good not reproduced" in found.detail
    # On CIFAR-10 LLAGP need not be second.
    third = both + parameters("cifar10", {"llagp": 0.3})
    assert parameter_order(make_claim(**ORDER), make_results(third)).verdict == REPRODUCED


def test_other_data_decide_nothing(make_claim, make_results, parameters):
    given = make_results(parameters(data_source="bundled"))
    for judged, claim in (
        (comparable_range, make_claim(above=100, margin=0.1)),
        (parameter_order, make_claim(**ORDER)),
        (two_groups, make_claim(tolerance=0.2, dataset="imdb", stated=GROUPS)),
    ):
        with pytest.raises(CannotJudge):
            judged(claim, given)


def test_figure_3_has_what_all_rounds_truly_spend(make_results, study_rows):
    sets = ("mnist", "cifar10", "svhn", "imdb", "darknet2020")
    given = [
        row for name in sets for row in study_rows("private_parameters", name, {"laplace": 0.5})
    ]
    given = [row | {"shape": "1x2410"} for row in given]
    spent = [
        row | {"metric": "true_epsilon_upper", "value": 10 * row["epsilon"]}
        for row in given
        if row["metric"] == "rounds"
    ]
    drawn = figure_3(make_results(given + spent))
    assert len(drawn.caption.split()) <= 70
    assert "MNIST at epsilon 500: Laplace 5e+03" in drawn.note
    assert "IMDB: 3,000 records, a model of 2,410 parameters, 3000 rounds" in drawn.note
    own = drawn.data[drawn.data["calibration"] == "published"].set_index(["dataset", "epsilon"])
    assert own.loc[("mnist", 10.0), "true_epsilon_upper"] == 100.0
