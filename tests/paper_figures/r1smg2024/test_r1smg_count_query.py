"""Figures 4 and 5 and the verdicts on the count query, on made-up results that decide them."""

import math

import numpy as np
import pytest

from paper_figures.drawings import DrawingError
from paper_figures.r1smg2024.count_query import _masked_loss
from paper_figures.r1smg2024.count_query_figures import (
    METRICS,
    counts_over_epsilon,
    figure_4,
    figure_5,
)
from runs.results import Results

TRIALS = 30


def count_rows(means, metric, calibration="published"):
    """Trials of a metric around the mean of each mechanism."""
    rng = np.random.default_rng(1)
    return [
        {
            "mechanism": mechanism,
            "data_source": "official",
            "calibration": calibration,
            "epsilon": 1e-5 if mechanism == "r1smg" else 0.5,
            "trial": trial,
            "metric": metric,
            "value": value,
        }
        for mechanism, mean in means.items()
        for trial, value in enumerate(mean * (1 + 0.01 * rng.standard_normal(TRIALS)))
    ]


@pytest.mark.parametrize("valid", [3, 30])
def test_the_median_of_r1smg_s_masked_loss(valid, make_rows):
    facts = {"expected_loss": 2.0, "valid_cells": valid}
    rows = make_rows(
        *(
            {"mechanism": "r1smg", "shape": "6x6", "metric": metric, "value": float(value)}
            for metric, value in facts.items()
        )
    )
    rng = np.random.default_rng(0)
    direction = rng.standard_normal((100_000, 36))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    noise = math.sqrt(2.0) * rng.standard_normal((100_000, 1)) * direction
    sampled = np.median(np.sum(noise[:, :valid] ** 2, axis=1))
    assert _masked_loss(rows)[1] == pytest.approx(sampled, rel=0.02)


@pytest.mark.parametrize("others", [["gaussian"], []])
def test_figure_4_without_maps_at_the_paper_s_epsilons_says_what_to_set(others, make_rows):
    cell = {"metric": "released_count", "epsilon": 2.0, "trial": 0, "row": 0, "column": 0}
    maps = [cell | {"mechanism": key} for key in ("non-private", *others)]
    with pytest.raises(DrawingError, match=r"set count_query\.map_epsilons"):
        figure_4(Results(make_rows({}), maps=make_rows(*maps)))


def test_figure_5_draws_the_paper_s_epsilons_alone(make_results):
    rows = [
        row | {"epsilon": epsilon}
        for epsilon in (1e-5, 0.5)
        for row in count_rows({"r1smg": 5, "gaussian": 7}, "loss")
    ]
    drawn = figure_5(make_results(rows))
    pairs = drawn.data[["mechanism", "epsilon"]].drop_duplicates()
    assert sorted(map(tuple, pairs.to_numpy())) == [("gaussian", 0.5), ("r1smg", 1e-5)]
    assert "epsilon 0.5 (R1SMG as published: 1e-05), delta 1e-07" in drawn.caption


def test_the_note_on_counts_names_published_curves_that_nobody_can_tell_apart(make_results):
    means = {"imgm": 1.0, "gaussian-analytic": 1.05, "laplace": 1.3}
    rows = [
        row
        for calibration, factor in (("published", 1.0), ("exact", 2.0))
        for metric in METRICS
        for row in count_rows(
            {name: factor * mean for name, mean in means.items()}, metric, calibration=calibration
        )
    ]
    note = counts_over_epsilon(make_results(rows)).note
    assert "within 10% of each other: Analytic Gaussian and IMGM." in note
