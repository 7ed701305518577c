"""Selections, tables and verdicts of mvg2018's studies on made-up results with a known answer."""

import pytest

from claims.verdicts import CONFIRMED, CONTRADICTED
from paper_figures.mvg2018.tables import comparison_table, table_3
from paper_figures.mvg2018.verdicts import (
    ahead_of_a_guess,
    error_above,
    study_times,
)
from tests.paper_figures.mvg2018.made_up_trials import STUDIES, rows_of

REGRESSION = STUDIES["regression"]


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


def test_a_guess_is_judged_with_one_kernel_too(make_results):
    rows = rows_of("regression", {"mvg right 0.5": 1, "random-answer": 2}, kernel="linear")
    outcomes = ahead_of_a_guess(make_results(rows), margin=0.1).outcomes
    assert [outcome.verdict for outcome in outcomes] == [CONFIRMED, CONTRADICTED]


def test_rows_of_bundled_data_have_no_part_in_a_verdict(make_results):
    wine = {"data_source": "bundled", "dataset": "wine"}

    def mixed(means, bundled, **more):
        return [
            row | added
            for study in STUDIES
            for found, added in ((means, {}), (bundled, wine))
            for row in rows_of(study, found, **more)
        ]

    means = {"mvg a 0.5": 0.2, "jl": 0.4, "non-private": 0.1, "random-answer": 0.5}
    scores = mixed(means, {"random-answer": 100})
    timings = mixed({"mvg a 0.5": 2, "jl": 9}, {}, metric="release_seconds")
    timings += mixed({"mvg iid": 1}, {"mvg iid": 50}, metric="svd_seconds")
    results, none = make_results(scores, timings), {name: [] for name in STUDIES}
    above = error_above(results, study="first_component", others=["jl"], margin=0.1)
    slower = none | {"regression": ["jl"]}
    times = study_times(results, faster=none, slower=slower, tolerance=1.0)
    assert [above.verdict, times.verdict] == [CONFIRMED, CONFIRMED]


def test_table_3_has_the_predictions_without_features_and_every_kernel(make_results):
    rows = [
        *rows_of("regression", {"non-private": 0.012}, kernel="linear"),
        *rows_of("regression", {"non-private": 0.0108}, kernel="rbf"),
        *rows_of("regression", {"non-private": 0.016}, metric="rmse_of_zero"),
        *rows_of("regression", {"non-private": 0.016}, metric="rmse_of_mean"),
    ]
    drawn = table_3(make_results(rows))
    table = drawn.data
    assert table["mechanism"].tolist()[:2] == ["predict zero", "predict the mean"]
    assert table["kernel"].tolist()[2:] == ["linear kernel", "Gaussian kernel"]
    assert table["mean"].tolist() == pytest.approx([0.016, 0.016, 0.012, 0.0108], rel=0.02)
    assert "linear kernel and Gaussian kernel" in drawn.caption
