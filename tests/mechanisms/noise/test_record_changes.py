"""Directional noise where one record, a column, changes: mu against maximisation over the box."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from mechanisms import (
    Budget,
    Query,
    Unsupported,
    get_mechanism,
)
from mechanisms.noise.matrix_gaussian import MatrixGaussian
from mechanisms.privacy.gaussian_profile import mu_for


def query_of(rows, columns, **changes):
    """Records in [-1, 1]^rows, one of which is replaced."""
    stated = {
        "shape": (rows, columns),
        "l2_sensitivity": 2 * math.sqrt(rows),
        "linf_sensitivity": 2.0,
        "frobenius_bound": math.sqrt(rows * columns),
        "adjacency": "replace",
        "structure": "records",
        "record_bound": math.sqrt(rows),
    }
    return Query(**stated | changes)


def rotation(size, seed):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((size, size)))[0]


def whitened(noise, change):
    """||row covariance^-1/2 D column covariance^-1/2||_F from the covariances themselves."""
    sides = []
    for std, directions in (
        (noise.row_std, noise.row_directions),
        (noise.column_std, noise.column_directions),
    ):
        directions = np.eye(len(std)) if directions is None else directions
        sides.append(np.linalg.inv(directions * std))
    return np.linalg.norm(sides[0] @ change @ sides[1].T)


def noises(rows, columns):
    rng = np.random.default_rng(8)
    row_std, column_std = rng.uniform(0.3, 3, rows), rng.uniform(0.5, 2, columns)
    turned = rotation(rows, 1)
    return {
        "axes": MatrixGaussian(row_std=row_std, column_std=column_std),
        "turned rows": MatrixGaussian(
            row_std=row_std, column_std=np.ones(columns), row_directions=turned
        ),
        "turned both": MatrixGaussian(
            row_std=row_std,
            column_std=column_std,
            row_directions=turned,
            column_directions=rotation(columns, 2),
        ),
    }


@pytest.mark.parametrize("name", noises(4, 3))
def test_mu_is_the_largest_over_all_changes_of_one_record(name):
    noise, query = noises(4, 3)[name], query_of(4, 3)
    mu = noise.profile(query).mu
    assert noise.slack(query) is None
    found = []
    for column, corner in itertools.product(range(3), itertools.product((-2, 2), repeat=4)):
        change = np.zeros((4, 3))
        change[:, column] = corner
        found.append(whitened(noise, change))
    assert mu == pytest.approx(max(found), rel=1e-12)
    # Inside of the box there is nothing worse.
    rng = np.random.default_rng(0)
    for _ in range(300):
        change = np.zeros((4, 3))
        change[:, rng.integers(3)] = rng.uniform(-2, 2, 4)
        assert whitened(noise, change) <= mu * (1 + 1e-12)


def test_a_change_of_one_record_is_less_than_one_of_the_ball():
    """In the ball over all columns the sharpest row could take the whole change."""
    noise = noises(4, 3)["axes"]
    everywhere = noise.profile(query_of(4, 3, structure=None, record_bound=None)).mu
    assert noise.profile(query_of(4, 3)).mu < 0.9 * everywhere
    local = query_of(4, 3, adjacency="local")
    assert noise.profile(local).mu == everywhere


def test_the_ball_binds_where_it_is_smaller_than_the_box():
    noise = noises(4, 3)["axes"]
    query = query_of(4, 3, l2_sensitivity=2.5)

    def less(change):
        return -np.sum((change / noise.row_std) ** 2) / noise.column_std.min() ** 2

    best = min(
        minimize(
            less,
            start,
            bounds=[(-2, 2)] * 4,
            constraints={"type": "ineq", "fun": lambda d: 2.5**2 - d @ d},
        ).fun
        for start in np.random.default_rng(3).uniform(-1, 1, (40, 4))
    )
    assert noise.profile(query).mu == pytest.approx(math.sqrt(-best), rel=1e-5)


def test_where_the_box_cannot_be_used_it_is_said():
    turned = noises(4, 3)["turned rows"]
    ball = query_of(4, 3, l2_sensitivity=2.5)
    wide = replace(ball, linf_sensitivity=2.5)
    assert turned.slack(wide) is None
    assert turned.profile(wide).mu == pytest.approx(2.5 / turned.row_std.min())
    small = replace(ball, linf_sensitivity=1.3)
    assert "not along axes" in turned.slack(small)
    worst = max(
        whitened(turned, share * change)
        for change in np.random.default_rng(1).uniform(-1.3, 1.3, (4000, 4, 1)) * [1.0, 0, 0]
        for share in [min(1.0, 2.5 / np.linalg.norm(change))]
    )
    bounds = turned.profile(small)
    assert bounds.above.mu <= 2.5 / turned.row_std.min()
    # The search finds no more than the upper bound, and a better change than the known one.
    assert bounds.below.mu <= worst * 1.05 and worst <= bounds.above.mu
    many = MatrixGaussian(
        row_std=np.linspace(1, 2, 17), column_std=np.ones(2), row_directions=rotation(17, 3)
    )
    assert "not along axes" in many.slack(query_of(17, 2))


def test_exact_calibration_along_any_directions():
    """Axes given as a turned basis of equal precision are i.i.d. noise: one mu for all."""
    query, budget = query_of(6, 10), Budget(epsilon=1.0, delta=1e-3)
    mvg = get_mechanism("mvg")
    theta = [0.4, 0.4, 0.05, 0.05, 0.05, 0.05]
    for options in ({}, {"directions": rotation(6, 5)}):
        exact = mvg.calibrate(query, budget, "exact", precision=theta, **options)
        assert exact.profile().mu == pytest.approx(mu_for(1.0, 1e-3), rel=1e-9)
    free = query_of(6, 10, structure=None, record_bound=None)
    with pytest.raises(Unsupported, match="not along axes"):
        mvg.calibrate(free, budget, "exact", precision=theta, directions=rotation(6, 5))
