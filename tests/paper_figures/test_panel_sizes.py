"""The note on the size of a run beside the size in the paper."""

from pathlib import Path

import pytest

from claims.paper import paper_of
from paper_figures.panel_sizes import missing_words, size_words
from runs.config import read_config

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
