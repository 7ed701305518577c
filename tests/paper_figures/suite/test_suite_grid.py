"""The map of R1SMG's claim over the number of elements and epsilon."""

import pytest

from paper_figures.drawings import DrawingError
from paper_figures.suite.guarantee_grid import validity


def test_validity_is_about_r1smg_alone(make_results, make_grid_rows):
    rows = make_grid_rows("r1smg", {"2x2": 1e-3, "4x4": 1e-6})
    rows += make_grid_rows("gaussian", {"2x2": 0.0})
    assert validity(make_results(rows)).data["ratio"].tolist() == pytest.approx([2, -1])
    with pytest.raises(DrawingError, match="no true delta of r1smg"):
        validity(make_results(make_grid_rows("gaussian", {"2x2": 1e-6})))
