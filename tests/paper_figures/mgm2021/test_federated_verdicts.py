"""Verdicts on federated learning, on made-up results whose verdict is known."""

import numpy as np
import pytest

from paper_figures.ledger import CONTRADICTED, NOT_REPRODUCED, REPRODUCED, CannotJudge
from paper_figures.mgm2021.federated_horizontal import (
    horizontal_order,
    horizontal_trend,
    matrix_mechanism_on_adult,
)
from paper_figures.mgm2021.federated_vertical import vertical_order

EPSILONS = (1.0, 10.0, 1000.0)
ORDER = ["idn", "gaussian-per-element", "mvg-sqrt"]


def runs(accuracies, *, dataset="adult", source="official", experiment="federated_horizontal"):
    """Rows of one data set: for every mechanism its accuracies at the three budgets."""
    cell = {
        "paper": "mgm2021",
        "experiment": experiment,
        "dataset": dataset,
        "data_source": source,
        "delta": 1e-5,
    }
    rows = [cell | {"metric": metric, "value": 100.0} for metric in ("records", "uses")]
    rng = np.random.default_rng(0)
    for mechanism, values in accuracies.items():
        for trial in range(4):
            for epsilon, value in zip(EPSILONS, values, strict=True):
                at = {"mechanism": mechanism, "trial": trial, "epsilon": epsilon}
                value = value + 1e-4 * rng.standard_normal()
                rows.append(cell | at | {"metric": "final_test_accuracy", "value": value})
                rows.append(cell | at | {"metric": "test_accuracy", "round": 3, "value": value})
    return rows


def ordered(*means, **kind):
    return runs({m: (v, v, v) for m, v in zip(ORDER, means, strict=True)}, **kind)


@pytest.fixture
def order_claim(make_claim):
    def make(**changed):
        arguments = {
            "datasets": ["mnist", "adult"],
            "order": ORDER,
            "range": None,
            "close": None,
        }
        return make_claim(0.02, **(arguments | changed))

    return make


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ((0.8, 0.7, 0.6), REPRODUCED),
        ((0.8, 0.7, 0.7), NOT_REPRODUCED),
        ((0.7, 0.8, 0.6), CONTRADICTED),
    ],
)
def test_order(means, expected, order_claim, make_results):
    found = horizontal_order(order_claim(), make_results(ordered(*means)))
    assert found.verdict == expected
    assert found.trials == 4
    assert "100 training records, 3 rounds, epsilon 1, 10 and 1000" in found.detail
    assert "Not in this run: mnist" in found.detail


def test_all_data_sets_have_to_agree(order_claim, make_results):
    rows = ordered(0.8, 0.7, 0.6) + ordered(0.6, 0.7, 0.8, dataset="mnist")
    assert horizontal_order(order_claim(), make_results(rows)).verdict == CONTRADICTED
    rows = ordered(0.8, 0.7, 0.6) + ordered(0.6, 0.7, 0.8, dataset="digits", source="bundled")
    assert horizontal_order(order_claim(), make_results(rows)).verdict == REPRODUCED


def test_only_budgets_of_the_paper_s_range_decide(order_claim, make_results):
    rows = runs({"idn": (0.5, 0.5, 0.9), ORDER[1]: (0.5, 0.5, 0.8), ORDER[2]: (0.5, 0.5, 0.7)})
    found = horizontal_order(order_claim(range=[1, 10]), make_results(rows))
    assert found.verdict == NOT_REPRODUCED
    assert "over all budgets of the run the differences are +0.0" in found.detail
    with pytest.raises(CannotJudge, match="no budget from 2 to 3"):
        horizontal_order(order_claim(range=[2, 3]), make_results(rows))


@pytest.mark.parametrize(("matrix", "expected"), [(0.705, REPRODUCED), (0.75, NOT_REPRODUCED)])
def test_a_close_pair(matrix, expected, order_claim, make_results):
    rows = ordered(0.8, 0.7, 0.6) + runs({"matrix-mechanism": (matrix,) * 3})
    claim = order_claim(close=["matrix-mechanism", "gaussian-per-element"])
    assert horizontal_order(claim, make_results(rows)).verdict == expected


def test_either_study_is_judged_by_its_own_rows(order_claim, make_results):
    up, down = (0.8, 0.7, 0.6), (0.6, 0.7, 0.8)
    rows = ordered(*up) + ordered(*down, experiment="federated_vertical")
    assert horizontal_order(order_claim(), make_results(rows)).verdict == REPRODUCED
    assert vertical_order(order_claim(), make_results(rows)).verdict == CONTRADICTED


def test_other_data_do_not_judge(order_claim, make_results):
    rows = ordered(0.8, 0.7, 0.6, source="bundled")
    with pytest.raises(CannotJudge, match="about mnist and adult; the results have none"):
        horizontal_order(order_claim(), make_results(rows))


@pytest.mark.parametrize(
    ("idn", "gaussian", "mvg", "expected"),
    [
        ((0.5, 0.6, 0.8), (0.4, 0.5, 0.78), (0.3, 0.4, 0.79), REPRODUCED),
        # Most is all but one.
        ((0.5, 0.6, 0.8), (0.4, 0.5, 0.78), (0.3, 0.4, 0.5), REPRODUCED),
        ((0.5, 0.6, 0.8), (0.4, 0.5, 0.7), (0.3, 0.4, 0.6), NOT_REPRODUCED),
        ((0.8, 0.6, 0.5), (0.5, 0.5, 0.49), (0.6, 0.5, 0.5), CONTRADICTED),
    ],
)
def test_trend(idn, gaussian, mvg, expected, make_claim, make_results):
    claim = make_claim(0.05, datasets=["adult"], mechanisms=ORDER)
    rows = runs(dict(zip(ORDER, (idn, gaussian, mvg), strict=True)))
    assert horizontal_trend(claim, make_results(rows)).verdict == expected


@pytest.mark.parametrize(
    ("matrix", "gaussian", "udn", "expected"),
    [
        (0.8, 0.79, 0.7, REPRODUCED),
        (0.8, 0.7, 0.75, NOT_REPRODUCED),
        (0.7, 0.7, 0.75, CONTRADICTED),
    ],
)
def test_matrix_mechanism(matrix, gaussian, udn, expected, make_claim, make_results):
    claim = make_claim(0.02, matrix="matrix-mechanism", gaussian="gaussian-per-element", udn="udn")
    names = ("matrix-mechanism", "gaussian-per-element", "udn")
    rows = runs({m: (v,) * 3 for m, v in zip(names, (matrix, gaussian, udn), strict=True)})
    assert matrix_mechanism_on_adult(claim, make_results(rows)).verdict == expected
