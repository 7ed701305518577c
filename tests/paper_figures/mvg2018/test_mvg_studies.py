"""Selections, figures, tables and verdicts of mvg2018's studies on made-up trials.

They lie around chosen means, at the paper's data and budget, so that the answer is known.
"""

import numpy as np
import pytest

from claims.verdicts import CONFIRMED, CONTRADICTED
from paper_figures.mvg2018.compared_study import RANDOM_COMPONENT, STUDIES
from paper_figures.mvg2018.figures import comparison_table, figure_4, table_3, table_4, table_6
from paper_figures.mvg2018.verdicts import (
    ahead_of_a_guess,
    error_above,
    study_times,
)

TRIALS = 20


def rows_of(study, means, *, metric=None, kernel=None):
    """Rows around the mean of each "mechanism", "mechanism treatment" or "... share"."""
    rng = np.random.default_rng(1)
    setting = STUDIES[study].setting
    rows = []
    for name, mean in means.items():
        mechanism, treatment, share = (*name.split(), None, None)[:3]
        values = mean * (1 + 0.01 * rng.standard_normal(TRIALS))
        rows += [
            {
                "paper": "mvg2018",
                "study": study,
                "dataset": "made-up",
                "data_source": "official",
                "mechanism": mechanism,
                "calibration": "published",
                "shape": "x".join(map(str, setting.query.shape)),
                "epsilon": 1.0,
                "delta": setting.budget.delta,
                "treatment": treatment,
                "share": float(share) if share else np.nan,
                "kernel": kernel,
                "metric": metric or STUDIES[study].score,
                "trial": trial,
                "value": value,
            }
            for trial, value in enumerate(values)
        ]
    return rows


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


def rows_of_all(means, **more):
    """Rows of every study."""
    return [row for study in STUDIES for row in rows_of(study, means, **more)]


def test_table_6_has_medians_of_the_whole_query_in_milliseconds(make_results):
    seconds = {"laplace": 2e-3, "laplace subspace": 9}
    timings = rows_of_all(seconds, metric="release_seconds")
    table = table_6(make_results(rows_of_all({"laplace": 2}), timings)).data
    assert table["mechanism"].tolist() == ["Laplace"]
    for study in ("Exp. I", "Exp. II", "Exp. III"):
        assert table[study].tolist() == pytest.approx([2], rel=0.02)
    assert table["paper"].tolist() == ["0.4, 0.5, 8.0"]


def test_figure_4_draws_every_treatment_of_mvg(make_results):
    means = {"mvg iid": 3, "mvg right 0.55": 1, "mvg right 0.95": 2, "mvg-sqrt iid": 9, "jl": 9}
    drawn = figure_4(make_results(rows_of_all(means)))
    assert "draws" not in drawn.caption
    for study in STUDIES:
        lines = drawn.data[drawn.data["study"] == study]
        assert lines["treatment"].tolist() == ["iid", "right", "right"]
        assert lines["share"].tolist()[1:] == [0.55, 0.95]
        assert lines["mean"].tolist() == pytest.approx([3, 1, 2], rel=0.02)
        assert lines["mean"].between(lines["low"], lines["high"], inclusive="neither").all()


@pytest.mark.parametrize(("records", "of_the_paper"), [(2021, True), (1000, False)])
def test_draws_and_the_closed_form_are_those_of_the_papers_records(
    make_results, few_draws, records, of_the_paper
):
    movement = {"dataset": "movement_aal", "delta": 1 / records}
    rows = [
        row | (movement if row["study"] == "first_component" else {})
        for row in rows_of_all({"mvg iid": 3, "mvg right 0.55": 1, "random-answer": 2})
    ]
    drawn = figure_4(make_results(rows))
    assert ("; II as published by 2,000 draws." in drawn.caption) == of_the_paper
    levels = [line.get_ydata()[0] for line in drawn.figure.axes[1].lines]
    assert (RANDOM_COMPONENT in levels) == of_the_paper
    assert ("0.5064" in table_4(make_results(rows)).note) == of_the_paper
