"""Training arrays: splits, encodings and scalings of tables and texts."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import datasets
from datasets.loaders import reviews
from learning.records import labelled, tabular, texts

OFFLINE = [name for name, source in labelled.SOURCES.items() if source != "official"]


@pytest.mark.parametrize("name", OFFLINE)
def test_splits_are_disjoint_parts_drawn_by_the_seed(name):
    split, same, other = (labelled.load(name, Path("."), None, seed) for seed in (1, 1, 2))
    assert len(split.train_inputs) == len(split.train_labels) > 3 * len(split.test_labels)
    assert len(split.test_inputs) == len(split.test_labels)
    assert split.train_labels.dtype == split.test_labels.dtype == np.int64
    assert np.array_equal(split.train_inputs, same.train_inputs)
    assert not np.array_equal(split.train_inputs, other.train_inputs)
    total = split.train_labels.sum() + split.test_labels.sum()
    assert total == other.train_labels.sum() + other.test_labels.sum()


@pytest.mark.parametrize("name", OFFLINE)
def test_kept_records_are_some_of_all_and_the_test_set_stays(name):
    whole, part = (labelled.load(name, Path("."), records, 3) for records in (None, 50))
    rows = {row.tobytes() for row in whole.train_inputs}
    assert len(part.train_labels) == 50
    assert all(row.tobytes() in rows for row in part.train_inputs)
    assert np.array_equal(whole.test_inputs, part.test_inputs)


def test_more_records_than_there_are_is_an_error():
    with pytest.raises(ValueError, match=r"at most 456, .* training records of .*, got 457"):
        labelled.load("breast_cancer", Path("."), 457, 0)


def test_tables_lie_between_minus_one_and_one():
    split = labelled.load("breast_cancer", Path("."), None, 0)
    everything = np.concatenate([split.train_inputs, split.test_inputs])
    assert everything.dtype == np.float32
    assert np.allclose(everything.min(axis=0), -1) and np.allclose(everything.max(axis=0), 1)


def test_a_constant_column_becomes_zero():
    assert not tabular.columns_scaled(np.full((3, 1), 7.0)).any()


def test_missing_and_infinite_flows_count_as_the_median():
    flows = pd.DataFrame({"a": [1.0, 2.0, 9.0, np.inf, np.nan], "where": list("vwxyz")})
    assert np.array_equal(tabular._numbers(flows), [[1], [2], [9], [2], [2]])


def test_adult_has_the_papers_105_features(official_data):
    split = labelled.load("adult", official_data("adult"), None, 0)
    assert split.train_inputs.shape == (32_561, 105) and split.test_inputs.shape == (16_281, 105)
    assert split.train_inputs.min() >= 0 and split.train_inputs.max() <= 1
    # A record has at most one category per attribute; the first record has all eight.
    assert split.train_inputs[0, 6:].sum() == 8
    assert (split.train_inputs[:, 6:].sum(axis=1) <= 8).all()
    # The published share of high incomes.
    assert split.train_labels.mean() == pytest.approx(0.2408, abs=1e-4)


def test_words_are_numbered_by_frequency_then_alphabet():
    lines = [["b", "a", "a"], ["c", "b", "d"]]
    assert texts.vocabulary(lines, 3) == {"a": 2, "b": 3, "c": 4}


def test_texts_end_at_the_end():
    numbers = {"a": 2, "b": 3}
    found = texts.encoded([["a"], ["x", "a", "b", "a"], []], numbers, 3)
    assert found.tolist() == [[0, 0, 2], [2, 3, 2], [0, 0, 0]]
    assert texts.encoded([["x"]], numbers, 1).tolist() == [[texts.OTHER]]


def test_markup_and_punctuation_are_not_words():
    assert texts.tokens('It\'s <br /><a href="x">GOOD</a>, 7/10!') == ["it's", "good", "7", "10"]


def test_simulated_reviews_say_not_and_lean_to_their_mood():
    found = reviews.load(seed=1, reviews=2000)
    assert datasets.DATASETS["reviews"].source == "simulated"
    assert 0.45 < found.labels.mean() < 0.55
    assert any(" not " in text for text in found.texts)
    good, bad = (
        np.array([text.count(mood) for text in found.texts], float) for mood in ("good", "bad")
    )
    # Counting moods finds most labels but not all, because order matters.
    right = np.mean((good > bad) == found.labels)
    assert 0.6 < right < 0.95
    assert found.texts == reviews.load(seed=1, reviews=2000).texts
    assert found.texts != reviews.load(seed=2, reviews=2000).texts
    words = {word for text in found.texts for word in text.split()}
    assert len(words) <= texts.WORDS["reviews"]
