"""What figures share: curves, looks and titles, and the notes on sizes and missing rows."""

import itertools
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from claims import mechanism_titles
from claims.mechanism_titles import name_own
from claims.paper import paper_of
from datasets import DATASETS
from datasets.titles import dataset_title
from mechanisms import all_mechanisms
from paper_figures.curves import break_gaps, merge_curves, spread
from paper_figures.panel_sizes import missing_words, size_words
from paper_figures.selections import failed_mechanisms
from paper_figures.style import (
    CALIBRATION_TITLES,
    legend_order,
    look,
    mechanism_title,
    title_in,
)
from runs.config import read_config
from runs.result_table import ERROR, OK, UNSUPPORTED
from studies.base.study import all_studies


def lines(**points):
    """Rows of mechanisms, from their names to {x: y}."""
    return pd.DataFrame(
        [
            {"mechanism": name, "x": x, "y": y}
            for name, own in points.items()
            for x, y in own.items()
        ]
    )


def test_curves_that_agree_are_one():
    rows = lines(a={1: 1.0, 2: 2.0}, b={1: 1.0, 2: 2.5}, c={2: 2.01, 1: 1.001})
    assert [curve.mechanisms for curve in merge_curves(rows, "x", "y")] == [("a", "c"), ("b",)]


def test_a_curve_with_fewer_points_joins_one_with_more():
    rows = lines(a={1: 1.0, 2: 2.0}, b={2: 2.0}, c={2: 2.0, 3: 3.0})
    curves = merge_curves(rows, "x", "y")
    assert [curve.mechanisms for curve in curves] == [("a", "b"), ("c",)]
    np.testing.assert_array_equal(curves[0].y, [1.0, 2.0])
    assert curves[0].table("size", "loss").to_dict("list") == {
        "curve": ["a = b (from 2)"] * 2,
        "size": [1, 2],
        "loss": [1.0, 2.0],
    }


def test_merged_gaussian_noise_looks_like_the_analytic_gaussian():
    rows = lines(**{"gaussian": {1: 1.0}, "gaussian-analytic": {1: 1.0}, "laplace": {1: 2.0}})
    curves = merge_curves(rows, "x", "y")
    assert [curve.representative for curve in curves] == ["gaussian-analytic", "laplace"]


@pytest.mark.parametrize(
    ("centres", "heights", "expected"),
    [
        ([0.9, 0.2], [0.1, 0.1], [0.9, 0.2]),
        # Labels that overlap move apart evenly.
        ([0.5, 0.5], [0.1, 0.3], [0.4, 0.6]),
        ([1.0, 1.0, 0.0], [0.1, 0.1, 0.2], [0.85, 0.95, 0.1]),
    ],
)
def test_labels_move_apart_within_the_axis(centres, heights, expected):
    assert spread(centres, heights) == pytest.approx(expected)


def test_no_line_crosses_more_than_a_decade_without_a_point():
    line = pd.DataFrame({"epsilon": [0.5, 50.0, 500.0, 0.05, 99856.0, 1e6], "mean": range(6)})
    drawn = break_gaps(line, "epsilon")
    runs = drawn["epsilon"].isna().cumsum()
    pieces = [list(own.dropna()) for _, own in drawn["epsilon"].groupby(runs)]
    assert pieces == [[0.05, 0.5], [50.0, 500.0], [99856.0, 1e6]]
    assert drawn.dropna().set_index("epsilon")["mean"][0.05] == 3


OUTSIDE = '''
from mechanisms import AdditiveMechanism
from mechanisms.noise.gaussian_noise import IndependentGaussian


class Other(AdditiveMechanism):
    """Noise from outside the suite."""

    key, title, paper, theorem, guarantee = "other", "Other noise", "test", "none", "approximate"

    @classmethod
    def noise_for(cls, query, budget):
        return IndependentGaussian(shape=query.shape, sigma=1.0)
'''


def test_no_two_mechanisms_share_a_colour():
    colours = [look(mechanism).colour for mechanism in all_mechanisms()]
    assert len(set(colours)) == len(colours)


def test_legends_list_known_mechanisms_first_then_the_others_by_name():
    for order in itertools.permutations(["zeta-noise", "mvg", "a-noise", "r1smg"]):
        assert legend_order(order) == ["r1smg", "mvg", "a-noise", "zeta-noise"]


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("mvg", "MVG"),
        ("mvg-sqrt", "MVG (square root)"),
        ("somebody-elses", "somebody-elses"),
        ("no_such_module:Class", "no_such_module:Class"),
    ],
)
def test_titles_of_mechanisms(name, title):
    assert mechanism_title(name) == look(name).title == title


def test_a_study_has_titles_for_noise_that_is_not_the_theorem_s():
    assert title_in("gradients", "gaussian", "published") == "Classic Gaussian"
    titles = [title_in("dpsgd", "gaussian", each) for each in CALIBRATION_TITLES]
    assert titles == ["DPSGD (Gaussian, noise multiplier by RDP)", "DPSGD (Gaussian, rescaled)"]


def test_a_class_from_outside_has_its_own_title(tmp_path, monkeypatch):
    (tmp_path / "outside_noise.py").write_text(OUTSIDE)
    monkeypatch.syspath_prepend(tmp_path)
    assert mechanism_title("outside_noise:Other") == "Other noise"
    # Rows of `also` have its key.
    monkeypatch.setattr(mechanism_titles, "OWN", {})
    name_own(["outside_noise:Other"])
    assert look("other").title == "Other noise"
    sys.modules.pop("outside_noise")


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("cifar10", "CIFAR-10"),
        ("mobilenet_v2", DATASETS["mobilenet_v2"].title),
        ("my-data", "my-data"),
    ],
)
def test_titles_of_data_sets(name, title):
    assert dataset_title(name) == title


def test_every_data_set_of_a_study_has_a_title():
    named = {
        name
        for study in all_studies().values()
        for name, source in study.datasets.items()
        # The other "data sets" are families of queries.
        if source != "none"
    }
    assert {name for name in named if dataset_title(name) == name} == set()


ROOT = Path(__file__).parents[2]
MNIST = {"study": "federated_horizontal", "dataset": "mnist", "mechanism": "idn"}


def rows_of(make_results, records, rounds, **changed):
    sizes = {"metric": "records", "value": records, "data_source": "official"}
    last = {"metric": "test_accuracy", "value": 0.9, "round": rounds, "data_source": "official"}
    return make_results([MNIST | sizes | changed, MNIST | last | changed]).rows


@pytest.mark.parametrize(
    ("records", "rounds", "words"),
    [
        (3000, 4, "3,000 records (paper: 55,000),\n4 rounds (paper: 25)"),
        (60_000, 25, "60,000 records (paper: 55,000),\n25 rounds (paper: 25)"),
    ],
)
def test_the_size_of_a_run_stands_beside_the_papers(make_results, records, rounds, words):
    assert size_words(rows_of(make_results, records, rounds), MNIST["study"], "mnist") == words


def test_simulated_data_are_named_and_other_studies_have_no_size(make_results):
    simulated = rows_of(make_results, 3000, 4, data_source="simulated")
    assert size_words(simulated, MNIST["study"], "mnist") == "simulated data"
    rows = rows_of(make_results, 3000, 4)
    assert size_words(rows, MNIST["study"], "imdb") == ""
    assert size_words(rows, "count_query", "mnist") == ""


def test_panels_that_a_run_lacks_are_named(make_results):
    rows = rows_of(make_results, 3000, 4)
    sentence = " The paper also has Adult, CIFAR-10 and IMDB, which this run lacks."
    assert missing_words(rows, MNIST["study"]) == sentence
    assert missing_words(rows, "count_query") == ""


def test_a_study_that_states_its_epochs_has_them_as_turns(make_results):
    head = {"study": "features", "dataset": "imdb", "mechanism": "mvg", "data_source": "official"}
    numbers = {"records": 17_500, "epochs": 5}
    rows = make_results([head | {"metric": key, "value": n} for key, n in numbers.items()]).rows
    words = "17,500 records (paper: 25,000),\n5 epochs (paper: 10)"
    assert size_words(rows, "features", "imdb") == words


def test_the_test_records_that_differ_are_those_of_the_config():
    settings = read_config(ROOT / "config/reference.yaml")["studies"]
    for study, differs in paper_of("mgm2021").differs.items():
        kept = {data: f"{tests:,} test records" for data, tests in settings[study].tests.items()}
        assert all(words in differs[data] for data, words in kept.items())
        assert kept.keys() == {data for data in differs if "test records" in differs[data]}


def rows_with(*cells):
    """One row of the study `covariance` per (mechanism, data set, calibration, status)."""
    names = ["mechanism", "dataset", "calibration", "status"]
    return pd.DataFrame(cells, columns=names).assign(study="covariance")


def test_mechanisms_without_a_result_are_listed_once_under_the_reason():
    rows = rows_with(
        ("mvg", "wine", "published", OK),
        ("mvg", "wine", "exact", OK),
        ("jl", "wine", "published", UNSUPPORTED),
        ("jl", "wine", "exact", UNSUPPORTED),
        ("hb", "wine", "published", OK),
        ("hb", "wine", "exact", UNSUPPORTED),
        ("ppca", "wine", "published", UNSUPPORTED),
        ("random-answer", "wine", "published", ERROR),
    )
    assert failed_mechanisms(rows, "covariance", "wine") == (
        " Without a result at one or more budgets (unsupported: Johnson-Lindenstrauss, PPCA; "
        "unsupported, at equal true privacy: H_b)."
    )


def test_data_sets_are_named_where_a_mechanism_has_results_on_others():
    rows = rows_with(
        ("mvg", "mnist", "published", ERROR),
        ("mvg", "adult", "published", OK),
        ("jl", "mnist", "published", OK),
        ("jl", "adult", "published", OK),
    )
    rows = rows.assign(message="Diverged: a gradient is not finite")
    assert failed_mechanisms(rows, "covariance", "mnist", "adult") == (
        " Without a result at one or more budgets (error: MVG on MNIST (Diverged: a gradient is "
        "not finite))."
    )


def test_nothing_is_said_where_every_mechanism_has_a_result():
    rows = rows_with(("mvg", "wine", "published", OK))
    assert failed_mechanisms(rows, "covariance", "wine") == ""
    assert failed_mechanisms(rows, "pca", "wine") == ""
