"""Sensitivities that a query does not have are found, with a pair; those that it has are not."""

import math

import numpy as np
import pytest

from mechanisms import Query, check_sensitivity

HEIGHTS = np.array([0.0, 0.5, 1.7, 2.5])


def histogram(cells):
    return np.bincount(cells, minlength=4)


def clipped_sum(rows):
    norms = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1.0)
    return (rows / norms).sum(axis=0)


def second_moment(rows):
    return rows.T @ rows


ROWS = np.array([[3.0, 0.0], [0.0, -2.0], [0.1, 0.1], [1.0, 1.0], [-4.0, 0.0]])
UNIT = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
GRAM = {"structure": "gram", "record_bound": 1.0}


@pytest.mark.parametrize(
    ("function", "records", "neighbours", "query"),
    [
        (histogram, np.arange(4), "add-remove", Query(shape=(4,), structure="histogram")),
        (
            histogram, np.arange(4), "replace",
            Query(shape=(4,), structure="histogram", adjacency="replace"),
        ),
        (np.sum, HEIGHTS, "add-remove", Query(shape=(1,), l1_sensitivity=2.5)),
        (clipped_sum, ROWS, "add-remove", Query(shape=(2,), l2_sensitivity=1.0)),
        (clipped_sum, ROWS, "replace", Query(shape=(2,), l2_sensitivity=2.0, adjacency="replace")),
        (second_moment, UNIT, "replace", Query(shape=(2, 2), adjacency="replace", **GRAM)),
    ],
)  # fmt: skip
def test_a_true_sensitivity_is_not_accused(function, records, neighbours, query):
    found = check_sensitivity(function, records, neighbours, query)
    assert found.exceeded == []
    assert "no further than stated; that is no proof" in str(found)
    # It is attained, so that a smaller one would have been found.
    name = "l2_sensitivity"
    assert found.found[name] == pytest.approx(found.stated[name], rel=1e-6)


def test_a_histogram_under_replace_moves_by_two():
    query = Query(shape=(4,), l1_sensitivity=1.0, adjacency="replace")
    found = check_sensitivity(histogram, np.arange(4), "replace", query)
    assert found.exceeded == ["l1_sensitivity", "l2_sensitivity"]
    assert found.found["l1_sensitivity"] == 2.0
    assert found.found["l2_sensitivity"] == pytest.approx(math.sqrt(2))
    first, second = found.pairs["l1_sensitivity"]
    assert np.abs(histogram(first) - histogram(second)).sum() == 2
    assert (first != second).sum() == 1
    lines = str(found).splitlines()
    assert lines[0].startswith("l1_sensitivity is at least 2, and 1 is stated. It is reached")
    assert lines[1].strip().startswith("4 records, one of which is (")


def test_a_mean_of_few_records_moves_further_than_that_of_many():
    """Stated is range / n of the given data set; under add-remove n is not fixed."""

    def mean(data):
        return np.mean(data) if len(data) else 0.0

    query = Query(shape=(1,), l1_sensitivity=2.5 / 4)
    assert check_sensitivity(mean, HEIGHTS, "add-remove", query).found["l1_sensitivity"] == 2.5
    fixed = Query(shape=(1,), l1_sensitivity=2.5 / 4, adjacency="replace")
    assert check_sensitivity(mean, HEIGHTS, "replace", fixed).exceeded == []


def test_a_person_with_several_records():
    """Records are (person, cell); clipping to one cell was forgotten."""
    records = np.array([[0, 1], [0, 2], [0, 3], [1, 0], [2, 2]])

    def without_a_person(data, rng):
        return data[data[:, 0] != rng.choice(data[:, 0])]

    query = Query(shape=(4,), structure="histogram")
    found = check_sensitivity(lambda data: histogram(data[:, 1]), records, without_a_person, query)
    assert found.found["l1_sensitivity"] >= 3


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"neighbours": "swap"}, "must be 'add-remove', 'replace' or a function, got 'swap'"),
        ({"neighbours": "replace"}, "sensitivities of the query are those of add-remove"),
        ({"function": lambda data: data[:3]}, r"must return an answer of shape \(1,\), got \(3,\)"),
        ({"function": lambda data: math.nan}, "must return finite numbers"),
        ({"records": HEIGHTS[:1]}, r"records must be at least 2, got shape \(1,\)"),
        ({"tries": 0}, "tries must be at least 1"),
    ],
)
def test_bad_arguments(changes, words):
    arguments = {
        "function": np.sum, "records": HEIGHTS, "neighbours": "add-remove",
        "query": Query(shape=(1,), l1_sensitivity=2.5),
    } | changes  # fmt: skip
    with pytest.raises(ValueError, match=words):
        check_sensitivity(**arguments)
