"""Figure 4 and the verdict on Table 6 of mvg2018 on made-up results."""

import pytest

from paper_figures.mvg2018.compared_study import RANDOM_COMPONENT
from paper_figures.mvg2018.figure_4 import figure_4
from paper_figures.mvg2018.tables import table_4, table_6
from tests.paper_figures.mvg2018.made_up_trials import STUDIES, rows_of


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
