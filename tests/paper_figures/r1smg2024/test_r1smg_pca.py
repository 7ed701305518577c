"""The claims about Swarm Behaviour, on made-up results whose verdict is known."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from claims.ledger import CannotJudge
from claims.verdicts import CONFIRMED, CONTRADICTED, PARTLY
from paper_figures.r1smg2024.numbers import PCA_EPSILONS, PCA_RATIO
from paper_figures.r1smg2024.pca import (
    component_order,
    drawn_epsilon,
    exact_components,
    figure_6,
)
from paper_figures.style import mechanism_title
from runs.results import Results

TRIALS = 12
# Accuracy, and share of the leading variance that is lost, by the mechanisms of the claim.
NEAR, FAR = (0.95, 0.02), (0.6, 0.9)
STORY = {
    "non-private": (0.96, 0.0),
    "r1smg": NEAR,
    "ppca": NEAR,
    "wishart": (0.94, 0.05),
    "gaussian": FAR,
    "mvg": FAR,
}


def rows_of(story, *, source="official", shape="2400x2400", spread=0.001):
    """Trials around a mean of every mechanism, at the epsilons of the paper."""
    rng = np.random.default_rng(0)
    rows = []
    for mechanism, (accuracy, lost) in story.items():
        for epsilon in PCA_EPSILONS:
            cell = {
                "study": "pca",
                "dataset": "swarm",
                "data_source": source,
                "shape": shape,
                "mechanism": mechanism,
                "epsilon": epsilon / PCA_RATIO if mechanism == "r1smg" else epsilon,
            }
            exact = {"leading_variance": 50.0, "records": 24015, "records_dropped": 1}
            rows += [cell | {"metric": name, "value": value} for name, value in exact.items()]
            for trial in range(TRIALS):
                noise = 1 + spread * rng.standard_normal(2)
                drawn = {"accuracy": accuracy * noise[0], "leading_deviation": 50 * lost * noise[1]}
                rows += [
                    cell | {"metric": name, "value": value, "trial": trial}
                    for name, value in drawn.items()
                ]
    return rows


@pytest.fixture
def order_claim(make_claim):
    claim = make_claim(
        metrics=["accuracy", "leading_deviation"],
        close=["non-private", "ppca", "wishart"],
        behind=["gaussian", "mvg"],
    )
    return replace(claim, margin=0.05)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, CONFIRMED),
        ({"wishart": (0.8, 0.02)}, PARTLY),
        ({"wishart": (0.95, 0.3)}, PARTLY),
        ({"mvg": (0.97, 0.001)}, PARTLY),
        ({"ppca": None}, PARTLY),
        (
            {
                "r1smg": (0.7, 0.5),
                "gaussian": (0.9, 0.1),
                "mvg": (0.9, 0.1),
                "wishart": (0.95, 0.02),
            },
            CONTRADICTED,
        ),
    ],
)
def test_component_order(changes, expected, order_claim, make_results):
    story = {key: value for key, value in (STORY | changes).items() if value is not None}
    found = component_order(order_claim, make_results(rows_of(story)))
    assert found.verdict == expected
    assert found.sizes.trials == TRIALS


def test_component_order_needs_every_epsilon_of_the_paper(order_claim, make_results):
    rows = [r for r in rows_of(STORY) if r["mechanism"] != "r1smg" or r["epsilon"] > 3e-8]
    with pytest.raises(CannotJudge, match=r"no accuracy of r1smg at 0\.2 on the paper"):
        component_order(order_claim, make_results(rows))


@pytest.mark.parametrize(("accuracy", "expected"), [(0.96, CONFIRMED), (0.9, CONTRADICTED)])
def test_exact_components(accuracy, expected, make_claim, make_results):
    story = STORY | {"non-private": (accuracy, 0.0)}
    found = exact_components(make_claim(0.01), make_results(rows_of(story)))
    assert found.verdict == expected
    assert "24015 records (1 with an empty cell left out)" in found.detail


@pytest.mark.parametrize("kind", [{"source": "simulated"}, {"shape": "240x240"}])
def test_other_data_say_nothing_about_swarm_behaviour(kind, order_claim, make_claim, make_results):
    results = make_results(rows_of(STORY, **kind))
    for measure, claim in (
        (component_order, order_claim),
        (exact_components, make_claim(0.01)),
    ):
        with pytest.raises(CannotJudge, match="Swarm Behaviour"):
            measure(claim, results)


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
    plt.close(drawn.figure)
    assert len(drawn.figure.axes) == 12
    shown = set()
    for axis in drawn.figure.axes:
        labels = axis.get_legend_handles_labels()[1]
        assert {"Non-private", "Random answer", "R1SMG"} <= set(labels)
        assert len(labels) <= 10
        shown |= set(labels)
    assert shown == {mechanism_title(name) for name in names}
    assert len(drawn.caption.split()) <= 70
