"""Figures 4 to 6, on counts and principal components, on made-up results that decide them."""

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
from paper_figures.r1smg2024.pca import drawn_epsilon, figure_6
from paper_figures.style import mechanism_title
from papers.r1smg2024 import PCA_RATIO
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


def test_r1smg_is_drawn_at_the_others_epsilon_as_published_and_at_its_own_when_exact(make_rows):
    rows = make_rows(
        {"epsilon": 0.2},
        {"epsilon": 1.6},
        {"mechanism": "r1smg", "epsilon": 0.4 / PCA_RATIO},
        {"mechanism": "r1smg", "epsilon": 0.4},
        {"mechanism": "r1smg", "epsilon": 0.4 / PCA_RATIO, "calibration": "exact"},
        {"mechanism": "r1smg", "epsilon": 0.4, "calibration": "exact"},
    )
    nan = float("nan")
    expected = [0.2, 1.6, 0.4, nan, nan, 0.4]
    assert drawn_epsilon(rows).tolist() == pytest.approx(expected, rel=1e-12, nan_ok=True)


def test_figure_6_has_the_controls_in_every_panel_and_few_curves(make_rows):
    cell = {"study": "pca", "dataset": "boids", "data_source": "simulated"}
    numbers = {"components": 20, "records": 2000}
    metrics = dict.fromkeys(("total_deviation", "leading_deviation", "accuracy"), 0.5)
    names = [
        "non-private",
        "random-answer",
        "r1smg",
        "gaussian",
        "imgm",
        "mvg",
        "mvg-sqrt",
        "udn",
        "wishart",
        "ppca",
    ]
    rows = [
        cell
        | {"shape": "240x240", "delta": 1e-7, "mechanism": name, "calibration": calibration}
        | {"epsilon": 1e-7 if (name, calibration) == ("r1smg", "published") else 1.0}
        | {"metric": metric, "value": value, "trial": trial}
        for name in names
        for calibration in ("published", "exact")
        for metric, value in (metrics | numbers).items()
        for trial in range(2)
    ]
    drawn = figure_6(Results(rows=make_rows(*rows)))
    assert len(drawn.figure.axes) == 12
    shown = set()
    for axis in drawn.figure.axes:
        labels = axis.get_legend_handles_labels()[1]
        assert {"Non-private", "Random answer", "R1SMG"} <= set(labels)
        assert len(labels) <= 10
        shown |= set(labels)
    assert shown == {mechanism_title(name) for name in names}
    assert len(drawn.caption.split()) <= 70
