"""Accuracies that need no information: nothing is learned below the majority class."""

from dataclasses import replace

import matplotlib.pyplot as plt

from claims.verdicts import CONFIRMED, CONTRADICTED, INCONCLUSIVE
from paper_figures.mgm2021.federated_accuracies import MAJORITY
from paper_figures.mgm2021.federated_horizontal import (
    figure_2,
    harder_tasks_need_more,
    horizontal_order,
    horizontal_trend,
)
from tests.paper_figures.mgm2021.made_up_accuracies import (
    ELEMENT,
    IDN,
    MARGIN,
    MM,
    MVG,
    ordered,
    runs,
)


def test_nothing_is_learned_below_the_majority_class(order_claim, make_results, monkeypatch):
    learns = {IDN: (0.3, 0.7, 0.9), ELEMENT: (0.6, 0.7, 0.8), MVG: (0.5, 0.4, 0.3)}
    rows = make_results(runs(learns))
    # Over all budgets IDN is behind.
    assert horizontal_order(order_claim(), rows).parts[0].verdict == CONTRADICTED
    # Above 0.75 there is one budget, at which it is ahead.
    monkeypatch.setitem(MAJORITY, "adult", 0.75)
    found = horizontal_order(order_claim(), rows)
    assert [part.verdict for part in found.parts] == [CONFIRMED, CONFIRMED]
    assert "the majority class 0.75" in found.detail
    monkeypatch.setitem(MAJORITY, "adult", 0.79)
    found = horizontal_order(order_claim(), rows)
    assert [part.verdict for part in found.parts] == [CONFIRMED, INCONCLUSIVE]
    assert "the majority class (0.79)" in found.parts[1].reason


def test_a_rise_to_the_majority_class_is_no_trend(make_claim, make_results, monkeypatch):
    claim = make_claim(datasets=["adult"], mechanisms=[IDN, ELEMENT], close=0.05, decided_by="")
    rows = make_results(runs({IDN: (0.3, 0.6, 0.9), ELEMENT: (0.3, 0.6, 0.75)}))
    monkeypatch.setitem(MAJORITY, "adult", 0.75)
    rises = horizontal_trend(replace(claim, margin=MARGIN), rows).parts[:2]
    assert [part.verdict for part in rises] == [CONFIRMED, INCONCLUSIVE]


def test_the_figure_names_the_majority_class_and_what_was_not_run(make_results, monkeypatch):
    monkeypatch.setitem(MAJORITY, "adult", 0.764)
    rows = ordered(0.8, 0.7, names=(IDN, MM)) + ordered(0.8, names=(IDN,), dataset="mnist")
    drawn = figure_2(make_results(rows))
    plt.close(drawn.figure)
    assert "Always predicting the majority class scores 0.76 on Adult." in drawn.note
    assert "Run on Adult only: Matrix mechanism." in drawn.note


def test_what_is_learned_on_an_easy_set_is_above_its_majority_class(
    make_claim, make_results, monkeypatch
):
    claim = make_claim(hard=["cifar10"], easy=["adult"], mechanism=IDN, decided_by="")
    rows = runs({IDN: (0.7,) * 3}) + runs({IDN: (0.6,) * 3}, dataset="cifar10")
    claim = replace(claim, margin=MARGIN)
    assert harder_tasks_need_more(claim, make_results(rows)).verdict == CONFIRMED
    monkeypatch.setitem(MAJORITY, "adult", 0.7)
    assert harder_tasks_need_more(claim, make_results(rows)).verdict == CONTRADICTED
