"""Figures 2 and 3 of mgm2021, and what is said of them, on made-up accuracies."""

import itertools

import numpy as np
import pytest

from datasets.majority import MAJORITY
from paper_figures.mgm2021.federated_comparisons import where_one_learns
from paper_figures.mgm2021.federated_horizontal import figure_2
from paper_figures.mgm2021.federated_vertical import figure_3

EPSILONS = (1.0, 10.0, 1000.0)
IDN, ELEMENT, MM = "idn", "gaussian-per-element", "matrix-mechanism"


@pytest.fixture(autouse=True)
def majority(monkeypatch):
    """Nothing is known of a majority class but what a test sets."""
    monkeypatch.delitem(MAJORITY, "adult")
    monkeypatch.delitem(MAJORITY, "mnist")


def runs(accuracies, *, dataset="adult", study="federated_horizontal"):
    """Rows of one data set: ten trials around each mechanism's accuracy, at three budgets."""
    cell = {
        "paper": "mgm2021",
        "study": study,
        "dataset": dataset,
        "data_source": "official",
        "delta": 1e-5,
    }
    rows = [cell | {"metric": metric, "value": 100.0} for metric in ("records", "uses")]
    rng = np.random.default_rng(0)
    controls = {"random-answer": 0.2, "non-private": 0.95}
    for mechanism, mean in (controls | accuracies).items():
        for trial in range(10):
            for epsilon in EPSILONS:
                at = {"mechanism": mechanism, "trial": trial, "epsilon": epsilon}
                value = mean + 1e-3 * rng.standard_normal()
                rows.append(cell | at | {"metric": "final_test_accuracy", "value": value})
                rows.append(cell | at | {"metric": "test_accuracy", "round": 3, "value": value})
    return rows


def test_the_figure_names_the_majority_class_and_what_was_not_run(make_results, monkeypatch):
    monkeypatch.setitem(MAJORITY, "adult", 0.764)
    rows = runs({IDN: 0.8, MM: 0.7}) + runs({IDN: 0.8}, dataset="mnist")
    drawn = figure_2(make_results(rows))
    assert "Always predicting the majority class scores 0.76 on Adult." in drawn.note
    assert "Run on Adult only: Matrix mechanism." in drawn.note


def test_a_lone_curve_at_equal_true_privacy_says_whose_it_is(make_results):
    rows = runs({IDN: 0.8, ELEMENT: 0.7, MM: 0.6}, study="federated_vertical")
    alone = [row | {"calibration": "exact"} for row in rows if row.get("mechanism") == MM]
    uses = {"study": "federated_vertical", "dataset": "adult", "delta": 1e-5}
    uses |= {"metric": "use_epsilon", "epsilon": 1.0, "value": 1.0}
    drawn = figure_3(make_results([*rows, *alone, uses]))
    lone = "one curve for all mechanisms:\ntheir noise is the same"
    words = [[text.get_text() for text in axis.texts] for axis in drawn.figure.axes]
    assert [lone in panel for panel in words] == [False, True]
    two = [row | {"calibration": "exact"} for row in rows if row.get("mechanism") in (MM, IDN)]
    drawn = figure_3(make_results([*rows, *two, uses]))
    words = [[text.get_text() for text in axis.texts] for axis in drawn.figure.axes]
    assert lone not in itertools.chain(*words)
    assert "no curve here: Gaussian per element" in words[1]
    assert len(drawn.caption.split()) <= 70


def test_a_mean_that_is_above_the_floor_by_chance_is_not_learning(make_results):
    """At epsilon 1 both are above the floor of 0.2, by 0.03 in the mean; one trial has done it."""
    rows = make_results(runs({IDN: 0.2, ELEMENT: 0.2})).rows
    rows = rows[rows["metric"] == "final_test_accuracy"].reset_index(drop=True)
    private = rows["mechanism"].isin([IDN, ELEMENT])
    lucky = private & (rows["epsilon"] == 1) & (rows["trial"] == 0)
    learned = private & (rows["epsilon"] == 10) & (rows["mechanism"] == IDN)
    rows.loc[lucky, "value"] += 0.3
    rows.loc[learned, "value"] += 0.03
    assert set(where_one_learns(rows, [IDN, ELEMENT], 0.01)["epsilon"]) == {10}
    rows.loc[private & (rows["epsilon"] == 1), "value"] += 0.3
    assert set(where_one_learns(rows, [IDN, ELEMENT], 0.01)["epsilon"]) == {1, 10}
