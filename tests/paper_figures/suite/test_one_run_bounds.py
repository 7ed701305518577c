"""One-run audits: lower bounds of single trainings beside the claimed and the accounted epsilon."""

import math
from pathlib import Path

import pytest

from learning.training.one_run_audit import Guesses, epsilon_by_count
from paper_figures.drawings import DrawingError
from paper_figures.suite.one_run_bounds import COUNTS, FOUND, one_run
from runs.results import read_results

STUDIES = Path(__file__).resolve().parents[3] / "results" / "reference" / "studies"


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


def test_the_committed_counts_prove_the_committed_bounds():
    table = one_run(read_results([STUDIES / "dpsgd.parquet"])).data
    assert len(table) > 40 and table[[FOUND, *COUNTS]].notna().all(axis=None)
    for row in table.itertuples():
        canaries, guesses, correct = (int(getattr(row, count)) for count in COUNTS)
        found = Guesses(canaries=canaries, guesses=guesses, correct=correct)
        assert epsilon_by_count(found, row.delta, 0.05 / 3) == pytest.approx(
            getattr(row, FOUND), abs=1e-6
        )
    # What R1SMG shows, training without privacy shows too.
    all_right = table[table["one_run_correct"] == table["one_run_guesses"]]
    assert {"non-private", "r1smg"} == set(all_right["mechanism"])
