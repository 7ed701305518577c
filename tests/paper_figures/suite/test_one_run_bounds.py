"""One-run audits: lower bounds of single trainings beside the claimed and the accounted epsilon."""

import math

import pytest

from paper_figures.drawings import DrawingError
from paper_figures.suite.one_run_bounds import one_run


def row(metric, value, mechanism, trial=None):
    return {
        "study": "dpsgd",
        "dataset": "digits",
        "mechanism": mechanism,
        "metric": metric,
        "value": value,
        "epsilon": 2.0,
        "trial": trial,
        "learning_rate": math.nan if trial is None else 0.5,
    }


def test_each_training_is_a_point_beside_its_accountant_s_bound(make_results):
    rows = [
        row("true_epsilon_upper", 1.8, "gaussian"),
        row("one_run_epsilon_lower", 0.5, "gaussian", 0),
        row("one_run_epsilon_lower", 0.7, "gaussian", 1),
        row("one_run_epsilon_lower", 4.2, "r1smg", 0),
    ]
    drawn = one_run(make_results(rows))
    table = drawn.data.set_index(["mechanism", "trial"])
    assert table["one_run_epsilon_lower"].to_dict() == {
        ("gaussian", 0): 0.5,
        ("gaussian", 1): 0.7,
        ("r1smg", 0): 4.2,
    }
    # Without a finite bound of the accountant there is none to show.
    assert table["true_epsilon_upper"]["gaussian"].tolist() == [1.8, 1.8]
    assert table["true_epsilon_upper"]["r1smg"].isna().all()
    axis = drawn.figure.axes[0]
    claimed = axis.lines[-1].get_xdata()
    assert list(claimed) == [2.0, 2.0]
    points = [line for line in axis.lines if line.get_marker() not in ("|", "None")]
    assert sorted(x for line in points for x in line.get_xdata()) == [0.5, 0.7, 4.2]
    assert all(axis.get_xlim()[0] < x < axis.get_xlim()[1] for x in (0, 0.5, 4.2))


def test_a_run_without_canaries_says_so(make_results):
    with pytest.raises(DrawingError, match="needs canaries"):
        one_run(make_results([row("true_epsilon_upper", 1.8, "gaussian")]))
