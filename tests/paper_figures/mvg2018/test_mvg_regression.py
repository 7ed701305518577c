"""Verdicts on Table 3 of mvg2018 that compare with predictions and with stated numbers."""

import pytest

from paper_figures.mvg2018.regression import (
    table_3,
)
from tests.paper_figures.mvg2018.made_up_trials import rows_of

KERNELS = {"linear": 1.0, "rbf": 0.9}


def without_noise(error, at_columns=0.3):
    """Rows of the non-private control, with two kernels."""
    rows = []
    for kernel, factor in KERNELS.items():
        control = {"non-private": factor * error}
        rows += rows_of("regression", control, kernel=kernel, spread=1e-9)
        for scaling, mean in (("largest", factor * error), ("columns", at_columns)):
            rows += rows_of(
                "regression",
                {"non-private": mean},
                metric="rmse_without_noise",
                scaling=scaling,
                kernel=kernel,
                spread=1e-9,
            )
    for metric in ("rmse_of_zero", "rmse_of_mean"):
        rows += rows_of("regression", {"non-private": 0.016}, metric=metric)
    return rows


def test_table_3_has_the_predictions_without_features_and_every_kernel(make_results):
    drawn = table_3(make_results(without_noise(0.012)))
    table = drawn.data
    assert table["mechanism"].tolist()[:2] == ["predict zero", "predict the mean"]
    assert table["kernel"].tolist()[2:] == ["linear kernel", "Gaussian kernel"]
    assert table["mean"].tolist() == pytest.approx([0.016, 0.016, 0.012, 0.0108], rel=0.02)
    assert "linear kernel and Gaussian kernel" in drawn.caption
