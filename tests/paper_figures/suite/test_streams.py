"""The figure and the table of streams on made-up errors."""

import pytest

from paper_figures.drawings import DrawingError
from paper_figures.suite.continual_release import streams, streams_table

CELL = {
    "study": "continual_release",
    "dataset": "prefix-sums",
    "epsilon": 1.0,
    "delta": 1e-6,
}


def rows_of(mechanism, errors, slack=0.0):
    """Rows from {(n, k): mean error}."""
    rows = []
    for (steps, times), error in errors.items():
        place = {
            "mechanism": mechanism,
            "shape": f"1x{steps}",
            "participations": times,
            "separation": steps // times,
        }
        numbers = {"mean_error": error, "max_error": 2 * error, "sensitivity_slack": slack}
        rows += [CELL | place | {"metric": m, "value": v} for m, v in numbers.items()]
        rows += [
            CELL | place | {"metric": "measured_error", "value": error + trial, "trial": trial}
            for trial in (0, 2)
        ]
    return rows


ROWS = [
    *rows_of("factorisation-dense", {(64, 1): 4.0, (128, 1): 5.0, (128, 2): 12.0}),
    *rows_of("factorisation", {(64, 1): 6.0, (128, 1): 10.0, (128, 2): 15.0}),
    *rows_of("factorisation-tree", {(64, 1): 8.0, (128, 1): 20.0, (128, 2): 30.0}, slack=0.1),
]


def test_ratios_are_those_to_the_least_error(make_results):
    drawn = streams(make_results(ROWS))
    data = drawn.data.set_index(["mechanism", "steps", "participations"])
    assert data.loc[("factorisation", 64, 1), "ratio"] == pytest.approx(1.5)
    assert data.loc[("factorisation", 128, 2), "ratio"] == pytest.approx(1.25)
    assert not data.loc[("factorisation-tree", 128, 2), "known"]
    right = drawn.figure.axes[2]
    hollow = [line for line in right.lines if line.get_markerfacecolor() == "white"]
    assert [list(line.get_ydata()) for line in hollow if len(line.get_ydata())] == [[4.0, 2.5]]
    assert right.get_xlabel() == "participations k, n = 128"
    assert len(drawn.caption.split()) <= 70


def test_participations_are_drawn_where_all_mechanisms_were_tried(make_results):
    more = rows_of("factorisation", {(256, 1): 11.0, (256, 2): 16.0})
    drawn = streams(make_results([*ROWS, *more]))
    assert drawn.figure.axes[2].get_xlabel() == "participations k, n = 128"
    assert "Banded:" not in drawn.note
    banded = rows_of("factorisation-banded", {(128, 1): 5.0, (128, 2): 11.0})
    assert "Banded:" in streams(make_results([*ROWS, *banded])).note


def test_the_table_has_the_seconds_of_the_search(make_results):
    place = {
        "mechanism": "factorisation",
        "shape": "1x64",
        "participations": 1,
        "separation": 64,
    }
    timing = CELL | place | {"metric": "calibrate_seconds", "value": 0.25}
    drawn = streams_table(make_results(ROWS, [timing]))
    data = drawn.data.set_index(["mechanism", "steps", "participations"])
    assert data.loc[("factorisation", 64, 1), "seconds"] == 0.25
    assert data.loc[("factorisation", 64, 1), "measured"] == pytest.approx(7.0)
    assert data["seconds"].notna().sum() == 1
    assert len(drawn.caption.split()) <= 70


def test_without_errors_there_is_nothing_to_draw(make_results):
    with pytest.raises(DrawingError, match="hold no errors of continual_release"):
        streams(make_results([CELL | {"metric": "other", "shape": "1x64"}]))
