"""The law of the Johnson-Lindenstrauss transform against projected records, and its privacy."""

import math

import numpy as np
import pytest
from queries import gram
from scipy import stats

from mechanisms import (
    Budget,
    Query,
    get_mechanism,
)
from mechanisms.verification.sampled_audit import audit_losses
from mechanisms.verification.verification import HOLDS, LOOSE, verify

BUDGET = Budget(epsilon=1.0, delta=1e-5)


def records_query(m, n, bound=1.0, adjacency="replace"):
    return Query(
        shape=(m, n),
        l2_sensitivity=2 * bound,
        adjacency=adjacency,
        structure="records",
        record_bound=bound,
    )


def calibrated(query, budget=BUDGET, calibration="exact", **options):
    return get_mechanism("jl").calibrate(query, budget, calibration, **options)


def records(m, n, seed=0, bound=1.0):
    """Records of norm `bound`, as columns."""
    columns = np.random.default_rng(seed).standard_normal((m, n)) * np.arange(1, m + 1)[:, None]
    return bound * columns / np.linalg.norm(columns, axis=0)


def releases(mechanism, value, trials, seed=1):
    return mechanism.releases(value, np.random.default_rng(seed), trials)


def projected(data, w, rows, trials, seed=2):
    """(trials, rows, m): Gaussian combinations of the records, after lifting by w e_i each."""
    m, n = data.shape
    lifted = np.concatenate([data, w * np.eye(m)], axis=1)
    draws = np.random.default_rng(seed).standard_normal((trials, rows, n + m))
    return draws @ lifted.T


def test_published_calibration():
    """16 B' sqrt(r ln(2/delta)) / epsilon ln(16 r/delta), computed by hand."""
    budget = Budget(epsilon=0.5, delta=0.02)
    added = calibrated(gram(3, bound=2.0, adjacency="add-remove"), budget, "published", rows=50)
    # sqrt(50 ln 100) = 15.17427, ln 40000 = 10.59663
    assert added.w == pytest.approx(2 * 16 * 15.17427129 / 0.5 * 10.59663473, rel=1e-8)
    replaced = calibrated(gram(3, bound=2.0), budget, "published", rows=50)
    assert replaced.w == 2 * added.w
    assert replaced.parameters() == {"w": replaced.w, "rows": 50}
    assert calibrated(gram(3, adjacency="add-remove")).rows == 100
    assert calibrated(records_query(3, 7)).rows == 7
    assert calibrated(records_query(3, 7), rows=7).w == calibrated(records_query(3, 7)).w


@pytest.mark.parametrize("rows", [2, 30])
def test_gram_releases_have_the_law_of_projected_records(rows):
    data = records(3, 8)
    mechanism = calibrated(
        gram(3, adjacency="add-remove"), Budget(epsilon=20, delta=0.1), rows=rows
    )
    released = releases(mechanism, data @ data.T, 4000)
    rows_released = projected(data, mechanism.w, rows, 4000)
    explicit = rows_released.transpose(0, 2, 1) @ rows_released / rows
    explicit -= mechanism.w**2 * np.eye(3)
    for statistic in (lambda c: c[:, 0, 2], np.linalg.det, lambda c: np.linalg.eigvalsh(c)[:, -1]):
        assert stats.ks_2samp(statistic(released), statistic(explicit)).pvalue > 1e-4


@pytest.mark.parametrize("shape", [(3, 6), (6, 3), (4, 4)])
def test_records_are_released_as_projections_of_lifted_records(shape):
    """With fewer records than dimensions, lifting has to fill the other directions."""
    m, n = shape
    data = records(m, n)
    mechanism = calibrated(records_query(m, n), Budget(epsilon=20, delta=0.1))
    released = releases(mechanism, data, 4000)
    explicit = projected(data, mechanism.w, n, 4000).transpose(0, 2, 1) / math.sqrt(n)
    for statistic in (
        lambda y: y[:, m - 1, 0],
        lambda y: y[:, 0, 0] * y[:, 1, 0],
        lambda y: np.linalg.svd(y, compute_uv=False)[:, 0],
    ):
        assert stats.ks_2samp(statistic(released), statistic(explicit)).pvalue > 1e-4
    products = released @ released.transpose(0, 2, 1)
    error = products.std(axis=0) / math.sqrt(len(products))
    expected = data @ data.T + mechanism.w**2 * np.eye(m)
    assert np.all(np.abs(products.mean(axis=0) - expected) < 4.5 * error)


def log_ratio(second_moments, rows, first, second):
    """log density ratio of `rows` draws of N(0, first) over N(0, second), (trials,)."""
    change = np.linalg.inv(second) - np.linalg.inv(first)
    trace = np.einsum("tij,ji->t", second_moments, change)
    return 0.5 * trace + 0.5 * rows * np.log(np.linalg.det(second) / np.linalg.det(first))


@pytest.mark.parametrize("structure", ["gram", "records"])
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_losses_of_real_releases_match_the_profile(structure, adjacency):
    """The worst pair: one record of norm B alone, removed or replaced by an orthogonal one."""
    bound, rows, m = 1.5, 5, 3
    query = gram(m, bound=bound, adjacency=adjacency)
    if structure == "records":
        query = records_query(m, rows, bound, adjacency)
    mechanism = calibrated(query, Budget(epsilon=0.5, delta=0.05), rows=rows)
    data = np.zeros((2, m, rows))
    data[0, 0, 0] = bound
    data[1, 1, 0] = bound if adjacency == "replace" else 0.0
    values = data @ data.transpose(0, 2, 1) if structure == "gram" else data
    covariances = data @ data.transpose(0, 2, 1) + mechanism.w**2 * np.eye(m)

    def real_losses(rng, n, reverse=False):
        released = mechanism.releases(values[int(reverse)], rng, n)
        if structure == "gram":
            moments = rows * (released + mechanism.w**2 * np.eye(m))
        else:
            moments = rows * released @ released.transpose(0, 2, 1)
        return log_ratio(moments, rows, *covariances)

    profile = mechanism.profile()
    for reverse in (False, True):
        seen = real_losses(np.random.default_rng(3), 2000, reverse)
        said = profile.sample_losses(np.random.default_rng(4), 20_000, reverse=reverse)
        assert stats.ks_2samp(seen, said).pvalue > 1e-4
    audit = audit_losses(real_losses, 0.5, samples=2000, seed=1)
    assert audit.consistent
    assert audit.delta_lower < 0.05 < audit.delta_upper


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize("rows", [1, 10, 1000])
def test_the_exact_calibration_saves_what_the_published_one_wastes(adjacency, rows):
    query = gram(4, bound=3.0, adjacency=adjacency)
    exact, published = (
        calibrated(query, calibration=each, rows=rows) for each in ("exact", "published")
    )
    assert verify(exact).verdict == HOLDS
    result = verify(published)
    assert (result.verdict, result.noise_scale) == (LOOSE, published.w)
    assert result.wasted_variance == pytest.approx((published.w / exact.w) ** 2, rel=1e-9)
    assert result.expected_loss is None


def test_billions_of_rows_cost_no_more_than_the_matrix():
    mechanism = calibrated(gram(5, adjacency="add-remove"), rows=10**9)
    value = np.diag(np.arange(5.0))
    released = mechanism.release(value, np.random.default_rng(0))
    error = (np.diag(value) + mechanism.w**2) * math.sqrt(2e-9)
    assert np.all(np.abs(np.diag(released - value)) < 5 * error)


@pytest.mark.parametrize(
    ("query", "value", "words"),
    [
        (gram(2, adjacency="add-remove"), np.array([[1.0, 2.0], [2.0, 1.0]]), "eigenvalue -1"),
        (gram(2, adjacency="add-remove"), np.array([[1.0, 0.5], [0.0, 1.0]]), "differ by 0.5"),
        (
            records_query(2, 2),
            np.array([[1.0, 3.0], [0.0, 4.0]]),
            "at most record_bound = 1, got 5",
        ),
        (records_query(2, 2), np.ones((3, 2)), "shape"),
    ],
)
def test_values_that_no_records_make_are_refused(query, value, words):
    with pytest.raises(ValueError, match=words):
        calibrated(query).release(value, np.random.default_rng(0))
