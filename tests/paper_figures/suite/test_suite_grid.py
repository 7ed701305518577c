"""The figures over the number of elements and epsilon: what they show, and what they leave out."""

import pytest

from paper_figures.drawings import DrawingError
from paper_figures.suite.guarantee_grid import FLOOR, headline, validity


def grid_rows(mechanism, deltas, epsilon=1.0):
    """True delta and expected loss by shape, as published; claimed delta 1e-5."""
    cell = {
        "experiment": "guarantee",
        "dataset": "grid",
        "mechanism": mechanism,
        "epsilon": epsilon,
        "delta": 1e-5,
    }
    return [
        cell | {"shape": shape, "metric": metric, "value": value}
        for shape, delta in deltas.items()
        for metric, value in (("true_delta", delta), ("expected_loss", 1.0))
    ]


def test_headline_is_at_the_epsilon_nearest_to_1(make_results):
    rows = [
        row
        for epsilon in (0.01, 3.0, 10.0)
        for row in grid_rows("gaussian", {"2x2": 1e-6, "4x4": 1e-6}, epsilon)
    ]
    drawn = headline(make_results(rows))
    assert set(drawn.data["epsilon"]) == {3.0}
    assert drawn.data["size"].tolist() == [4, 16, 4, 16]
    assert "claim (3, 1e-05)" in drawn.caption


def test_headline_names_the_mechanisms_at_the_floor(make_results):
    rows = grid_rows("mvg-sqrt", {"2x2": 0.0, "4x4": FLOOR / 2})
    rows += grid_rows("somebody-elses", {"2x2": 1e-4, "4x4": 0.0})
    drawn = headline(make_results(rows))
    assert "drawn at 1e-12: those of MVG (square root), at every size" in drawn.note
    # The numbers themselves are not raised to the floor.
    assert drawn.data["value"].min() == 0.0
    labels = [text.get_text() for text in drawn.figure.legends[0].get_texts()]
    assert labels[:2] == ["MVG (square root)", "somebody-elses"]


def test_validity_is_about_r1smg_alone(make_results):
    rows = grid_rows("r1smg", {"2x2": 1e-3, "4x4": 1e-6}) + grid_rows("gaussian", {"2x2": 0.0})
    assert validity(make_results(rows)).data["ratio"].tolist() == pytest.approx([2, -1])
    with pytest.raises(DrawingError, match="no true delta of r1smg"):
        validity(make_results(grid_rows("gaussian", {"2x2": 1e-6})))
    with pytest.raises(DrawingError, match="no exact profile"):
        headline(make_results(grid_rows("hb", {"2x2": 1e-6})))
