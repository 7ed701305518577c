"""Verdicts on federated learning, on made-up results whose verdict is known."""

import matplotlib.pyplot as plt

from paper_figures.mgm2021.federated_vertical import figure_3
from tests.paper_figures.mgm2021.made_up_accuracies import (
    ELEMENT,
    IDN,
    MM,
    ordered,
)

# Both of an element, both of the layer, and the matrix mechanism of the layer alone.


def test_a_lone_curve_at_equal_true_privacy_says_whose_it_is(make_results):
    rows = ordered(0.8, 0.7, 0.6, names=(IDN, ELEMENT, MM), study="federated_vertical")
    alone = [row | {"calibration": "exact"} for row in rows if row.get("mechanism") == MM]
    uses = {"study": "federated_vertical", "dataset": "adult", "delta": 1e-5}
    uses |= {"metric": "use_epsilon", "epsilon": 1.0, "value": 1.0}
    drawn = figure_3(make_results([*rows, *alone, uses]))
    plt.close(drawn.figure)
    words = [[text.get_text() for text in axis.texts] for axis in drawn.figure.axes]
    assert words == [[], ["one curve for all mechanisms:\ntheir noise is the same"]]
    two = [row | {"calibration": "exact"} for row in rows if row.get("mechanism") in (MM, IDN)]
    drawn = figure_3(make_results([*rows, *two, uses]))
    plt.close(drawn.figure)
    assert not any(axis.texts for axis in drawn.figure.axes)
    assert len(drawn.caption.split()) <= 70
