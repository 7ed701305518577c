"""The figure of correlated noise in training, on made-up accuracies."""

import pytest

from paper_figures.drawings import DrawingError
from paper_figures.suite.dpmf import correlated_training

CELL = {"study": "dpmf", "dataset": "digits", "data_source": "bundled", "delta": 1e-5}


def rows_of(mechanism, accuracies, calibration="published", spent=1e-5, epsilon=2.0):
    """Rows of one budget from {learning rate: accuracies of the trials}."""
    cell = CELL | {"mechanism": mechanism, "calibration": calibration, "epsilon": epsilon}
    facts = {"records": 100.0, "steps": 8.0, "sum_error": 3.0, "true_delta_upper": spent}
    rows = [cell | {"metric": metric, "value": value} for metric, value in facts.items()]
    for rate, found in accuracies.items():
        for trial, accuracy in enumerate(found):
            own = cell | {"learning_rate": rate, "trial": trial}
            rows.append(own | {"metric": "final_test_accuracy", "value": accuracy})
            for epoch, part in ((1, 0.5), (2, 1.0)):
                now = {"metric": "test_accuracy", "value": part * accuracy, "epoch": epoch}
                rows.append(own | now)
    return rows


ROWS = [
    *rows_of("non-private", {0.5: [0.9, 0.9], 2.0: [0.8, 0.8]}, spent=1.0),
    *rows_of("factorisation-bandmf", {0.5: [0.5, 0.7], 2.0: [0.6, 0.8]}),
    *rows_of("moments-accountant", {0.5: [0.4, 0.6], 2.0: [0.3, 0.9]}, "exact"),
    *rows_of("moments-accountant", {0.5: [0.1, 0.1], 2.0: [0.1, 0.1]}, spent=1e-6),
]


def test_each_mechanism_has_its_best_rate_at_equal_privacy(make_results):
    drawn = correlated_training(make_results(ROWS))
    data = drawn.data.set_index("mechanism")
    assert len(data) == 3
    assert data["learning_rate"].to_dict() == {
        "non-private": 0.5,
        "factorisation-bandmf": 2.0,
        "moments-accountant": 2.0,
    }
    row = data.loc["factorisation-bandmf"]
    assert (row["accuracy"], row["least"], row["largest"]) == pytest.approx((0.7, 0.6, 0.8))
    assert row["trials"] == 2 and row["sum_error"] == 3.0
    right = drawn.figure.axes[2]
    assert sorted(line.get_ydata()[-1] for line in right.lines) == pytest.approx([0.1, 0.3, 0.4])
    assert len(drawn.caption.split()) <= 70


def test_of_equal_rates_the_smaller_counts(make_results):
    rows = rows_of("factorisation-bandmf", {2.0: [0.5], 0.5: [0.5]})
    assert correlated_training(make_results(rows)).data["learning_rate"].tolist() == [0.5]


def test_a_run_that_spends_less_is_not_compared(make_results):
    with pytest.raises(DrawingError, match="hold no accuracies of dpmf"):
        correlated_training(make_results(rows_of("factorisation", {0.5: [0.5]}, spent=5e-6)))


def test_a_best_rate_at_an_end_of_the_sweep_is_named(make_results):
    between = {0.5: [0.5], 1.0: [0.9], 2.0: [0.5]}
    at_an_end = {0.5: [0.9], 1.0: [0.5], 2.0: [0.5]}
    rows = rows_of("factorisation-bandmf", between, epsilon=4.0)
    assert "rate beyond" not in correlated_training(make_results(rows)).note
    rows += rows_of("factorisation-bandmf", at_an_end, epsilon=1.0)
    note = correlated_training(make_results(rows)).note
    assert "from 0.5 to 2." in note
    assert "(BandMF) at epsilon 1." in note
