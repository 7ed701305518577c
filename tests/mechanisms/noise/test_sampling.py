"""Draws against closed forms, their determinism, precision and memory."""

import numpy as np
import pytest

from mechanisms import (
    Budget,
    get_mechanism,
)

BUDGET = Budget(epsilon=0.7, delta=1e-5)


def calibrated(key, query, **options):
    return get_mechanism(key).calibrate(query, BUDGET, **options)


def rotation(size, seed):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((size, size)))[0]


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
