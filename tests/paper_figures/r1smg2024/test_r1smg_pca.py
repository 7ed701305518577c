"""Figure 6, which is about Swarm Behaviour, on made-up results."""

import pytest

from paper_figures.r1smg2024.pca import (
    drawn_epsilon,
    figure_6,
)
from paper_figures.style import mechanism_title
from papers.r1smg2024 import PCA_RATIO
from runs.results import Results


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
