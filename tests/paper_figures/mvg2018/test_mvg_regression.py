"""Table 3 of mvg2018 on made-up results."""

import pytest

from paper_figures.mvg2018.tables import table_3
from tests.paper_figures.mvg2018.made_up_trials import rows_of


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
