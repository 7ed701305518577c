"""Accuracies that need no information: nothing is learned below the majority class."""

import matplotlib.pyplot as plt

from datasets.majority import MAJORITY
from paper_figures.mgm2021.federated_horizontal import (
    figure_2,
)
from tests.paper_figures.mgm2021.made_up_accuracies import (
    IDN,
    MM,
    ordered,
)


def test_the_figure_names_the_majority_class_and_what_was_not_run(make_results, monkeypatch):
    monkeypatch.setitem(MAJORITY, "adult", 0.764)
    rows = ordered(0.8, 0.7, names=(IDN, MM)) + ordered(0.8, names=(IDN,), dataset="mnist")
    drawn = figure_2(make_results(rows))
    plt.close(drawn.figure)
    assert "Always predicting the majority class scores 0.76 on Adult." in drawn.note
    assert "Run on Adult only: Matrix mechanism." in drawn.note
