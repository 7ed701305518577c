"""Verdicts on tldp2025's type III, on made-up scores whose verdict is known."""

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
from paper_figures.tldp2025.private_parameters import figure_3
from paper_figures.tldp2025.private_parameters_verdicts import (
    comparable_range,
    crossover,
    parameter_order,
    parameter_pairs,
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
    ("changes", "verdict", "open_parts"),
    [
        ({}, CONFIRMED, []),
        # A reconstruction that fails decides nothing.
        ({"llagp": 0.35}, PARTLY, ["LLAGP"]),
        ({"idn": 0.7}, PARTLY, []),
        ({"non-private": 0.5}, PARTLY, ["TLDP-L", "TLDP-G", "LLAGP"]),
    ],
)
def test_two_groups(changes, verdict, open_parts, make_claim, make_results, parameters):
    claim = make_claim(tolerance=0.2, dataset="imdb", stated=GROUPS)
    found = two_groups(claim, make_results(parameters(changes=changes)))
    clip, stated = found.outcomes
    assert clip.verdict == verdict and stated.verdict == NOT_RUN
    assert [part.name for part in clip.parts if part.verdict == INCONCLUSIVE] == open_parts
    assert found.sizes.trials == 4
    assert "reaches at most 0.3" in found.detail
    # sqrt(2) 2 / 500.
    at_500 = "at epsilon 500, where the standard deviation of TLDP-L's noise is 0.005657"
    assert at_500 in found.detail


def test_two_groups_under_either_delta(make_claim, make_results, parameters):
    claim = make_claim(tolerance=0.2, dataset="imdb", stated=GROUPS)
    unlearned = dict.fromkeys(("tldp-l", "tldp-g", "llagp"), 0.35)
    both = parameters() + parameters(changes=unlearned, range="stated")
    found = two_groups(claim, make_results(both))
    assert [outcome.verdict for outcome in found.outcomes] == [CONFIRMED, PARTLY]
    assert found.verdict == DEPENDS


@pytest.mark.parametrize(("last", "verdict"), [(0.8, CONFIRMED), (0.35, PARTLY)])
def test_two_groups_are_judged_at_the_end_of_each_range(
    last, verdict, make_claim, make_results, parameters
):
    # With the larger Delta TLDP learns late, if at all: 500 is the end of one range only.
    late = {key: {500.0: 0.35, 1e8: last} for key in ("tldp-l", "tldp-g", "llagp")}
    wide = parameters(changes=late, range="stated", epsilons=(500.0, 1e8))
    claim = make_claim(tolerance=0.2, dataset="imdb", stated=GROUPS)
    found = two_groups(claim, make_results(parameters() + wide))
    assert [outcome.verdict for outcome in found.outcomes] == [CONFIRMED, verdict]
    # sqrt(2) 400,001 / 500.
    at_500 = "at epsilon 500, where the standard deviation of TLDP-L's noise is 1,131"
    assert at_500 in found.detail


UNLEARNED = {"tldp-l": 0.35, "llagp": 0.35}


@pytest.mark.parametrize(
    ("changes", "verdicts"),
    [
        (UNLEARNED | {"tldp-g": {10.0: 0.36, 500.0: 0.8}}, [CONFIRMED, CONFIRMED]),
        # Somebody learns below already, and nobody above.
        (UNLEARNED | {"tldp-g": 0.8}, [CONTRADICTED, CONFIRMED]),
        (UNLEARNED | {"tldp-g": 0.35}, [CONFIRMED, CONTRADICTED]),
    ],
)
def test_range_in_which_somebody_learns(changes, verdicts, make_claim, make_results, parameters):
    claim = replace(make_claim(above=100), margin=0.15)
    found = comparable_range(claim, make_results(parameters(changes=changes)))
    assert [part.verdict for part in found.outcomes[0].parts] == verdicts
    assert found.outcomes[1].verdict == NOT_RUN


@pytest.mark.parametrize("status", ["ok", "error"])
@pytest.mark.parametrize("learns", [0.35, 0.8])
def test_mechanisms_outside_the_paper_decide_nothing(
    status, learns, make_claim, make_results, parameters, study_rows
):
    late = UNLEARNED | {"tldp-g": {10.0: 0.36, 500.0: 0.8}}
    # It fails where the others have results, or learns below, or has budgets of its own.
    other = study_rows(
        "private_parameters", "imdb", {"privunit-g": learns}, epsilons=(10.0, 1e4), status=status
    )
    claim = replace(make_claim(above=100), margin=0.15)
    given = parameters(changes=late)
    alone = comparable_range(claim, make_results(given)).outcomes[0]
    beside = comparable_range(claim, make_results(given + other)).outcomes[0]
    assert beside == alone
    assert [part.verdict for part in beside.parts] == [CONFIRMED, CONFIRMED]
    groups = make_claim(tolerance=0.2, dataset="imdb", stated=GROUPS)
    found = two_groups(groups, make_results(parameters() + other))
    assert found.outcomes[0].verdict == CONFIRMED


def test_a_mechanism_of_the_paper_without_a_result_leaves_its_part_open(
    make_claim, make_results, parameters
):
    late = UNLEARNED | {"tldp-g": {10.0: 0.36, 500.0: 0.8}}
    given = [
        row
        for row in parameters(changes=late)
        if (row["mechanism"], row["epsilon"]) != ("idn", 10.0)
    ]
    claim = replace(make_claim(above=100), margin=0.15)
    below, above = comparable_range(claim, make_results(given)).outcomes[0].parts
    assert (below.verdict, above.verdict) == (INCONCLUSIVE, CONFIRMED)
    assert "MGM-IDN at epsilon 10" in below.found and below.reason == "without a result"


def test_the_range_depends_on_delta(make_claim, make_results, parameters):
    late = UNLEARNED | {"tldp-g": {10.0: 0.36, 500.0: 0.8}}
    both = parameters(changes=UNLEARNED | {"tldp-g": 0.8}) + parameters(
        changes=late, range="stated"
    )
    found = comparable_range(replace(make_claim(above=100), margin=0.15), make_results(both))
    assert found.verdict == DEPENDS
    assert [outcome.verdict for outcome in found.outcomes] == [PARTLY, CONFIRMED]
    assert "Delta = 256 (IMDB: 400,001), of Table 4" in found.ours


def test_a_range_needs_budgets_on_both_sides(make_claim, make_results, parameters):
    claim = replace(make_claim(above=100), margin=0.15)
    with pytest.raises(CannotJudge, match="both sides of 100"):
        comparable_range(claim, make_results(parameters(epsilons=(200.0, 500.0))))


ORDER = {"exception": "cifar10", "good_on": "darknet2020", "signal": 0.15}


def places(make_claim, make_results, rows):
    found = parameter_order(replace(make_claim(**ORDER), margin=0.01), make_results(rows))
    return {part.name: part.verdict for part in found.outcomes[0].parts}


@pytest.mark.parametrize(
    ("changes", "verdicts"),
    [
        ({}, [CONFIRMED, CONFIRMED, CONFIRMED]),
        ({"llagp": 0.35}, [CONFIRMED, INCONCLUSIVE, CONFIRMED]),
        ({"llagp": 0.9}, [CONTRADICTED, CONFIRMED, CONFIRMED]),
        ({"dphsgd": 0.7}, [CONFIRMED, CONFIRMED, CONTRADICTED]),
        # Nobody learns: any order is chance.
        (
            {"tldp-l": 0.4, "tldp-g": 0.41, "llagp": 0.36},
            [INCONCLUSIVE, INCONCLUSIVE, CONFIRMED],
        ),
    ],
)
def test_places_on_one_data_set(changes, verdicts, make_claim, make_results, parameters):
    found = places(make_claim, make_results, parameters(changes=changes))
    assert list(found.values()) == verdicts


def test_places_that_the_paper_makes_an_exception_of(make_claim, make_results, parameters):
    good = parameters("darknet2020", {"dphsgd": 0.7})
    other = parameters("cifar10", {"llagp": 0.3})
    found = places(make_claim, make_results, good + other)
    assert set(found.values()) == {CONFIRMED} and len(found) == 5
    poor = places(make_claim, make_results, parameters("darknet2020"))
    assert poor["Darknet2020, DPHSGD good"] == CONTRADICTED


PAIRS = {
    "dataset": "svhn",
    "ahead": [["tldp-g", "laplace"], ["tldp-g", "dphsgd"]],
    "close": [["tldp-g", "llagp"]],
    "start": [["tldp-l", "tldp-g"]],
    "alike": 0.05,
}


@pytest.mark.parametrize(
    ("changes", "verdicts"),
    [
        (
            {"tldp-g": {10.0: 0.3, 500.0: 0.82}, "llagp": 0.82},
            [CONFIRMED, CONFIRMED, CONFIRMED, CONFIRMED],
        ),
        ({"tldp-g": 0.82, "llagp": 0.5}, [CONFIRMED, CONFIRMED, CONTRADICTED, CONTRADICTED]),
        ({"dphsgd": 0.9, "llagp": 0.82}, [CONFIRMED, CONTRADICTED, CONFIRMED, CONTRADICTED]),
    ],
)
def test_pairs_on_one_data_set(changes, verdicts, make_claim, make_results, parameters):
    claim = replace(make_claim(**PAIRS), margin=0.01)
    found = parameter_pairs(claim, make_results(parameters("svhn", changes)))
    assert [part.verdict for part in found.parts] == verdicts


def test_pairs_on_data_that_the_run_lacks(make_claim, make_results, parameters):
    with pytest.raises(CannotJudge, match="This run has no SVHN"):
        parameter_pairs(make_claim(**PAIRS), make_results(parameters("mnist")))


@pytest.mark.parametrize(
    ("laplace", "verdict"),
    [
        ({10.0: 0.9, 500.0: 0.82}, CONFIRMED),
        ({10.0: 0.9, 500.0: 0.95}, PARTLY),
        (0.6, CONTRADICTED),
    ],
)
def test_crossover(laplace, verdict, make_claim, make_results, parameters):
    given = make_results(parameters(changes={"tldp-l": laplace}))
    assert crossover(replace(make_claim(alike=0.05), margin=0.01), given).verdict == verdict


def test_other_data_decide_nothing(make_claim, make_results, parameters):
    given = make_results(parameters(data_source="bundled"))
    for judged, claim in (
        (comparable_range, make_claim(above=100)),
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


def test_figure_3_has_a_panel_for_each_delta(make_results, study_rows):
    scores = {"tldp-l": 0.8, "random-answer": 0.1, "non-private": 0.9}
    given = study_rows("private_parameters", "mnist", scores)
    wide = study_rows("private_parameters", "mnist", scores, range="stated")
    wide = [row for row in wide if row.get("calibration") != "exact"]
    spent = [
        row | {"metric": "true_epsilon_upper", "value": 1.0}
        for row in given + wide
        if row["metric"] == "rounds"
    ]
    shaped = [row | {"shape": "1x2410"} for row in given + wide + spent]
    drawn = figure_3(make_results(shaped))
    assert set(drawn.data["panel"]) == {"MNIST, Delta = 2", "MNIST, Delta = 256"}
    labels = [axis.get_ylabel() for axis in drawn.figure.axes]
    assert "F1 of MNIST, Delta = 256" in labels
    # The same noise at equal true privacy: the last panel says so.
    assert "not run" in drawn.figure.axes[-1].texts[0].get_text()
