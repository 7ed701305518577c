"""The canary: rates beside the bound that a step's budget claims."""

import math

import pytest

from paper_figures.drawings import DrawingError
from paper_figures.suite.canary import canary


def dpsgd_row(metric, value, rate=None, mechanism="r1smg"):
    return {
        "study": "dpsgd",
        "dataset": "mnist",
        "mechanism": mechanism,
        "metric": metric,
        "value": value,
        "false_positive_rate": rate,
    }


def test_the_bound_is_that_of_one_step(make_results):
    budget = [dpsgd_row("step_epsilon", math.log(2)), dpsgd_row("step_delta", 0.01)]
    rates = [
        dpsgd_row(f"canary_{kind}_positive_rate", rate * factor, rate)
        for rate in (0.1, 0.5)
        for kind, factor in (("false", 1.0), ("true", 1.5))
    ]
    drawn = canary(make_results(budget + rates))
    # e^epsilon times the false positive rate, plus delta; a rate is at most 1.
    assert drawn.data["bound"].tolist() == pytest.approx([0.21, 1.0])
    assert drawn.data["canary_true_positive_rate"].tolist() == pytest.approx([0.15, 0.75])
    labels = [text.get_text() for text in drawn.figure.legends[0].get_texts()]
    assert labels == ["R1SMG, as published", "claimed bound", "guessing"]


def test_a_run_without_rates_says_so(make_results):
    with pytest.raises(DrawingError, match="no canary rates"):
        canary(make_results([dpsgd_row("step_epsilon", 1.0)]))
