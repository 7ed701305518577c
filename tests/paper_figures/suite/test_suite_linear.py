"""Linear queries: errors relative to the Gaussian's, and missing results."""

import pandas as pd
import pytest

from paper_figures.drawings import DrawingError
from paper_figures.suite.linear_queries import errors_per_query, linear, linear_table


def cell_rows(mechanism, mse, expected=None, workload="prefix", **cell):
    """Rows with two trials around a mean squared error, and the expected error if it is known."""
    cell = {
        "study": "linear_queries",
        "dataset": "adult-age",
        "mechanism": mechanism,
        "shape": "100",
        "epsilon": 1.0,
        "delta": 1e-6,
        "workload": workload,
    } | cell
    rows = [
        cell | {"metric": "mse", "value": mse * factor, "trial": trial}
        for trial, factor in enumerate((0.9, 1.1))
    ]
    rows.append(cell | {"metric": "records", "value": 50.0, "workload": None})
    if expected is not None:
        rows.append(cell | {"metric": "expected_mse", "value": expected})
    return rows


def test_the_expected_error_is_drawn_where_it_is_known(make_results):
    rows = cell_rows("gaussian-analytic", 9.0, expected=10.0)
    rows += cell_rows("dawa", 5.0) + cell_rows("somebody-elses", 39.0, expected=40.0)
    rows += cell_rows("non-private", 0.0)
    drawn = linear(make_results(rows)).data.set_index("mechanism")
    assert drawn["ratio"].to_dict() == {
        "gaussian-analytic": 1.0,
        "dawa": 0.5,
        "somebody-elses": 4.0,
    }
    assert drawn["claims"].to_dict() == {
        "gaussian-analytic": "approximate",
        "dawa": "pure",
        "somebody-elses": "see the config",
    }
    errors = errors_per_query(make_results(rows).rows).set_index("mechanism")
    assert errors.loc["dawa", "measured"] == pytest.approx(5.0)
    # Half the distance between the two trials.
    assert errors.loc["dawa", "standard_error"] == pytest.approx(0.5)
    assert pd.isna(errors.loc["dawa", "expected"])


def test_the_epsilon_nearest_to_a_tenth_is_drawn(make_results):
    rows = [
        row
        for epsilon in (0.01, 0.2, 1.0)
        for row in cell_rows("gaussian-analytic", 1.0, 1.0, epsilon=epsilon)
    ]
    drawn = linear(make_results(rows))
    assert drawn.data["epsilon"].tolist() == [0.2]
    assert "at epsilon 0.2" in drawn.caption


def test_mechanisms_with_the_same_errors_share_a_line(make_results):
    rows = cell_rows("gaussian-analytic", 1.0, 1.0) + cell_rows("imgm", 1.0, 1.0)
    rows += cell_rows("gaussian", 2.0, 2.0)
    drawn = linear(make_results(rows))
    assert drawn.data["line"].tolist() == ["Analytic Gaussian = IMGM", "Classic Gaussian"]
    names = [tick.get_text() for tick in drawn.figure.axes[0].get_yticklabels()]
    assert names == ["Classic Gaussian", "Analytic Gaussian\n= IMGM"]


def test_what_lies_beyond_the_axis_is_written_as_a_number(make_results):
    rows = cell_rows("gaussian-analytic", 1.0, 1.0) + cell_rows("r1smg", 2e-5, 2e-5)
    rows += cell_rows("r1smg", 3e7, 3e7, calibration="exact")
    drawn = linear(make_results(rows))
    texts = [text.get_text() for text in drawn.figure.axes[0].texts]
    assert any("2e-5" in text for text in texts) and any("3e7" in text for text in texts)
    # The data have the numbers themselves.
    assert sorted(drawn.data["ratio"]) == pytest.approx([2e-5, 1.0, 3e7])


def test_workloads_do_not_mix(make_results):
    rows = cell_rows("gaussian-analytic", 1.0, expected=1.0)
    rows += cell_rows("gaussian-analytic", 6.0, expected=5.0, workload="random")
    errors = errors_per_query(make_results(rows).rows).set_index("workload")
    assert errors["error"].to_dict() == {"prefix": 1.0, "random": 5.0}
    assert errors["measured"].to_dict() == pytest.approx({"prefix": 1.0, "random": 6.0})


def test_the_note_says_what_has_no_result(make_results):
    rows = cell_rows("gaussian-analytic", 1.0, 1.0)
    rows += cell_rows("gaussian-analytic", 1.0, 1.0, dataset="city-grid", data_source="simulated")
    absent = {
        "study": "linear_queries",
        "mechanism": "hb",
        "calibration": "exact",
        "shape": "100",
    }
    rows.append(absent | {"dataset": "city-grid", "metric": "", "status": "unsupported"})
    refused = {"mechanism": "matrix-mechanism-cvxpy", "metric": "refused", "value": 1.0}
    rows.append(absent | refused | {"dataset": "adult-age", "workload": "random"})
    drawn = linear(make_results(rows))
    assert "(unsupported: H_b on simulated city map)" in drawn.note
    assert "Matrix mechanism (CVXPY) (random ranges on Adult age)" in drawn.note
    assert "Adult age (official data, 100 cells, 50 records); simulated city map" in drawn.note


def test_the_table_says_what_each_mechanism_claims(make_results):
    rows = cell_rows("laplace", 1.0) + cell_rows("r1smg", 1.0) + cell_rows("somebody-elses", 1.0)
    table = linear_table(make_results(rows)).data.set_index("mechanism")
    assert table["claims"].to_dict() == {
        "r1smg": "approximate",
        "laplace": "pure",
        "somebody-elses": "see the config",
    }
    assert table["measured at 1"].tolist() == pytest.approx([1.0] * 3)


def test_without_the_gaussian_there_is_no_figure(make_results):
    with pytest.raises(DrawingError, match="add it to the config"):
        linear(make_results(cell_rows("laplace", 1.0)))
    with pytest.raises(DrawingError, match="run it first"):
        linear_table(make_results(cell_rows("laplace", 1.0)[2:]))
