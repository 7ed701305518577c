"""Draws against closed forms, their determinism, precision and memory."""

import math

import numpy as np
import pytest

from mechanisms import (
    Budget,
    get_mechanism,
)
from mechanisms.strategies.workload import AllRange, Kronecker, Prefix
from tests.mechanisms.matrix_noise import ADDITIVE
from tests.peak_memory import peak_of

BUDGET = Budget(epsilon=0.7, delta=1e-5)
# Three standard errors leave one false alarm in 370; the seeds below are fixed, so none moves.
TRIALS = 4000


def calibrated(key, query, **options):
    return get_mechanism(key).calibrate(query, BUDGET, **options)


def rotation(size, seed):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((size, size)))[0]


@pytest.mark.parametrize("shape", [(4, 3), (20, 30)])
@pytest.mark.parametrize("key", ADDITIVE)
def test_mean_loss_is_within_three_standard_errors(key, shape, make_query):
    mechanism = calibrated(key, make_query(*shape))
    losses = mechanism.noise.squared_norms(np.random.default_rng(1), TRIALS)
    error = losses.std(ddof=1) / math.sqrt(TRIALS)
    assert abs(losses.mean() - mechanism.expected_loss()) < 3 * error
    # The variance as well: it is what kurtosis and skewness are built on.
    assert losses.var() == pytest.approx(mechanism.loss().variance, rel=0.25)


@pytest.mark.parametrize("key", ADDITIVE)
def test_empirical_survival_of_the_loss(key, make_query):
    mechanism = calibrated(key, make_query(3, 4))
    thresholds = mechanism.expected_loss() * np.array([0.5, 1, 2])
    exact = mechanism.noise.squared_norm_survival(thresholds)
    if exact is None:
        pytest.skip(f"{key} has no closed form for the distribution of L")
    losses = mechanism.noise.squared_norms(np.random.default_rng(2), TRIALS)
    sampled = (losses[:, None] > thresholds).mean(axis=0)
    assert np.all(np.abs(sampled - exact) < 4 * np.sqrt(exact * (1 - exact) / TRIALS) + 1e-12)


@pytest.mark.parametrize("key", ADDITIVE)
def test_noise_has_mean_zero_and_is_uncorrelated_between_trials(key, make_query):
    draws = calibrated(key, make_query(3, 4)).sample(np.random.default_rng(3), TRIALS)
    error = draws.std(axis=0) / math.sqrt(TRIALS)
    assert np.all(np.abs(draws.mean(axis=0)) < 4.5 * error)
    # Zeros are values that TLDP keeps, and nothing else repeats.
    noisy = draws[draws[:, 0, 0] != 0, 0, 0]
    assert len(np.unique(noisy)) == len(noisy) > 0.99 * TRIALS


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("key", ADDITIVE)
def test_same_seed_same_bytes_in_both_precisions(key, dtype, make_query):
    mechanism = calibrated(key, make_query(3, 4))
    first, second = (mechanism.sample(np.random.default_rng(7), 3, dtype) for _ in range(2))
    assert first.dtype == dtype
    assert first.shape == (3, 3, 4)
    assert first.tobytes() == second.tobytes()


def test_release_answers_in_the_precision_of_the_value(make_query):
    mechanism = calibrated("gaussian", make_query(2, 2))
    rng = np.random.default_rng(0)
    assert mechanism.release(np.zeros((2, 2), np.float32), rng).dtype == np.float32
    assert mechanism.release(np.zeros((2, 2), np.int64), rng).dtype == np.float64


def test_directional_noise_has_the_covariance_it_says(make_query):
    query = make_query(4, 3)
    rows = rotation(4, 1)
    theta = np.array([0.6, 0.2, 0.1, 0.1])
    mechanism = calibrated("mvg", query, directions=rows, precision=theta)
    draws = mechanism.sample(np.random.default_rng(5), 200_000)
    along = np.einsum("im,tij->tmj", rows, draws)
    assert np.var(along, axis=0) == pytest.approx(
        np.repeat(mechanism.noise.row_std[:, None] ** 2, 3, axis=1), rel=0.03
    )
    correlation = np.corrcoef(along.reshape(len(along), -1), rowvar=False)
    assert np.abs(correlation - np.eye(12)).max() < 0.012


def test_identity_directions_are_dropped(make_query):
    mechanism = calibrated("mvg", make_query(5, 5), directions=np.eye(5).tolist())
    assert mechanism.noise.row_directions is None


@pytest.mark.parametrize("key", ADDITIVE)
def test_sampling_needs_no_more_than_a_few_copies_of_the_answer(key, make_query):
    """An mn x mn matrix at this shape would be 3.2 GB; the answer is 160 kB."""
    mechanism = calibrated(key, make_query(100, 200))
    _, peak = peak_of(mechanism.sample, np.random.default_rng(0), 1)
    assert peak < 5 * 8 * 100 * 200


@pytest.mark.parametrize("key", ADDITIVE)
def test_total_variance_of_linear_queries(key, make_query):
    mechanism = calibrated(key, make_query(4, 3))
    factors = (Prefix(4), AllRange(3))
    exact = mechanism.noise.workload_variance(factors)
    draws = mechanism.sample(np.random.default_rng(4), TRIALS).reshape(TRIALS, 12)
    squares = np.sum((draws @ Kronecker(factors).matrix().T) ** 2, axis=1)
    assert abs(squares.mean() - exact) < 4 * squares.std() / math.sqrt(TRIALS)


def test_total_variance_of_linear_queries_under_directional_noise(make_query):
    mechanism = calibrated(
        "mvg", make_query(4, 3), directions=rotation(4, 1), precision=[0.6, 0.2, 0.1, 0.1]
    )
    noise, factors = mechanism.noise, (Prefix(4), AllRange(3))
    rows = (noise.row_directions * noise.row_std**2) @ noise.row_directions.T
    covariance = np.kron(rows, np.diag(noise.column_std**2))
    queries = Kronecker(factors).matrix()
    expected = np.trace(queries @ covariance @ queries.T)
    assert noise.workload_variance(factors) == pytest.approx(expected, rel=1e-12)
    assert noise.workload_variance((Kronecker(factors),)) is None


@pytest.mark.parametrize("key", ["udn", "idn", "mgm"])
def test_optimal_variances_beat_every_other_allocation(key, make_query):
    """mgm2021 eq. (25) against random feasible allocations, and eq. (26) for its value."""
    query = make_query(5, 3)
    workload = np.random.default_rng(3).standard_normal((8, 5))
    noise = calibrated(key, query, workload=workload).noise
    squares = np.sum(workload**2, axis=0)
    bound = np.sum(noise.row_std**-2)
    best = np.sum(squares * noise.row_std**2)
    assert best == pytest.approx(np.sum(np.sqrt(squares)) ** 2 / bound, rel=1e-12)
    shares = np.random.default_rng(4).dirichlet(np.ones(5), 10_000) * bound
    assert np.all(np.sum(squares / shares, axis=1) >= best)


def test_optimal_variances_agree_with_a_convex_solver(make_query):
    """The geometric program (24) in CVXPY, over both factors of MGM."""
    import cvxpy

    query = make_query(3, 4)
    rng = np.random.default_rng(11)
    rows, columns = rng.standard_normal((5, 3)), rng.standard_normal((6, 4))
    noise = calibrated("mgm", query, workload=rows, column_workload=columns).noise
    p, q = np.sum(rows**2, axis=0), np.sum(columns**2, axis=0)
    bound = np.sum(noise.row_std**-2) * np.sum(noise.column_std**-2)
    x, y = cvxpy.Variable(3, pos=True), cvxpy.Variable(4, pos=True)
    objective = cvxpy.sum(cvxpy.multiply(p, x)) * cvxpy.sum(cvxpy.multiply(q, y))
    constraint = cvxpy.sum(x**-1) * cvxpy.sum(y**-1) <= bound
    problem = cvxpy.Problem(cvxpy.Minimize(objective), [constraint])
    problem.solve(gp=True)
    ours = np.sum(p * noise.row_std**2) * np.sum(q * noise.column_std**2)
    assert ours == pytest.approx(problem.value, rel=1e-5)


def test_random_answer_ignores_the_data(make_query):
    mechanism = calibrated("random-answer", make_query(3, 3))
    answers = [
        mechanism.release(np.full((3, 3), value), np.random.default_rng(1)) for value in (0.0, 0.3)
    ]
    assert np.array_equal(*answers)


def test_non_private_returns_the_value(make_query):
    value = np.arange(9.0).reshape(3, 3) / 30
    released = calibrated("non-private", make_query(3, 3)).release(value, np.random.default_rng(0))
    assert np.array_equal(released, value)
