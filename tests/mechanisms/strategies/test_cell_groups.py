"""Groups of similar cells: their sums, and that they recover the order of a line."""

import numpy as np
import pytest

from mechanisms.strategies.cell_groups import bisected, distinct_cells, grouped
from mechanisms.strategies.workload import AllRange, Explicit, Prefix


def test_a_grouped_workload_equals_the_workload_of_the_sums():
    gram, labels = AllRange(6).gram(), np.array([0, 2, 1, 1, 2, 2])
    found = grouped(gram, labels)
    spread = np.eye(3)[labels]
    assert np.array_equal(found.gram, spread.T @ gram @ spread)
    assert found.own.tolist() == [sum(np.diag(gram)[labels == each]) for each in range(3)]
    assert found.sizes.tolist() == [1, 2, 3]


def test_cells_of_the_same_queries_are_not_distinct():
    rows = Explicit([[0, 1, 1, 0, 1, 1], [0, 0, 1, 0, 1, 0]])
    kept, labels = distinct_cells(rows.gram())
    assert kept.tolist() == [0, 1, 2]
    assert labels.tolist() == [0, 1, 2, 0, 2, 1]
    kept, labels = distinct_cells(Prefix(9).gram())
    assert kept.tolist() == labels.tolist() == list(range(9))


@pytest.mark.parametrize("kind", [Prefix, AllRange])
def test_a_line_is_cut_into_intervals_whatever_the_order_of_its_cells(kind):
    order = np.random.default_rng(0).permutation(50)
    levels = bisected(kind(50).gram()[np.ix_(order, order)], 9)
    assert [labels.max() + 1 for labels in levels] == [2, 4, 8, 16]
    for labels in levels:
        line = np.empty(50, dtype=int)
        line[order] = labels
        assert np.count_nonzero(np.diff(line)) == labels.max()
        sizes = np.bincount(labels)
        assert sizes.max() - sizes.min() <= 1
