"""Verdicts on Table 3 of mvg2018 that compare with predictions and with stated numbers."""

from dataclasses import replace

import pytest

from claims.verdicts import (
    CONFIRMED,
    CONTRADICTED,
    DEPENDS,
    INCONCLUSIVE,
)
from paper_figures.mvg2018.regression import (
    regression_close,
    regression_sources,
    regression_without_noise,
    table_3,
)
from tests.paper_figures.mvg2018.made_up_trials import blind_rows, rows_of

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


@pytest.mark.parametrize(
    ("ours", "at_columns", "expected"),
    [
        (0.0125, 0.3, DEPENDS),
        (0.0125, 0.0120, CONFIRMED),
        (0.3, 0.3, CONTRADICTED),
    ],
)
def test_regression_without_noise(ours, at_columns, expected, make_claim, make_results):
    results = make_results(without_noise(ours, at_columns))
    found = regression_without_noise(make_claim(0.2, stated=0.01226), results)
    assert found.verdict == expected
    assert [outcome.choice for outcome in found.outcomes] == [
        "each feature onto [-1, 1]",
        "divided by the largest value",
    ]


def test_table_3_has_the_predictions_without_features_and_every_kernel(make_results):
    drawn = table_3(make_results(without_noise(0.012)))
    table = drawn.data
    assert table["mechanism"].tolist()[:2] == ["predict zero", "predict the mean"]
    assert table["kernel"].tolist()[2:] == ["linear kernel", "Gaussian kernel"]
    assert table["mean"].tolist() == pytest.approx([0.016, 0.016, 0.012, 0.0108], rel=0.02)
    assert "linear kernel and Gaussian kernel" in drawn.caption


@pytest.mark.parametrize(
    ("linear", "rbf", "expected"),
    [
        (0.014, 0.014, CONFIRMED),
        (0.014, 0.020, DEPENDS),
        (0.020, 0.020, CONTRADICTED),
        # Less than stated is not the stated difference either.
        (0.010, 0.010, CONTRADICTED),
    ],
)
def test_the_difference_to_no_noise_is_compared_with_the_stated_one(
    linear, rbf, expected, make_claim, make_results
):
    rows = without_noise(0.010)
    for kernel, error in (("linear", linear), ("rbf", rbf - 0.001)):
        rows += rows_of("regression", {"mvg right 0.55": error}, kernel=kernel, spread=1e-3)
    claim = replace(make_claim(stated=0.004), margin=0.002)
    assert regression_close(claim, make_results(rows)).verdict == expected


@pytest.mark.parametrize(
    ("private", "zero", "expected"),
    [(2, 5, CONFIRMED), (0.5, 5, CONTRADICTED), (1, 1, INCONCLUSIVE)],
)
def test_domain_knowledge_against_private_directions(
    private, zero, expected, make_claim, make_results
):
    means = {"mvg right 0.55": 1, "mvg right 0.95": 9, "mvg pca 0.55": private}
    rows = rows_of("regression", means, spread=1e-5) + blind_rows("regression", zero)
    claim = replace(make_claim(), margin=0.02)
    assert regression_sources(claim, make_results(rows)).verdict == expected
