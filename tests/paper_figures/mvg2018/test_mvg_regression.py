"""Verdicts on Table 3 of mvg2018 that compare with predictions and with stated numbers."""

import pytest

from paper_figures.ledger import CONTRADICTED, NOT_REPRODUCED, REPRODUCED
from paper_figures.mvg2018.regression import regression_close, regression_without_noise, table_3
from tests.paper_figures.mvg2018.made_up_trials import rows_of


def without_noise(error):
    """Rows of the non-private control."""
    rows = rows_of("regression", {"non-private": error}, spread=1e-9)
    for scaling, mean in (("largest", error), ("columns", 0.3)):
        control = {"non-private": mean}
        metric = "rmse_without_noise"
        rows += rows_of("regression", control, metric=metric, scaling=scaling, spread=1e-9)
    for metric in ("rmse_of_zero", "rmse_of_mean"):
        rows += rows_of("regression", {"non-private": 0.016}, metric=metric)
    return rows


@pytest.mark.parametrize(("ours", "expected"), [(0.0120, REPRODUCED), (0.3, NOT_REPRODUCED)])
def test_regression_without_noise(ours, expected, make_claim, make_results):
    results = make_results(without_noise(ours))
    found = regression_without_noise(make_claim(0.2, stated=0.01226), results)
    assert found.verdict == expected
    assert f"largest {ours:.4g}, columns 0.3" in found.detail


def test_table_3_has_the_predictions_without_features(make_results):
    table = table_3(make_results(without_noise(0.012))).data
    assert table["mechanism"].tolist() == ["non-private", "predict zero", "predict the mean"]
    assert table["mean"].tolist() == pytest.approx([0.012, 0.016, 0.016], rel=0.02)


@pytest.mark.parametrize(
    ("mvg", "zero", "expected"),
    [
        (0.016, 0.02, REPRODUCED),
        (0.016, 0.016, NOT_REPRODUCED),
        (0.03, 0.04, NOT_REPRODUCED),
        (0.016, 0.014, CONTRADICTED),
    ],
)
def test_close_needs_to_beat_zero(mvg, zero, expected, make_claim, make_results):
    rows = rows_of("regression", {"non-private": 0.012, "mvg right 0.55": mvg}, spread=1e-9)
    rows += rows_of("regression", {"non-private": zero}, metric="rmse_of_zero", spread=0)
    found = regression_close(make_claim(0.25, stated=0.004), make_results(rows))
    assert found.verdict == expected
