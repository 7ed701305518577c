"""Records are scaled into [-1, 1]."""

import numpy as np
import pytest

from studies.base.scaling import first_records, scale_by_largest, scale_columns


def test_columns_reach_both_ends():
    values = np.array([[1.0, -4.0, 100.0], [2.0, 4.0, 50.0], [5.0, 0.0, 75.0]])
    columns = scale_columns(values)
    assert columns.min(axis=0).tolist() == [-1, -1, -1]
    assert columns.max(axis=0).tolist() == [1, 1, 1]
    assert columns[1].tolist() == [-0.5, 1.0, -1.0]


def test_no_column_leaves_the_box_by_rounding():
    columns = scale_columns(np.random.default_rng(0).normal(1e3, 1e-3, (7, 10_000)))
    assert columns.min() == -1
    assert columns.max() == 1


def test_a_constant_column_becomes_zero():
    assert scale_columns(np.array([[1.0, 2.0], [3.0, 2.0]])).tolist() == [[-1, 0], [1, 0]]


def test_the_largest_absolute_value_becomes_one():
    values = np.array([[1.0, -4.0], [2.0, 3.0]])
    assert scale_by_largest(values).tolist() == [[0.25, -1.0], [0.5, 0.75]]


def test_records_beyond_the_data_are_refused():
    values = np.arange(6.0).reshape(3, 2)
    assert first_records(values, 2).tolist() == [[0, 1], [2, 3]]
    with pytest.raises(ValueError, match="at most 3, the number in the data, got 4"):
        first_records(values, 4)
