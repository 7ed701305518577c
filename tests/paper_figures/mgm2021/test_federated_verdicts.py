"""Verdicts on federated learning, on made-up results whose verdict is known."""

from dataclasses import replace

import matplotlib.pyplot as plt
import pytest

from claims.ledger import CannotJudge
from claims.verdicts import (
    CONFIRMED,
    CONTRADICTED,
    DEPENDS,
    INCONCLUSIVE,
    NOT_FOUND,
    PARTLY,
)
from paper_figures.mgm2021.federated_horizontal import (
    harder_tasks_need_more,
    horizontal_order,
    horizontal_trend,
    matrix_mechanism_on_adult,
)
from paper_figures.mgm2021.federated_vertical import figure_3, vertical_lead, vertical_order
from tests.paper_figures.mgm2021.made_up_accuracies import (
    ELEMENT,
    IDN,
    MARGIN,
    MM,
    MVG,
    WHOLE,
    ordered,
    runs,
)


@pytest.mark.parametrize(
    ("means", "more", "expected"),
    [
        ((0.8, 0.7, 0.6), {}, CONFIRMED),
        ((0.8, 0.7, 0.7), {}, PARTLY),
        ((0.7, 0.7, 0.7), {}, NOT_FOUND),
        ((0.6, 0.7, 0.8), {}, CONTRADICTED),
        ((0.8, 0.7, 0.6), {"spread": 0.3, "trials": 3}, INCONCLUSIVE),
        # Nothing is learned, by whichever order, or all is.
        ((0.2, 0.21, 0.19), {}, INCONCLUSIVE),
        ((0.1, 0.15, 0.19), {}, INCONCLUSIVE),
        ((0.94, 0.945, 0.955), {}, INCONCLUSIVE),
    ],
)
def test_order(means, more, expected, order_claim, make_results):
    found = horizontal_order(order_claim(), make_results(ordered(*means, **more)))
    assert found.verdict == expected
    assert bool(found.because) == (expected != CONFIRMED)
    assert found.sizes.records == 100 and found.sizes.rounds == 3
    assert found.sizes.epsilons == "Adult 1, 10, 1000"
    assert "Not in this run: MNIST" in found.detail


def test_the_reading_of_the_gaussian_decides(order_claim, make_results):
    rows = ordered(0.8, 0.7, 0.6, 0.9, names=(IDN, ELEMENT, MVG, WHOLE))
    found = horizontal_order(order_claim(), make_results(rows))
    assert found.verdict == DEPENDS
    assert [outcome.verdict for outcome in found.outcomes] == [CONFIRMED, PARTLY]
    # On a whole layer the matrix mechanism is that Gaussian.
    rows = ordered(0.8, 0.7, 0.6, 0.9, names=(IDN, ELEMENT, MVG, MM))
    assert horizontal_order(order_claim(), make_results(rows)).verdict == DEPENDS


def test_two_that_are_both_no_better_than_a_random_answer_have_no_order(order_claim, make_results):
    # A third one learns, so that the run has a signal.
    found = horizontal_order(order_claim(), make_results(ordered(0.8, 0.21, 0.19)))
    assert [part.verdict for part in found.parts] == [CONFIRMED, INCONCLUSIVE]


def test_data_sets_are_parts(order_claim, make_results):
    up, down = (0.8, 0.7, 0.6), (0.6, 0.7, 0.8)
    rows = ordered(*up) + ordered(*down, dataset="mnist")
    found = horizontal_order(order_claim(), make_results(rows))
    assert found.verdict == PARTLY and len(found.parts) == 4
    rows = ordered(*up) + ordered(*down, dataset="digits", source="bundled")
    assert horizontal_order(order_claim(), make_results(rows)).verdict == CONFIRMED


def test_only_budgets_of_the_paper_s_range_decide(order_claim, make_results):
    rows = runs({IDN: (0.5, 0.5, 0.9), ELEMENT: (0.5, 0.5, 0.8), MVG: (0.5, 0.5, 0.7)})
    assert horizontal_order(order_claim(), make_results(rows)).verdict == CONFIRMED
    found = horizontal_order(order_claim(range=[1, 10]), make_results(rows))
    assert found.verdict == NOT_FOUND
    with pytest.raises(CannotJudge, match="no budget from 2 to 3"):
        horizontal_order(order_claim(range=[2, 3]), make_results(rows))


@pytest.mark.parametrize(("matrix", "expected"), [(0.705, CONFIRMED), (0.75, CONTRADICTED)])
def test_a_close_pair_of_one_data_set(matrix, expected, order_claim, make_results):
    rows = ordered(0.8, 0.7, 0.6, matrix, names=(IDN, ELEMENT, MVG, MM))
    claim = order_claim(
        above={"default": [[IDN, "baseline"]], "adult": []},
        close={"default": [], "adult": [[MM, "baseline"]]},
        readings={"on each element": {"baseline": [ELEMENT]}},
    )
    assert horizontal_order(claim, make_results(rows)).verdict == expected


@pytest.mark.parametrize(("end", "expected"), [(0.6, CONFIRMED), (0.7, CONTRADICTED)])
def test_a_flat_curve(end, expected, order_claim, make_results):
    rows = runs({IDN: (0.8,) * 3, ELEMENT: (0.7,) * 3, MVG: (0.6, 0.6, end)})
    claim = order_claim(above={"default": [[IDN, "baseline"]], "adult": []}, flat=[MVG])
    assert horizontal_order(claim, make_results(rows)).parts[-1].verdict == expected


def test_either_study_is_judged_by_its_own_rows(order_claim, make_results):
    up, down = (0.8, 0.7, 0.6), (0.6, 0.7, 0.8)
    rows = ordered(*up) + ordered(*down, study="federated_vertical")
    assert horizontal_order(order_claim(), make_results(rows)).verdict == CONFIRMED
    assert vertical_order(order_claim(), make_results(rows)).verdict == CONTRADICTED


def test_other_data_do_not_judge(order_claim, make_results):
    rows = ordered(0.8, 0.7, 0.6, source="bundled")
    with pytest.raises(CannotJudge, match=r"is about MNIST and Adult, and .* has neither"):
        horizontal_order(order_claim(), make_results(rows))


@pytest.mark.parametrize(
    ("idn", "expected"),
    [
        ((0.9, 0.75, 0.72), CONFIRMED),
        ((0.75, 0.75, 0.75), NOT_FOUND),
        ((0.75, 0.78, 0.9), CONTRADICTED),
        # Behind at both ends, and less so at the smallest epsilon: no lead.
        ((0.65, 0.5, 0.5), CONTRADICTED),
        ((0.7, 0.6, 0.5), NOT_FOUND),
    ],
)
def test_the_lead_at_the_smallest_epsilon_of_the_range(idn, expected, make_claim, make_results):
    claim = make_claim(
        datasets=["adult"],
        range=[1, 10],
        leader=IDN,
        others={"default": [MVG], "adult": [ELEMENT]},
        decided_by="",
    )
    rows = runs({IDN: idn, ELEMENT: (0.7,) * 3}, study="federated_vertical")
    found = vertical_lead(replace(claim, margin=MARGIN), make_results(rows))
    assert found.verdict == expected


@pytest.mark.parametrize(
    ("idn", "gaussian", "mvg", "expected"),
    [
        ((0.5, 0.6, 0.8), (0.4, 0.5, 0.78), (0.3, 0.4, 0.79), CONFIRMED),
        # Most is all but one.
        ((0.5, 0.6, 0.8), (0.4, 0.5, 0.78), (0.3, 0.4, 0.5), CONFIRMED),
        ((0.5, 0.6, 0.8), (0.4, 0.5, 0.7), (0.3, 0.4, 0.6), PARTLY),
        ((0.8, 0.6, 0.5), (0.7, 0.5, 0.4), (0.6, 0.5, 0.3), CONTRADICTED),
    ],
)
def test_trend(idn, gaussian, mvg, expected, make_claim, make_results):
    claim = make_claim(
        datasets=["adult"], mechanisms=[IDN, ELEMENT, MVG], close=0.05, decided_by=""
    )
    rows = runs(dict(zip((IDN, ELEMENT, MVG), (idn, gaussian, mvg), strict=True)))
    found = horizontal_trend(replace(claim, margin=MARGIN), make_results(rows))
    assert found.verdict == expected


def test_no_lead_without_others(make_claim, make_results):
    claim = make_claim(datasets=["adult"], range=[1, 10], leader=IDN, others={"default": []})
    rows = runs({IDN: (0.8,) * 3, MM: (0.7,) * 3}, study="federated_vertical")
    with pytest.raises(CannotJudge, match="none of the mechanisms beside idn"):
        vertical_lead(replace(claim, margin=MARGIN), make_results(rows))
    more = claim.arguments | {"beside": [[IDN, MM]], "beside_words": "Not judged:"}
    more |= {"others": {"default": [ELEMENT]}}
    rows += runs({ELEMENT: (0.6,) * 3}, study="federated_vertical")
    found = vertical_lead(replace(claim, arguments=more, margin=MARGIN), make_results(rows))
    assert len(found.parts) == 1
    assert "Not judged: MGM-IDN minus Matrix mechanism on Adult 0.1" in found.detail


# Both of an element, both of the layer, and the matrix mechanism of the layer alone.
@pytest.mark.parametrize(
    ("matrix", "gaussian", "udn", "expected"),
    [
        (0.8, 0.79, 0.7, [CONFIRMED, CONFIRMED, CONFIRMED]),
        (0.8, 0.75, 0.7, [CONFIRMED, CONFIRMED, PARTLY]),
        (0.8, 0.7, 0.7, [PARTLY, CONFIRMED, PARTLY]),
        (0.7, 0.7, 0.75, [PARTLY, PARTLY, PARTLY]),
        (0.7, 0.8, 0.75, [CONFIRMED, PARTLY, CONTRADICTED]),
    ],
)
def test_matrix_mechanism(matrix, gaussian, udn, expected, adult_claim, make_results):
    rows = ordered(matrix, gaussian, udn, names=(MM, ELEMENT, "udn"))
    found = matrix_mechanism_on_adult(adult_claim, make_results(rows))
    assert [outcome.verdict for outcome in found.outcomes] == expected


@pytest.fixture
def adult_claim(make_claim):
    claim = make_claim(
        matrix=MM,
        element=ELEMENT,
        udn="udn",
        choice="the sensitivities",
        readings={"element": "of an element", "whole": "of the layer", "different": "both"},
        decided_by="",
    )
    return replace(claim, margin=MARGIN)


def test_a_name_stands_for_another_mechanism(order_claim, make_results):
    pairs = {"default": [[MM, "baseline"]]}
    rows = ordered(0.8, 0.7, 0.9, names=(IDN, ELEMENT, MM))
    readings = {
        "of the matrix": {"baseline": [ELEMENT]},
        "of an element": {"baseline": [ELEMENT], MM: [ELEMENT]},
    }
    claim = order_claim(above={"default": [[MM, IDN]]}, close=pairs, readings=readings)
    # The shape of made-up rows is 89x89.
    found = horizontal_order(claim, make_results(rows))
    assert [o.verdict for o in found.outcomes] == [PARTLY, PARTLY]
    assert found.verdict == DEPENDS
    whole, element = ({p.name: p.verdict for p in o.parts} for o in found.outcomes)
    name = "Adult, Matrix mechanism close to Gaussian per element"
    assert (whole[name], element[name]) == (CONTRADICTED, CONFIRMED)
    name = "Adult, Matrix mechanism above MGM-IDN"
    assert (whole[name], element[name]) == (CONFIRMED, CONTRADICTED)


@pytest.mark.parametrize(("hard", "expected"), [(0.4, CONFIRMED), (0.9, CONTRADICTED)])
def test_harder_tasks(hard, expected, make_claim, make_results):
    claim = make_claim(hard=["cifar10"], easy=["mnist"], mechanism=IDN, decided_by="")
    claim = replace(claim, margin=MARGIN)
    easy = runs({IDN: (0.7,) * 3}, dataset="mnist")
    both = easy + runs({IDN: (hard,) * 3}, dataset="cifar10")
    assert harder_tasks_need_more(claim, make_results(both)).verdict == expected
    with pytest.raises(CannotJudge, match="CIFAR-10"):
        harder_tasks_need_more(claim, make_results(easy))


def test_a_lone_curve_at_equal_true_privacy_says_whose_it_is(make_results):
    rows = ordered(0.8, 0.7, 0.6, names=(IDN, ELEMENT, MM), study="federated_vertical")
    alone = [row | {"calibration": "exact"} for row in rows if row.get("mechanism") == MM]
    uses = {"study": "federated_vertical", "dataset": "adult", "delta": 1e-5}
    uses |= {"metric": "use_epsilon", "epsilon": 1.0, "value": 1.0}
    drawn = figure_3(make_results([*rows, *alone, uses]))
    plt.close(drawn.figure)
    words = [[text.get_text() for text in axis.texts] for axis in drawn.figure.axes]
    assert words == [[], ["one curve for all mechanisms:\ntheir noise is the same"]]
    two = [row | {"calibration": "exact"} for row in rows if row.get("mechanism") in (MM, IDN)]
    drawn = figure_3(make_results([*rows, *two, uses]))
    plt.close(drawn.figure)
    assert not any(axis.texts for axis in drawn.figure.axes)
    assert len(drawn.caption.split()) <= 70


def test_closeness_is_that_of_the_mechanisms_of_the_claim(make_claim, make_results):
    claim = replace(
        make_claim(datasets=["adult"], mechanisms=[IDN, ELEMENT, MVG], close=0.05, decided_by=""),
        margin=MARGIN,
    )
    rows = runs({IDN: (0.5, 0.6, 0.8), ELEMENT: (0.5, 0.6, 0.8), MVG: (0.5, 0.6, 0.7)})
    # A mechanism that the paper does not have, with a budget of its own.
    other = [
        row | {"mechanism": "l2", "epsilon": 1e9} for row in rows if row.get("mechanism") == IDN
    ]
    alone = horizontal_trend(claim, make_results(rows)).parts
    assert horizontal_trend(claim, make_results(rows + other)).parts == alone
