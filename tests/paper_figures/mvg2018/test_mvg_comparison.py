"""Selections, tables and verdicts of mvg2018's studies on made-up results with a known answer."""

import pytest

from paper_figures.mvg2018.compared_study import (
    average_over_shares,
    right_treatment,
    select,
    select_best_share,
)
from paper_figures.mvg2018.tables import comparison_table
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
    assert set(select_best_share(right)["share"]) == {0.95}
    assert len(select_best_share(right)) == TRIALS
    assert len(select_best_share(select(scores, mechanism="jl"))) == TRIALS
    assert average_over_shares(right)["value"].mean() == pytest.approx(1.5, abs=0.03)
    assert len(average_over_shares(right)) == TRIALS


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
