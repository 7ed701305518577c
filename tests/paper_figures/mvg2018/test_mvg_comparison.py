"""Selections, tables and verdicts of mvg2018's studies on made-up results with a known answer."""

from dataclasses import replace

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
from paper_figures.mvg2018.compared_study import (
    at_best_share,
    mean_over_shares,
    right_treatment,
    select,
)
from paper_figures.mvg2018.comparison import comparison_table
from paper_figures.mvg2018.comparison_findings import (
    finding_on_directions,
    finding_on_learning,
    finding_on_order,
)
from tests.paper_figures.mvg2018.made_up_trials import STUDIES, TRIALS, blind_rows, rows_of

REGRESSION = STUDIES["regression"]


@pytest.fixture
def claim_of(make_claim):
    """A claim with a margin of 2% of an error of 1."""
    return lambda **arguments: replace(make_claim(**arguments), margin=0.02)


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
        ({"gaussian": 2, "laplace": 3}, CONFIRMED),
        ({"gaussian": 2, "laplace": 1.0001}, PARTLY),
        ({"gaussian": 0.9, "laplace": 0.5}, CONTRADICTED),
        ({"gaussian": 1.0001, "laplace": 1.0001}, NOT_FOUND),
        ({"gaussian": 2}, PARTLY),
    ],
)
def test_order_at_the_best_share(study, means, expected, claim_of, make_results):
    # The other share and the other directions do not count.
    mvg = {"mvg right 0.55": 9, "mvg right 0.95": 1, "mvg wrong 0.95": 0.1, "mvg iid": 0.1}
    claim = claim_of(others=["gaussian", "laplace"])
    found = finding_on_order(claim, make_results(rows_of(study, mvg | means)), STUDIES[study])
    assert found.verdict == expected
    assert found.sizes.trials == TRIALS


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize("judge", [finding_on_order, finding_on_directions])
def test_all_at_the_level_without_information_show_no_order(study, judge, claim_of, make_results):
    means = {"mvg right 0.55": 0.5, "mvg wrong 0.55": 0.5001, "jl": 0.5001}
    rows = rows_of(study, means, spread=1e-5) + blind_rows(study, 0.5)
    claim = claim_of(others=["jl"] if judge is finding_on_order else ["wrong"])
    found = judge(claim, make_results(rows), STUDIES[study])
    assert found.verdict == INCONCLUSIVE
    assert "no signal" in found.parts[0].reason


@pytest.mark.parametrize("study", ["first_component", "covariance"])
def test_errors_above_the_random_answer_s_show_no_order(study, claim_of, make_results):
    rows = rows_of(study, {"mvg right 0.55": 0.6, "jl": 0.8}) + blind_rows(study, 0.5)
    claim = claim_of(others=["jl"])
    assert finding_on_order(claim, make_results(rows), STUDIES[study]).verdict == INCONCLUSIVE


def test_one_part_with_a_signal_is_judged_beside_one_without(claim_of, make_results):
    means = {"mvg right 0.55": 0.6, "jl": 0.6, "laplace": 0.1}
    rows = rows_of("first_component", means) + blind_rows("first_component", 0.5)
    claim = claim_of(others=["jl", "laplace"])
    found = finding_on_order(claim, make_results(rows), STUDIES["first_component"])
    assert [part.verdict for part in found.parts] == [INCONCLUSIVE, CONTRADICTED]


@pytest.mark.parametrize(
    ("linear", "rbf", "expected"),
    [(2, 0.5, DEPENDS), (2, 3, CONFIRMED), (0.5, 0.3, CONTRADICTED)],
)
def test_a_verdict_depends_on_the_kernel_where_kernels_disagree(
    linear, rbf, expected, claim_of, make_results
):
    rows = rows_of("regression", {"mvg right 0.55": 1, "jl": linear}, kernel="linear")
    rows += rows_of("regression", {"mvg right 0.55": 1, "jl": rbf}, kernel="rbf")
    found = finding_on_order(claim_of(others=["jl"]), make_results(rows), REGRESSION)
    assert found.verdict == expected
    assert [outcome.choice for outcome in found.outcomes] == ["linear kernel", "Gaussian kernel"]
    assert found.sizes.network == "kernel ridge regression"


@pytest.mark.parametrize(("other", "expected"), [(1.4, CONFIRMED), (1.1, CONTRADICTED)])
def test_order_by_a_factor(other, expected, claim_of, make_results):
    claim = replace(claim_of(others=["laplace"], factor=1.5), tolerance=0.2)
    results = make_results(rows_of("regression", {"mvg right 0.55": 1, "laplace": other}))
    assert finding_on_order(claim, results, REGRESSION).verdict == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [({}, CONFIRMED), ({"directions": "pca"}, CONTRADICTED), ({"subspace": True}, CONTRADICTED)],
)
def test_order_of_other_treatments(arguments, expected, claim_of, make_results):
    means = {"mvg right 0.55": 1, "mvg pca 0.55": 3, "gaussian": 2, "gaussian subspace": 0.5}
    claim = claim_of(others=["gaussian"], **arguments)
    results = make_results(rows_of("regression", means))
    assert finding_on_order(claim, results, REGRESSION).verdict == expected


def test_the_exact_calibration_is_told_and_does_not_decide(claim_of, make_results):
    means = {"mvg right 0.55": 1, "jl": 2}
    rows = rows_of("regression", means) + rows_of(
        "regression", {"mvg right 0.55": 30, "jl": 20}, calibration="exact", spread=0
    )
    found = finding_on_order(claim_of(others=["jl"]), make_results(rows), REGRESSION)
    assert found.verdict == CONFIRMED
    assert "MVG 30, Johnson-Lindenstrauss 20" in found.detail


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ({"mvg wrong 0.55": 2, "mvg wrong 0.95": 2, "mvg iid": 3}, CONFIRMED),
        # Better at one share, worse over all.
        ({"mvg wrong 0.55": 0.5, "mvg wrong 0.95": 5, "mvg iid": 3}, CONFIRMED),
        ({"mvg wrong 0.55": 2, "mvg wrong 0.95": 2, "mvg iid": 0.5}, PARTLY),
        ({"mvg wrong 0.55": 0.5, "mvg wrong 0.95": 0.5, "mvg iid": 0.5}, CONTRADICTED),
        ({"mvg wrong 0.55": 2, "mvg wrong 0.95": 2}, PARTLY),
    ],
)
def test_directions_over_all_shares(study, means, expected, claim_of, make_results):
    right = {"mvg right 0.55": 1, "mvg right 0.95": 1}
    results = make_results(rows_of(study, right | means))
    claim = claim_of(others=["wrong", "iid"])
    assert finding_on_directions(claim, results, STUDIES[study]).verdict == expected


@pytest.mark.parametrize(
    ("ours", "expected"),
    [(0.3, CONFIRMED), (0.5, NOT_FOUND), (0.8, CONTRADICTED)],
)
def test_a_small_error_is_below_the_random_answer_s(ours, expected, make_claim, make_results):
    rows = rows_of("covariance", {"mvg right 0.55": ours}, spread=1e-4)
    rows += blind_rows("covariance", 0.5)
    claim = make_claim()
    assert finding_on_learning(claim, make_results(rows), STUDIES["covariance"]).verdict == expected


def test_only_the_paper_s_data_shape_and_budget_are_judged(claim_of, make_results):
    covariance, claim = STUDIES["covariance"], claim_of(others=["gaussian"])
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
        ["MVG-1", "MVG", "right"],
        ["MVG-2", "MVG", "private directions"],
        ["Gaussian", "Classic Gaussian", ""],
        ["", "Classic Gaussian", "right features only"],
        ["", "MVG", "equal precision"],
        ["", "MVG", "all other features"],
        ["", "MGM-UDN", ""],
    ]
    assert table["tau"].tolist()[:2] == [0.95, 0.55]
    assert table["mean"].tolist() == pytest.approx([1, 5, 6, 8, 3, 4, 7], rel=0.02)
    assert table["above MVG"].tolist() == pytest.approx([0, 4, 5, 7, 2, 3, 6], rel=0.02)
    assert table["stated above MVG"].tolist()[2] == 0.003


@pytest.mark.parametrize(
    ("floor", "expected"), [(None, CONFIRMED), (0.5064, CONFIRMED), (0.25, CONTRADICTED)]
)
def test_a_floor_in_closed_form_replaces_the_sampled_one(floor, expected, make_claim, make_results):
    study = replace(STUDIES["first_component"], exact_floor=floor)
    rows = rows_of("first_component", {"mvg right 0.55": 0.3, "jl": 0.4}, spread=1e-4)
    rows = make_results(rows + blind_rows("first_component", 0.5))
    assert finding_on_learning(make_claim(), rows, study).verdict == expected
    # No error is below 0.25, so that no order can be seen.
    claim = replace(make_claim(others=["jl"]), margin=0.01)
    order = finding_on_order(claim, rows, study).verdict
    assert order == (CONFIRMED if expected == CONFIRMED else INCONCLUSIVE)
