"""Selections, tables and verdicts of mvg2018's studies on made-up results with a known answer."""

import pytest

from paper_figures.ledger import CONTRADICTED, NOT_REPRODUCED, NOT_RUN, REPRODUCED, CannotJudge
from paper_figures.mvg2018.compared_study import (
    at_best_share,
    mean_over_shares,
    right_treatment,
    select,
)
from paper_figures.mvg2018.comparison import (
    comparison_table,
    finding_on_directions,
    finding_on_order,
)
from tests.paper_figures.mvg2018.made_up_trials import STUDIES, TRIALS, rows_of

REGRESSION = STUDIES["regression"]


def test_scores_are_selected_by_treatment_and_share(make_rows):
    means = {"mvg iid": 3, "mvg a-b 0.55": 2, "mvg a-b 0.95": 1, "mvg c 0.55": 4, "jl": 5}
    rows = make_rows(
        *rows_of("regression", means), *rows_of("regression", {"jl": 1}, metric="rmse_of_zero")
    )
    scores = REGRESSION.scores(rows)
    assert set(scores["treatment"]) == {"iid", "a-b", "c", ""}
    assert len(scores) == 5 * TRIALS
    assert right_treatment(scores) == "a-b"
    assert right_treatment(select(scores, mechanism="jl")) is None
    right = select(scores, mechanism="mvg", treatment="a-b")
    assert set(at_best_share(right)["share"]) == {0.95}
    assert len(at_best_share(right)) == TRIALS
    assert len(at_best_share(select(scores, mechanism="jl"))) == TRIALS
    assert mean_over_shares(right)["value"].mean() == pytest.approx(1.5, abs=0.03)
    assert len(mean_over_shares(right)) == TRIALS


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ({"gaussian": 2, "laplace": 3}, REPRODUCED),
        ({"gaussian": 2, "laplace": 1.0001}, NOT_REPRODUCED),
        ({"gaussian": 2, "laplace": 0.5}, CONTRADICTED),
        ({"gaussian": 2}, NOT_RUN),
        ({"gaussian": 0.5}, CONTRADICTED),
    ],
)
def test_order_at_the_best_share(study, means, expected, make_claim, make_results):
    # The other share and the other directions do not count.
    mvg = {"mvg right 0.55": 9, "mvg right 0.95": 1, "mvg wrong 0.95": 0.1, "mvg iid": 0.1}
    claim = make_claim(others=["gaussian", "laplace"])
    found = finding_on_order(claim, make_results(rows_of(study, mvg | means)), STUDIES[study])
    assert found.verdict == expected
    assert found.trials == TRIALS


def test_equal_numbers_reproduce_no_order(make_claim, make_results):
    results = make_results(rows_of("regression", {"mvg right 0.55": 1, "jl": 1}, spread=0))
    found = finding_on_order(make_claim(others=["jl"]), results, REGRESSION)
    assert found.verdict == NOT_REPRODUCED
    assert "0 [0, 0]" in found.ours


@pytest.mark.parametrize(("other", "expected"), [(1.4, REPRODUCED), (1.1, CONTRADICTED)])
def test_order_by_a_factor(other, expected, make_claim, make_results):
    claim = make_claim(0.2, others=["laplace"], factor=1.5)
    results = make_results(rows_of("regression", {"mvg right 0.55": 1, "laplace": other}))
    assert finding_on_order(claim, results, REGRESSION).verdict == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [({}, REPRODUCED), ({"directions": "pca"}, CONTRADICTED), ({"subspace": True}, CONTRADICTED)],
)
def test_order_of_other_treatments(arguments, expected, make_claim, make_results):
    means = {"mvg right 0.55": 1, "mvg pca 0.55": 3, "gaussian": 2, "gaussian subspace": 0.5}
    claim = make_claim(others=["gaussian"], **arguments)
    results = make_results(rows_of("regression", means))
    assert finding_on_order(claim, results, REGRESSION).verdict == expected


def test_the_exact_calibration_is_told_and_does_not_decide(make_claim, make_results):
    means = {"mvg right 0.55": 1, "jl": 2}
    rows = rows_of("regression", means) + rows_of(
        "regression", {"mvg right 0.55": 30, "jl": 20}, calibration="exact", spread=0
    )
    found = finding_on_order(make_claim(others=["jl"]), make_results(rows), REGRESSION)
    assert found.verdict == REPRODUCED
    assert "MVG 30, jl 20" in found.detail


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ({"mvg wrong 0.55": 2, "mvg wrong 0.95": 2, "mvg iid": 3}, REPRODUCED),
        # Better at one share, worse over all.
        ({"mvg wrong 0.55": 0.5, "mvg wrong 0.95": 5, "mvg iid": 3}, REPRODUCED),
        ({"mvg wrong 0.55": 2, "mvg wrong 0.95": 2, "mvg iid": 0.5}, CONTRADICTED),
        ({"mvg wrong 0.55": 2, "mvg wrong 0.95": 2, "mvg iid": 1.0001}, NOT_REPRODUCED),
        ({"mvg wrong 0.55": 2, "mvg wrong 0.95": 2}, NOT_RUN),
    ],
)
def test_directions_over_all_shares(study, means, expected, make_claim, make_results):
    right = {"mvg right 0.55": 1, "mvg right 0.95": 1}
    results = make_results(rows_of(study, right | means))
    claim = make_claim(others=["wrong", "iid"])
    assert finding_on_directions(claim, results, STUDIES[study]).verdict == expected


def test_only_the_paper_s_data_shape_and_budget_are_judged(make_claim, make_results):
    covariance, claim = STUDIES["covariance"], make_claim(others=["gaussian"])
    rows = rows_of("covariance", {"mvg right 0.55": 1, "gaussian": 2}, source="bundled")
    with pytest.raises(CannotJudge, match="bundled data of shape 21x2126"):
        finding_on_order(claim, make_results(rows), covariance)
    other = [row | {"data_source": "official", "shape": "21x100"} for row in rows]
    with pytest.raises(CannotJudge, match="official data of shape 21x100"):
        finding_on_order(claim, make_results(other), covariance)
    budget = [row | {"data_source": "official", "epsilon": 2.0} for row in rows]
    with pytest.raises(CannotJudge):
        finding_on_order(claim, make_results(budget), covariance)


def test_a_table_shows_the_paper_s_methods_first_and_each_at_its_best_share(make_results):
    means = {
        "udn": 7,
        "udn subspace": 7,
        "gaussian": 6,
        "gaussian subspace": 8,
        "mvg iid": 3,
        "mvg right 0.55": 2,
        "mvg right 0.95": 1,
        "mvg wrong 0.55": 4,
        "mvg pca 0.55": 5,
    }
    table = comparison_table(make_results(rows_of("regression", means)), REGRESSION).data
    assert table[["method of the paper", "mechanism", "treatment"]].to_numpy().tolist() == [
        ["MVG-1", "mvg", "right"],
        ["MVG-2", "mvg", "pca"],
        ["Gaussian", "gaussian", ""],
        ["", "gaussian", "subspace"],
        ["", "mvg", "iid"],
        ["", "mvg", "wrong"],
        ["", "udn", ""],
    ]
    assert table["tau"].tolist()[:2] == [0.95, 0.55]
    assert table["mean"].tolist() == pytest.approx([1, 5, 6, 8, 3, 4, 7], rel=0.02)
    assert table["above MVG"].tolist() == pytest.approx([0, 4, 5, 7, 2, 3, 6], rel=0.02)
    assert table["stated above MVG"].tolist()[2] == 0.003
