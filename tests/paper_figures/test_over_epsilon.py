"""Accuracy over epsilon: error bars and true privacy."""

import pandas as pd
import pytest

from claims.scores import SCORED
from datasets.majority import MAJORITY
from paper_figures.drawings import all_drawings
from paper_figures.over_epsilon import (
    EPSILONS,
    OUTSIDE,
    Panels,
    Stated,
    add_true_epsilon,
    coinciding_sentence,
    draw_spread,
    groups_within,
    spread_over_trials,
    trial_words,
    true_epsilons,
)
from paper_figures.style import legend_order

PANELS = Panels("test accuracy,")
# The figures of trained models, each of one study; all but Figure 7 have panels over epsilon.
FIGURES = [
    each
    for each in all_drawings().values()
    if each.kind == "figures" and set(each.studies) in [{study} for study in (*SCORED, "dpsgd")]
]
FACTS = (
    *("records", "public_records", "rounds", "epochs", "uses", "sampling_rate", "steps"),
    *("use_epsilon", "true_epsilon_upper", "extractor_accuracy"),
)


@pytest.fixture
def trained(make_results):
    """Make results of a figure's study: two trials of each mechanism at one budget."""

    def make(study, dataset):
        cell = {"study": study, "dataset": dataset, "epsilon": 10.0, "shape": "28x28"}
        cell |= {"epoch": 1, "round": 1, "learning_rate": 0.1}
        cell |= {"classifier": "network", "range": "clip"}
        runs = [cell | {"mechanism": key} for key in ("gaussian", "laplace", "random-answer")]
        runs.append(runs[0] | {"calibration": "exact"})
        scores = {*SCORED.values(), "train_accuracy", "test_accuracy"}
        return make_results(
            [
                run | {"metric": metric, "value": 0.5, "trial": trial}
                for run in runs
                for metric in scores
                for trial in (0, 1)
            ]
            + [run | {"metric": metric, "value": 10.0} for run in runs for metric in FACTS]
        )

    return make


@pytest.mark.parametrize("figure", FIGURES, ids=[each.name for each in FIGURES])
def test_every_figure_of_trained_models_says_what_stands_behind_it(figure, trained):
    (study,) = figure.studies
    (dataset,) = {need.partition("/")[2] for need in figure.needs} - {""} or {"mnist"}
    drawn = figure.function(trained(study, dataset))
    assert len(drawn.caption.split()) <= 70
    assert "2 trials" in drawn.caption
    assert "(official data)" in drawn.caption
    assert "Run as published only: Laplace." in drawn.note
    points = drawn.data.groupby(["mechanism", "calibration"])["mean"].first()
    assert set(points) == {0.5}
    assert len(points) == 4


@pytest.fixture
def rows(make_rows):
    cell = {"study": "features", "dataset": "mnist", "mechanism": "imgm", "metric": "test_accuracy"}
    found = [
        cell | {"epsilon": epsilon, "trial": trial, "value": value}
        for epsilon, values in ((0.1, (0.2, 0.4)), (1.0, (0.9, 0.9)))
        for trial, value in enumerate(values)
    ]
    return make_rows(*found, cell | {"epsilon": 1.0, "metric": "true_epsilon_upper", "value": 18.6})


def test_spread_has_the_range_and_the_true_epsilon_where_it_is_known(rows):
    spread = add_true_epsilon(spread_over_trials(rows, "features"), rows, "features")
    spread = spread.set_index("epsilon")
    assert spread.loc[0.1, ["mean", "min", "max", "count"]].tolist() == pytest.approx(
        [0.3, 0.2, 0.4, 2]
    )
    assert spread["true_epsilon_upper"].isna().tolist() == [True, False]
    assert true_epsilons(spread.reset_index(), "imgm") == "MNIST: 18.6 for 1"
    assert true_epsilons(spread.reset_index(), "mvg") == ""


def _single_epsilon():
    cell = {"dataset": "mnist", "mechanism": "imgm", "epsilon": 1.0, "mean": 0.6, "min": -0.2}
    cells = [cell | {"calibration": each, "max": 1.4} for each in ("published", "exact")]
    return draw_spread(pd.DataFrame(cells).assign(**{OUTSIDE: False}), PANELS)


def test_bars_end_where_accuracy_does():
    (bar,) = _single_epsilon().axes[0].collections
    assert bar.get_segments()[0][:, 1] == pytest.approx((0, 1))


# Automatic limits would end at the epsilon, and cut off half of its markers.
def test_a_single_epsilon_lies_in_the_middle_of_its_panels():
    assert _single_epsilon().axes[1].get_xlim() == pytest.approx((0.1, 10))


def test_panels_have_their_labels_the_papers_scores_and_the_guess():
    cell = {"dataset": "imdb", "mean": 0.6, "min": 0.5, "max": 0.7, "mechanism": "mvg"}
    spread = pd.DataFrame(
        [
            cell | {"calibration": calibration, "epsilon": epsilon, OUTSIDE: False}
            for calibration in ("published", "exact")
            for epsilon in (0.1, 10.0)
        ]
    )
    scores = {"below 1": Stated(0.9, 1.0), "in the end": Stated(0.8)}
    panels = PANELS._replace(beside={"IMDB": "all"}, stated={"IMDB": scores}, marked={5.0: "five"})
    figure = draw_spread(spread, panels)
    left, right = figure.axes
    assert [axis.get_xlabel() for axis in figure.axes] == [*EPSILONS.values()]
    (beside,) = (text.get_text() for text in right.texts if text.get_text())
    assert beside == "all,\nstar: paper, below 1: 0.9,\nstar: paper, in the end: 0.8"
    assert [line.get_xydata()[-1].tolist() for line in left.lines if line.get_marker() == "*"] == [
        [1.0, 0.9],
        [0.985, 0.8],
    ]
    assert [line.get_ydata()[0] for line in right.lines if line.get_linestyle() == "--"] == [
        MAJORITY["imdb"]
    ]
    words = ["MVG", "majority class", "five"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == words


def test_trials_are_told_by_data_set_where_they_differ():
    spread = pd.DataFrame({"dataset": ["adult", "adult", "mnist"], "count": [20, 20, 10]})
    assert trial_words(spread) == "20 (Adult), 10 (MNIST) trials"
    assert trial_words(spread[spread["dataset"] == "adult"]) == "20 trials"


def test_curves_that_nobody_can_tell_apart_are_named():
    means = {"gaussian": (0.1, 0.5), "imgm": (0.11, 0.52), "mvg": (0.1, 0.1)}
    rows = [
        {"dataset": "mnist", "calibration": calibration, "mechanism": name, "epsilon": epsilon}
        | {"mean": mean if calibration == "published" else 0.1}
        for calibration in ("published", "exact")
        for name, values in (means | {"random-answer": (0.1, 0.1)}).items()
        for epsilon, mean in zip((1.0, 10.0), values, strict=True)
    ]
    spread = pd.DataFrame(rows)
    sentence = coinciding_sentence(spread)
    assert "MNIST, as published: Classic Gaussian and IMGM" in sentence
    assert "MNIST, at equal true privacy: all" in sentence
    apart = spread[(spread["mechanism"] != "imgm") & (spread["calibration"] == "published")]
    assert coinciding_sentence(apart) == ""


def test_curves_of_a_group_coincide_with_each_other():
    """The last curve lies near the second one, but not near the first."""
    values = pd.DataFrame({"a": [0.0, 0.5], "b": [0.02, 0.5], "c": [0.04, 0.5]})
    assert groups_within(values, 0.03) == [["a", "b"], ["c"]]


def test_of_curves_that_coincide_what_is_drawn_later_has_smaller_markers():
    means = {"gaussian": 0.5, "gaussian-analytic": 0.51, "imgm": 0.51, "mvg": 0.9}
    spread = pd.DataFrame(
        {"dataset": "mnist", "calibration": "published", "mechanism": name, "mean": mean}
        | {"epsilon": 1.0, "min": mean, "max": mean, OUTSIDE: False}
        for name, mean in means.items()
    )
    (axis,) = draw_spread(spread, PANELS).axes
    drawn = (bars.lines[0].get_markersize() for bars in axis.containers)
    sizes = dict(zip(legend_order(means), drawn, strict=True))
    assert sizes["gaussian"] > sizes["gaussian-analytic"] > sizes["imgm"] and sizes["mvg"] == 4


def test_a_random_control_that_trains_is_called_by_what_it_trains_on():
    spread = pd.DataFrame(
        {"dataset": "mnist", "calibration": "published", "mechanism": name, "mean": 0.5}
        | {"epsilon": 1.0, "min": 0.5, "max": 0.5, OUTSIDE: False}
        for name in ("gaussian", "random-answer")
    )
    for words in ("", "Random features"):
        (legend,) = draw_spread(spread, PANELS._replace(random=words)).legends
        names = [text.get_text() for text in legend.get_texts()]
        assert (words or "Random answer") in names and len(names) == 3
