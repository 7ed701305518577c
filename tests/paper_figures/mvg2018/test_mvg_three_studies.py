"""Figure 4 and the verdict on Table 6 of mvg2018 on made-up results."""

import matplotlib.pyplot as plt
import pytest

from paper_figures.ledger import CONTRADICTED, NOT_REPRODUCED, NOT_RUN, REPRODUCED
from paper_figures.mvg2018.three_studies import experiment_times, figure_4, table_6
from tests.paper_figures.mvg2018.made_up_trials import STUDIES, TRIALS, rows_of


def seconds_of(means):
    """Timings in every study."""
    return [row for s in STUDIES for row in rows_of(s, means, metric="release_seconds")]


@pytest.fixture
def scores():
    means = {"mvg right 0.55": 1, "mvg right 0.95": 1, "laplace": 2}
    return [row for study in STUDIES for row in rows_of(study, means)]


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ({"laplace": 1, "jl": 9}, REPRODUCED),
        ({"laplace": 5, "jl": 9}, CONTRADICTED),
        # The machine's state can make that much.
        ({"laplace": 3.4, "jl": 9}, NOT_REPRODUCED),
        ({"laplace": 1}, NOT_RUN),
    ],
)
def test_times(means, expected, scores, make_claim, make_results):
    # Other treatments and shares of MVG do not decide, nor does the subspace.
    other = {"mvg iid": 99, "mvg right 0.55": 3, "mvg right 0.95": 99, "laplace subspace": 99}
    timings = seconds_of(other | means)
    claim = make_claim(
        0.25,
        faster={study: ["laplace"] for study in STUDIES},
        slower={study: ["jl"] for study in STUDIES},
    )
    assert experiment_times(claim, make_results(scores, timings)).verdict == expected

    # Nor do releases that a busy machine interrupts.
    for row in timings[:: TRIALS // 4]:
        if row["mechanism"] in means:
            row["value"] *= 100
    assert experiment_times(claim, make_results(scores, timings)).verdict == expected


def test_table_6_has_medians_of_the_whole_query_in_milliseconds(scores, make_results):
    timings = seconds_of({"laplace": 2e-3, "laplace subspace": 9})
    table = table_6(make_results(scores, timings)).data
    assert table["mechanism"].tolist() == ["laplace"]
    for study in ("Exp. I", "Exp. II", "Exp. III"):
        assert table[study].tolist() == pytest.approx([2], rel=0.02)
    assert table["paper"].tolist() == ["0.4, 0.5, 8.0"]


def test_figure_4_draws_every_treatment_of_mvg(make_results):
    means = {"mvg iid": 3, "mvg right 0.55": 1, "mvg right 0.95": 2, "mvg-sqrt iid": 9, "jl": 9}
    rows = [row for study in STUDIES for row in rows_of(study, means)]
    drawn = figure_4(make_results(rows))
    plt.close(drawn.figure)
    for study in STUDIES:
        lines = drawn.data[drawn.data["experiment"] == study]
        assert lines["treatment"].tolist() == ["iid", "right", "right"]
        assert lines["share"].tolist()[1:] == [0.55, 0.95]
        assert lines["mean"].tolist() == pytest.approx([3, 1, 2], rel=0.02)
        assert (lines["low"] < lines["mean"]).all()
        assert (lines["mean"] < lines["high"]).all()
