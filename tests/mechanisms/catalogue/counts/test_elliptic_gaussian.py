"""Correlated and elliptic Gaussian noise against enumeration, optimisation and sampling."""

import itertools
import math

import cvxpy as cp
import numpy as np
import pytest

from mechanisms import Budget, Query, Unsupported, get_mechanism, verify
from mechanisms.privacy.gaussian_profile import mu_for
from mechanisms.strategies.workload import Prefix

BUDGET = Budget(epsilon=1.0, delta=1e-5)
MU = float(mu_for(1.0, 1e-5))


def counts(size, most=None, width=1.0):
    return Query(
        shape=(size,),
        l2_sensitivity=width * math.sqrt(most or size),
        linf_sensitivity=width,
        structure="counts",
    )


def votes(size):
    points = np.arange(size)
    return Query(
        shape=(size,),
        l2_sensitivity=float(np.linalg.norm(points)),
        linf_sensitivity=size - 1.0,
        structure="votes",
    )


def changes(query):
    """Every change of the answer, one per row."""
    if query.structure == "votes":
        return np.array(list(itertools.permutations(range(query.size))), dtype=float)
    vertices = np.array(list(itertools.product((0.0, 1.0), repeat=query.size)))
    kept = (vertices.sum(axis=1) <= query.most_counts) & vertices.any(axis=1)
    return vertices[kept] * query.linf_sensitivity


def covariance(noise):
    size = math.prod(noise.shape)
    return noise.own_std**2 * np.eye(size) + noise.common_std**2


QUERIES = [
    *(counts(size) for size in (1, 2, 3, 5, 8, 9, 12)),
    *(counts(12, most) for most in (1, 2, 5, 7, 8, 11)),
    counts(6, 4, width=3.0),
    *(votes(size) for size in (2, 3, 7)),
]


@pytest.mark.parametrize("key", ["correlated-gaussian", "elliptic-gaussian"])
@pytest.mark.parametrize("query", QUERIES, ids=lambda q: f"{q.structure}-{q.size}-{q.most_counts}")
def test_the_profile_is_the_worst_over_all_changes(query, key):
    if key == "correlated-gaussian" and query.structure == "votes":
        pytest.skip("for counts only")
    for calibration in ("published", "exact"):
        mechanism = get_mechanism(key).calibrate(query, BUDGET, calibration)
        precision = np.linalg.inv(covariance(mechanism.noise))
        moved = changes(query)
        mu = math.sqrt(np.vecdot(moved @ precision, moved).max())
        assert mechanism.profile().mu == pytest.approx(mu, rel=1e-10)
        assert mu <= MU * (1 + 1e-12)
        assert calibration == "published" or mu == pytest.approx(MU, rel=1e-9)


@pytest.mark.parametrize("size", [4, 9, 16, 10_000])
def test_the_stated_variance_of_correlated_noise(size):
    noise = get_mechanism("correlated-gaussian").calibrate(counts(size), BUDGET).noise
    root = math.sqrt(size)
    assert noise.parameters()["sigma"] == pytest.approx((root + 1) / (2 * MU), rel=1e-12)
    assert noise.own_std**2 == pytest.approx((size + root) / (4 * MU**2), rel=1e-9)
    # Whole numbers attain the top of the parabola at squares.
    assert noise.profile(counts(size)).mu == pytest.approx(MU, rel=1e-12)


@pytest.mark.parametrize("query", [counts(4), counts(5, 2), counts(5, 4), votes(4)])
def test_no_covariance_is_better(query):
    """Least trace with D^T Sigma^-1 D <= mu^2 for all changes, by semidefinite programming."""
    size, moved = query.size, changes(query)
    variance = cp.Variable((size, size), PSD=True)
    blocks = [
        cp.bmat([[variance, d[:, None]], [d[None, :], np.array([[MU**2]])]]) >> 0 for d in moved
    ]
    problem = cp.Problem(cp.Minimize(cp.trace(variance)), blocks)
    least = problem.solve(solver=cp.CLARABEL)
    mechanism = get_mechanism("elliptic-gaussian").calibrate(query, BUDGET)
    exact = get_mechanism("elliptic-gaussian").calibrate(query, BUDGET, "exact")
    assert exact.expected_loss() <= mechanism.expected_loss() * (1 + 1e-9)
    if query.structure == "votes" or query.size == 4 or query.most_counts == 2:
        assert exact.expected_loss() == pytest.approx(least, rel=1e-6)
    assert exact.expected_loss() >= least * (1 - 1e-6)


def test_draws_have_the_stated_moments():
    mechanism = get_mechanism("correlated-gaussian").calibrate(counts(6), BUDGET)
    draws = mechanism.sample(np.random.default_rng(1), 40_000)
    assert np.cov(draws.T) == pytest.approx(covariance(mechanism.noise), abs=1.0)
    losses = np.vecdot(draws, draws)
    moments = mechanism.loss()
    assert losses.mean() == pytest.approx(moments.mean, rel=0.03)
    assert losses.var() == pytest.approx(moments.variance, rel=0.1)


def test_the_variance_of_prefix_sums():
    mechanism = get_mechanism("correlated-gaussian").calibrate(counts(7), BUDGET)
    prefix = Prefix(7)
    expected = np.trace(prefix.matrix() @ covariance(mechanism.noise) @ prefix.matrix().T)
    assert mechanism.noise.workload_variance((prefix,)) == pytest.approx(expected)


def test_other_noise_keeps_its_exact_profile_on_counts():
    """Independent noise does not see on which side changes lie."""
    counted = counts(9, 4)
    plain = Query(shape=(9,), l2_sensitivity=2.0, l1_sensitivity=4.0, linf_sensitivity=1.0)
    for key in ("gaussian-analytic", "laplace", "l2"):
        one, other = (get_mechanism(key).calibrate(q, BUDGET) for q in (counted, plain))
        assert one.slack() is None
        assert one.profile().delta(1.0) == other.profile().delta(1.0)


def test_sums_take_independent_noise():
    query = Query(shape=(5,), l2_sensitivity=1.0)
    mechanism = get_mechanism("elliptic-gaussian").calibrate(query, BUDGET)
    analytic = get_mechanism("gaussian-analytic").calibrate(query, BUDGET)
    assert mechanism.noise == analytic.noise


def test_a_sampled_audit_agrees():
    result = verify(
        get_mechanism("correlated-gaussian").calibrate(counts(16), BUDGET), samples=50_000
    )
    assert result.verdict == "holds"
    assert result.audit.delta_lower <= 1e-5 <= result.audit.delta_upper


def test_other_queries_are_refused():
    query = Query(shape=(5,), l2_sensitivity=1.0)
    with pytest.raises(Unsupported, match="needs structure 'counts'"):
        get_mechanism("correlated-gaussian").calibrate(query, BUDGET)
    with pytest.raises(Unsupported, match="delta > 0"):
        get_mechanism("elliptic-gaussian").calibrate(counts(3), Budget(epsilon=1.0))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"adjacency": "replace"}, "needs adjacency 'add-remove'"),
        ({"linf_sensitivity": None}, "needs linf_sensitivity"),
        ({"record_bound": 1.0}, "takes no record_bound"),
        ({"l2_sensitivity": 2.1}, "has l2_sensitivity = 2, got 2.1"),
        ({"l1_sensitivity": 9.0}, "has l1_sensitivity = 4, got 9"),
        ({"structure": "votes"}, "has l1_sensitivity = 2.5, got 4"),
        ({"structure": "votes", "shape": (1,)}, "at least 2 elements"),
    ],
)
def test_sensitivities_that_no_counts_have_are_refused(changed, words):
    stated = {
        "shape": (5,),
        "l2_sensitivity": 2.0,
        "l1_sensitivity": 4.0,
        "linf_sensitivity": 1.0,
        "structure": "counts",
    }
    with pytest.raises(ValueError, match=words):
        Query(**stated | changed)
