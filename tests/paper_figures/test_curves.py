"""Curves that agree are one; labels neither overlap nor leave the axis."""

import numpy as np
import pandas as pd
import pytest

from paper_figures.curves import break_gaps, merge_curves, spread


def lines(**points):
    """Rows of mechanisms, from their names to {x: y}."""
    return pd.DataFrame(
        [
            {"mechanism": name, "x": x, "y": y}
            for name, own in points.items()
            for x, y in own.items()
        ]
    )


def test_curves_that_agree_are_one():
    rows = lines(a={1: 1.0, 2: 2.0}, b={1: 1.0, 2: 2.5}, c={2: 2.01, 1: 1.001})
    assert [curve.mechanisms for curve in merge_curves(rows, "x", "y")] == [("a", "c"), ("b",)]


def test_a_curve_with_fewer_points_joins_one_with_more():
    rows = lines(a={1: 1.0, 2: 2.0}, b={2: 2.0}, c={2: 2.0, 3: 3.0})
    curves = merge_curves(rows, "x", "y")
    assert [curve.mechanisms for curve in curves] == [("a", "b"), ("c",)]
    np.testing.assert_array_equal(curves[0].y, [1.0, 2.0])
    assert curves[0].table("size", "loss").to_dict("list") == {
        "curve": ["a = b (from 2)"] * 2,
        "size": [1, 2],
        "loss": [1.0, 2.0],
    }


def test_merged_gaussian_noise_looks_like_the_analytic_gaussian():
    rows = lines(**{"gaussian": {1: 1.0}, "gaussian-analytic": {1: 1.0}, "laplace": {1: 2.0}})
    curves = merge_curves(rows, "x", "y")
    assert [curve.drawn_as for curve in curves] == ["gaussian-analytic", "laplace"]


@pytest.mark.parametrize(
    ("centres", "heights", "expected"),
    [
        ([0.9, 0.2], [0.1, 0.1], [0.9, 0.2]),
        # Labels that overlap move apart evenly.
        ([0.5, 0.5], [0.1, 0.3], [0.4, 0.6]),
        ([1.0, 1.0, 0.0], [0.1, 0.1, 0.2], [0.85, 0.95, 0.1]),
    ],
)
def test_labels_move_apart_within_the_axis(centres, heights, expected):
    assert spread(centres, heights) == pytest.approx(expected)


def test_no_line_crosses_more_than_a_decade_without_a_point():
    line = pd.DataFrame({"epsilon": [0.5, 50.0, 500.0, 0.05, 99856.0, 1e6], "mean": range(6)})
    drawn = break_gaps(line, "epsilon")
    runs = drawn["epsilon"].isna().cumsum()
    pieces = [list(own.dropna()) for _, own in drawn["epsilon"].groupby(runs)]
    assert pieces == [[0.05, 0.5], [50.0, 500.0], [99856.0, 1e6]]
    assert drawn.dropna().set_index("epsilon")["mean"][0.05] == 3
