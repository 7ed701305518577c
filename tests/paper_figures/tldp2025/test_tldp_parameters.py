"""Figure 3 of tldp2025 on made-up scores, and the uploads that are noise alone."""

import pandas as pd
import pytest

from paper_figures.tldp2025.parameter_verdicts import (
    _noise_alone,
    comparable_range,
    crossover,
    parameter_order,
    parameter_pairs,
)
from paper_figures.tldp2025.scores import figure_3
from papers.tldp2025 import DETAILED_NETWORKS
from studies.private_parameters import NETWORKS


def spent(given):
    """Rows of a true epsilon of all rounds of ten times the claimed one."""
    return [
        row | {"metric": "true_epsilon_upper", "value": 10 * row["epsilon"]}
        for row in given
        if row["metric"] == "rounds"
    ]


def test_figure_3_has_a_panel_for_each_delta_and_what_all_rounds_truly_spend(
    make_results, study_rows
):
    scores = {"tldp-g": 0.8, "random-answer": 0.1, "non-private": 0.9}
    given = study_rows("private_parameters", "mnist", scores, shape="1x2410")
    wide = study_rows("private_parameters", "mnist", scores, shape="1x2410", range="stated")
    given += [row for row in wide if row.get("calibration") != "exact"]
    drawn = figure_3(make_results(given + spent(given)))
    assert set(drawn.data["panel"]) == {"MNIST, Delta = 2", "MNIST, Delta = 256"}
    assert "MNIST, Delta = 2: 100 for 10, 5e+03 for 500" in drawn.note
    assert "MNIST: 3,000 records, a model of 2,410 parameters, 3000 rounds" in drawn.note
    labels = [axis.get_ylabel() for axis in drawn.figure.axes]
    assert "F1 of MNIST, Delta = 256" in labels
    # At equal true privacy the noise is the same, as the last panel says.
    words = [text.get_text() for text in drawn.figure.axes[-1].texts]
    assert words[0].startswith("not run: the same noise")
    # The size of the run stands beside it.
    assert words[1].startswith("3,000 records (paper: 60,000)")
    assert words[1].endswith("2,410 parameters (paper: MobileNetV2)")
    # The paper's bound on epsilon is drawn where epsilon is that of the paper.
    lines = [[line.get_linestyle() for line in axis.lines] for axis in drawn.figure.axes]
    assert ["-." in each for each in lines] == [True, False, True, False]


def test_the_papers_network_has_the_stated_number_of_parameters():
    for dataset in ("mnist", "cifar10", "svhn"):
        millions = NETWORKS[dataset]["paper"].size / 1e6
        assert f"MobileNetV2, {millions:.1f} million" in DETAILED_NETWORKS[dataset]


@pytest.mark.parametrize(
    ("size", "verdict"), [(185_476, "contradicted"), (185_475, "inconclusive")]
)
def test_only_a_network_smaller_than_the_papers_leaves_early_learning_open(
    make_results, study_rows, size, verdict
):
    """The paper's network for DarkNet has 185,476 parameters."""
    scores = {"tldp-l": 0.99} | LEVELS
    given = study_rows("private_parameters", "darknet2020", scores, shape=f"1x{size}")
    found = comparable_range(make_results(given + spent(given)), above=100.0, margin=0.15)
    assert found.outcomes[0].parts[0].verdict == verdict


def test_uploads_are_noise_where_what_all_rounds_spend_says_so():
    # For three users: 3 tanh(epsilon / 2) at delta = 0.
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
        # Other methods have learned; LLAGP, which is reconstructed, has not.
        (0.9, 0.15, "LLAGP is rebuilt from two sentences, and has learned nothing"),
    ],
)
def test_models_that_have_learned_nothing_have_neither_an_order_nor_a_tie(
    make_results, study_rows, best, rebuilt, reason
):
    scores = {"tldp-g": best, "llagp": rebuilt, "idn": rebuilt} | LEVELS
    found = parameter_pairs(
        make_results(study_rows("private_parameters", "cifar10", scores, shape="1x7010")),
        dataset="cifar10",
        ahead=[("tldp-g", "llagp")],
        close=[("idn", "llagp")],
        start=[("tldp-g", "llagp")],
        alike=0.05,
        learned=0.15,
        margin=0.01,
    )
    expected = "inconclusive" if reason else "confirmed"
    assert [part.verdict for part in found.parts] == [expected] * 3
    assert all(reason in part.reason for part in found.parts)


BASELINES = {"laplace": 0.1, "gaussian": 0.1, "mvg-sqrt": 0.1, "idn": 0.1}
LEVELS = {"random-answer": 0.1, "non-private": 0.95}


@pytest.mark.parametrize(
    ("scores", "verdicts", "reason"),
    [
        ({"tldp-g": 0.8}, {"TLDP-G": "confirmed"}, ""),
        # A method that is no better than guessing has no rank.
        ({"tldp-g": 0.12}, {"TLDP-G": "inconclusive"}, "no signal"),
        ({"tldp-g": 0.3, "idn": 0.5}, {"TLDP-G": "contradicted"}, ""),
        # The failure of what is rebuilt decides nothing.
        ({"llagp": 0.5}, {"LLAGP": "confirmed"}, ""),
        ({"llagp": 0.5, "idn": 0.7}, {"LLAGP": "inconclusive"}, "rebuilt from two sentences"),
        ({"llagp": 0.1}, {"LLAGP": "inconclusive"}, "and has learned nothing"),
        # Another reconstructed method is neither good nor poor.
        ({"llagp": 0.5, "dphsgd": 0.1}, {"LLAGP": "confirmed"}, ""),
    ],
)
def test_methods_are_held_against_the_baselines(make_results, study_rows, scores, verdicts, reason):
    parts = _places_on_mnist(make_results, study_rows, BASELINES | {"tldp-l": 0.9} | scores)
    expected = {"TLDP-L": "confirmed"} | verdicts
    assert {part.name: part.verdict for part in parts} == {
        f"MNIST, {key} above the baselines": verdict for key, verdict in expected.items()
    }
    assert reason in parts[-1].reason


def _places_on_mnist(make_results, study_rows, scores):
    found = parameter_order(
        make_results(study_rows("private_parameters", "mnist", LEVELS | scores)),
        exception="cifar10",
        good_on="darknet2020",
        signal=0.15,
        margin=0.01,
    )
    return next(iter(found.outcomes)).parts


def test_without_baselines_there_is_no_order(make_results, study_rows):
    parts = _places_on_mnist(make_results, study_rows, {"tldp-l": 0.9, "llagp": 0.5})
    assert [part.verdict for part in parts] == ["not run", "inconclusive"]


def test_noise_in_the_end_is_that_of_all_parameters(make_results, study_rows):
    """sqrt(2) Delta / epsilon and Delta / sqrt(2 epsilon) at epsilon 1e8, for a range of 1."""
    scores = {"tldp-l": 0.9, "tldp-g": 0.8} | LEVELS
    given = study_rows("private_parameters", "mnist", scores, shape="1x6434")
    found = crossover(make_results(given), negligible=1e-3, margin=0.01)
    assert "TLDP-L 1.4e-08 and TLDP-G 7.1e-05 of the range" in found.parts[1].found
