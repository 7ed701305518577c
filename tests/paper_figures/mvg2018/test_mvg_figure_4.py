"""Figure 4 and the verdict on Table 6 of mvg2018 on made-up results."""

import pytest

from paper_figures.mvg2018.figure_4 import figure_4
from paper_figures.mvg2018.tables import table_6
from tests.paper_figures.mvg2018.made_up_trials import STUDIES, rows_of


def seconds_of(means):
    """Make timings in every study."""
    return [row for s in STUDIES for row in rows_of(s, means, metric="release_seconds")]


@pytest.fixture
def scores():
    means = {"mvg right 0.55": 1, "mvg right 0.95": 1, "laplace": 2}
    return [row for study in STUDIES for row in rows_of(study, means)]


def test_table_6_has_medians_of_the_whole_query_in_milliseconds(scores, make_results):
    timings = seconds_of({"laplace": 2e-3, "laplace subspace": 9})
    table = table_6(make_results(scores, timings)).data
    assert table["mechanism"].tolist() == ["Laplace"]
    for study in ("Exp. I", "Exp. II", "Exp. III"):
        assert table[study].tolist() == pytest.approx([2], rel=0.02)
    assert table["paper"].tolist() == ["0.4, 0.5, 8.0"]


def test_figure_4_draws_every_treatment_of_mvg(make_results):
    means = {"mvg iid": 3, "mvg right 0.55": 1, "mvg right 0.95": 2, "mvg-sqrt iid": 9, "jl": 9}
    rows = [row for study in STUDIES for row in rows_of(study, means)]
    drawn = figure_4(make_results(rows))
    for study in STUDIES:
        lines = drawn.data[drawn.data["study"] == study]
        assert lines["treatment"].tolist() == ["iid", "right", "right"]
        assert lines["share"].tolist()[1:] == [0.55, 0.95]
        assert lines["mean"].tolist() == pytest.approx([3, 1, 2], rel=0.02)
        assert (lines["low"] < lines["mean"]).all()
        assert (lines["mean"] < lines["high"]).all()
