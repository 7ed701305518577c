"""Gram matrices in closed form against explicit rows, and bad workloads."""

import numpy as np
import pytest

from mechanisms.strategies.workload import (
    AllRange,
    Average,
    Explicit,
    Identity,
    Kronecker,
    Prefix,
    RandomRanges,
    Total,
    Width,
)

EXAMPLES = [
    *(kind(n) for kind in (Identity, Total, Average, Prefix, AllRange) for n in (1, 2, 7)),
    *(Width(9, k) for k in (1, 2, 5, 8, 9)),
    *(RandomRanges(7, q, seed) for q, seed in ((1, 0), (40, 3))),
    Explicit([[1, 0, -2.5], [0, 3, 1]]),
    Kronecker((Prefix(3), AllRange(4))),
    Kronecker((Width(3, 2), Total(2), Identity(2))),
]


@pytest.mark.parametrize("workload", EXAMPLES, ids=lambda workload: type(workload).__name__)
def test_gram_equals_that_of_the_rows(workload):
    rows = workload.matrix()
    assert rows.shape == (workload.queries, workload.cells)
    gram = rows.T @ rows
    assert np.allclose(workload.gram(), gram, rtol=1e-14, atol=0)
    assert workload.trace() == pytest.approx(np.trace(gram), rel=1e-14)
    x = np.random.default_rng(0).standard_normal((3, 2, workload.cells))
    assert np.allclose(workload.gram_times(x), x @ gram, rtol=1e-12, atol=1e-11)


def test_large_workloads_need_no_matrix():
    n = 10**6
    x = np.ones(n)
    assert Prefix(n).trace() == n * (n + 1) / 2
    # A sum of k ones is k; each length occurs once, or n + 1 - k times.
    assert x @ Prefix(n).gram_times(x) == pytest.approx(n * (n + 1) * (2 * n + 1) / 6, rel=1e-12)
    lengths = np.arange(1.0, n + 1)
    energy = np.sum(lengths**2 * (n + 1 - lengths))
    assert x @ AllRange(n).gram_times(x) == pytest.approx(energy, rel=1e-9)


def test_rows_are_the_stated_queries():
    x = np.array([3.0, -1.0, 4.0, 1.5])
    assert np.array_equal(Prefix(4).matrix() @ x, np.cumsum(x))
    assert np.array_equal(Width(4, 2).matrix() @ x, x[:-1] + x[1:])
    assert Average(4).matrix() @ x == pytest.approx(x.mean())
    expected = {x[i : j + 1].sum() for i in range(4) for j in range(i, 4)}
    assert set(AllRange(4).matrix() @ x) == expected


def test_kronecker_asks_for_rectangles_of_the_flattened_table():
    table = np.arange(12.0).reshape(3, 4) ** 2
    answers = Kronecker((Prefix(3), Prefix(4))).matrix() @ table.ravel()
    assert np.allclose(answers.reshape(3, 4), table.cumsum(axis=0).cumsum(axis=1))


def test_random_ranges_depend_on_their_seed_only():
    assert np.array_equal(RandomRanges(50, 9, 4).gram(), RandomRanges(50, 9, 4).gram())
    assert not np.array_equal(RandomRanges(50, 9, 4).gram(), RandomRanges(50, 9, 5).gram())
    rows = RandomRanges(50, 500).matrix()
    assert set(np.count_nonzero(np.diff(rows, prepend=0, append=0), axis=1)) == {2}
    assert rows[:, [0, -1]].any(axis=0).all()


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (lambda: Prefix(0), ValueError, "at least 1, got 0"),
        (lambda: Prefix(2.0), TypeError, "integer, got 2.0"),
        (lambda: Width(5, 6), ValueError, "at most the number of cells, 5, got 6"),
        (lambda: Width(5, 0), ValueError, "width must be at least 1"),
        (lambda: RandomRanges(5, 0), ValueError, "queries must be at least 1"),
        (lambda: RandomRanges(5, 2, -1), ValueError, "seed must be at least 0"),
        (lambda: Explicit([[]]), ValueError, "non-empty"),
        (lambda: Explicit([1, 2, 3]), ValueError, r"got shape \(3,\); one query is one row"),
        (lambda: Explicit([[1, 2], [3]]), ValueError, "equal lengths"),
        (lambda: Explicit([[1, np.nan]]), ValueError, r"nan at index \(0, 1\)"),
        (lambda: Explicit([[1, np.inf]]), ValueError, "inf"),
        (lambda: Explicit([[0, 0]]), ValueError, "nonzero element"),
        (lambda: Explicit([["a", "b"]]), TypeError, "real numbers"),
        (lambda: Kronecker(()), TypeError, "one Workload per axis"),
        (lambda: Kronecker((Prefix(2), 3)), TypeError, "one Workload per axis"),
    ],
)
def test_bad_workloads(build, error, words):
    with pytest.raises(error, match=words):
        build()
