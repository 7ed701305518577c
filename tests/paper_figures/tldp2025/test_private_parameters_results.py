"""Figure 3 of tldp2025 on made-up scores, and the uploads that are noise alone."""

import pandas as pd
import pytest

from claims.judged_rows import calibrated
from mechanisms import Budget
from mechanisms.query.box_query import box_query
from paper_figures.tldp2025.private_parameters import figure_3
from paper_figures.tldp2025.private_parameters_verdicts import (
    _noise_alone,
    laplace_below_tldp_g,
    parameter_pairs,
)


def test_figure_3_has_what_all_rounds_truly_spend(make_results, study_rows):
    sets = ("mnist", "cifar10", "svhn", "imdb", "darknet2020")
    given = [
        row for name in sets for row in study_rows("private_parameters", name, {"laplace": 0.5})
    ]
    given = [row | {"shape": "1x2410"} for row in given]
    spent = [
        row | {"metric": "true_epsilon_upper", "value": 10 * row["epsilon"]}
        for row in given
        if row["metric"] == "rounds"
    ]
    drawn = figure_3(make_results(given + spent))
    assert len(drawn.caption.split()) <= 70
    assert "MNIST at epsilon 500: Laplace 5e+03" in drawn.note
    assert "IMDB: 3,000 records, a model of 2,410 parameters, 3000 rounds" in drawn.note
    own = drawn.data[drawn.data["calibration"] == "published"].set_index(["dataset", "epsilon"])
    assert own.loc[("mnist", 10.0), "true_epsilon_upper"] == 100.0


def test_figure_3_has_a_panel_for_each_delta(make_results, study_rows):
    scores = {"tldp-l": 0.8, "random-answer": 0.1, "non-private": 0.9}
    given = study_rows("private_parameters", "mnist", scores)
    wide = study_rows("private_parameters", "mnist", scores, range="stated")
    wide = [row for row in wide if row.get("calibration") != "exact"]
    spent = [
        row | {"metric": "true_epsilon_upper", "value": 1.0}
        for row in given + wide
        if row["metric"] == "rounds"
    ]
    shaped = [row | {"shape": "1x2410"} for row in given + wide + spent]
    drawn = figure_3(make_results(shaped))
    assert set(drawn.data["panel"]) == {"MNIST, Delta = 2", "MNIST, Delta = 256"}
    labels = [axis.get_ylabel() for axis in drawn.figure.axes]
    assert "F1 of MNIST, Delta = 256" in labels
    # The same noise at equal true privacy: the last panel says so.
    words = [text.get_text() for text in drawn.figure.axes[-1].texts]
    assert words[1].startswith("not run: the same noise")
    # Beside it, how large the run is.
    assert words[0].startswith("3,000 records (paper: 60,000)")


def test_figure_3_tells_of_noise_that_was_not_run_again(make_results, study_rows):
    given = study_rows("private_parameters", "mnist", {"gaussian": 0.5, "idn": 0.4, "laplace": 0.5})
    for alone in (True, False):
        kept = [
            row | {"shape": "1x2410"}
            for row in given
            if not (alone and row.get("mechanism") == "idn" and "calibration" in row)
        ]
        spent = [
            row | {"metric": "true_epsilon_upper", "value": 1.0}
            for row in kept
            if row["metric"] == "rounds"
        ]
        note = figure_3(make_results(kept + spent)).note
        assert ("MGM-IDN would have the noise of the classic Gaussian" in note) == alone


@pytest.mark.parametrize("width", [2.0, 400_001.0])
def test_laplace_noise_falls_below_that_of_tldp_g(width):
    query, meeting = box_query((1, 50), 0.0, width), laplace_below_tldp_g(50)

    def ratio(epsilon):
        noises = (
            calibrated(key, query, Budget(epsilon=epsilon)).expected_loss()
            for key in ("laplace", "tldp-g")
        )
        return next(noises) / next(noises)

    assert ratio(meeting) == pytest.approx(1, rel=1e-6)
    assert ratio(meeting / 2) > 1.5
    assert ratio(2 * meeting) < 0.75


def test_uploads_are_noise_where_what_all_rounds_spend_says_so():
    # Of three users: 3 tanh(epsilon / 2) at delta = 0.
    spent = pd.DataFrame({"mechanism": ["a", "b"], "epsilon": 10.0, "delta": 0.0})
    assert _noise_alone(spent.assign(value=[0.0066, 0.0067])) == {("a", 10.0)}
    assert _noise_alone(spent.assign(value=[0.0, 5e4])) == {("a", 10.0)}
    # And 3 delta at epsilon = 0.
    assert _noise_alone(spent.assign(value=0.0, delta=[0.0033, 0.0034])) == {("a", 10.0)}


@pytest.mark.parametrize(
    ("best", "rebuilt", "reason"),
    [
        (0.9, 0.4, ""),
        (0.24, 0.15, "no signal"),
        # Others have learned, LLAGP has not, which is rebuilt.
        (0.9, 0.15, "LLAGP is rebuilt from two sentences, and has learned nothing"),
    ],
)
def test_models_that_have_learned_nothing_have_neither_an_order_nor_a_tie(
    make_results, study_rows, best, rebuilt, reason
):
    scores = {"tldp-g": best, "llagp": rebuilt, "idn": rebuilt}
    given = study_rows(
        "private_parameters", "cifar10", scores | {"random-answer": 0.1, "non-private": 0.95}
    )
    found = parameter_pairs(
        make_results([row | {"shape": "1x7010"} for row in given]),
        dataset="cifar10",
        ahead=[("tldp-g", "llagp")],
        close=[("idn", "llagp")],
        alike=0.05,
        learned=0.15,
        margin=0.01,
    )
    expected = "inconclusive" if reason else "confirmed"
    assert [part.verdict for part in found.parts] == [expected] * 2
    assert all(reason in part.reason for part in found.parts)
