"""What one record can do to a Gram matrix, against the worst of many pairs of records."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from mechanisms import Budget, Query, get_mechanism, verify
from mechanisms.noise.gaussian_noise import IndependentGaussian
from mechanisms.noise.laplace_noise import IndependentLaplace
from mechanisms.noise.matrix_gaussian import MatrixGaussian
from mechanisms.noise.spherical_noise import Spherical
from mechanisms.noise.strategy_gaussian import sensitivity_bounds
from mechanisms.strategies.optimal_strategy import optimal_strategy
from mechanisms.strategies.workload import Prefix
from paper_figures.mvg2018.numbers import record_covariance

BOUND = 1.3
HISTOGRAM = {"structure": "histogram", "record_bound": 1.0}
STEEP, MILD = np.array([0.2, 0.5, 1.1]), np.array([0.3, 0.4, 0.9])


def gram(adjacency, **changed):
    largest = BOUND**2 if adjacency == "add-remove" else 2 * BOUND**2
    kind = {"l2_sensitivity": largest, "adjacency": adjacency, "structure": "gram"}
    return Query(**{"shape": (3, 3), "record_bound": BOUND} | kind | changed)


def rotation(seed):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))[0]


def worst_of_pairs(noise, adjacency):
    """The largest ||U1^-1 (x x^T - y y^T) U2^-T||_F over the ball, from many starts.

    The norm is convex in |x|^2 and in |y|^2: the maximum has records of norm 0 or B.
    """
    rows, columns = (
        (np.eye(3) if directions is None else directions) / std
        for std, directions in (
            (noise.row_std, noise.row_directions),
            (noise.column_std, noise.column_directions),
        )
    )

    def less(pair, replaced):
        x, y = (BOUND * each / np.linalg.norm(each) for each in (pair[:3], pair[3:]))
        change = np.outer(x, x) - replaced * np.outer(y, y)
        return -np.linalg.norm(rows.T @ change @ columns)

    starts = np.random.default_rng(0).standard_normal((12, 6))
    kinds = (0, 1) if adjacency == "replace" else (0,)
    return -min(minimize(less, start, args=(kind,)).fun for start in starts for kind in kinds)


@pytest.mark.parametrize("adjacency", ["replace", "add-remove"])
@pytest.mark.parametrize(
    "noise",
    [
        MatrixGaussian(row_std=STEEP, column_std=STEEP),
        MatrixGaussian(
            row_std=STEEP,
            column_std=MILD,
            row_directions=rotation(1),
            column_directions=rotation(1),
        ),
        MatrixGaussian(row_std=STEEP, column_std=np.ones(3), row_directions=rotation(2)),
        MatrixGaussian(row_std=np.ones(3), column_std=MILD),
        MatrixGaussian(row_std=np.full(3, 0.7), column_std=np.full(3, 0.5)),
    ],
)
def test_directional_noise_is_judged_by_records(noise, adjacency):
    query = gram(adjacency)
    assert noise.slack(query) is None
    assert noise.profile(query).mu == pytest.approx(worst_of_pairs(noise, adjacency), rel=1e-5)


@pytest.mark.parametrize("adjacency", ["replace", "add-remove"])
def test_directions_that_differ_make_it_an_upper_bound(adjacency):
    noise = MatrixGaussian(row_std=STEEP, column_std=MILD[::-1])
    query = gram(adjacency)
    bounds, worst = noise.profile(query), worst_of_pairs(noise, adjacency)
    assert bounds.above.mu > 1.04 * worst > 1.04 * bounds.below.mu
    assert "different directions" in noise.slack(query)


def test_the_typed_l2_sensitivity_counts_where_it_is_smaller_only():
    root = math.sqrt(2) * BOUND**2
    assert gram("replace").reach == pytest.approx(root, rel=1e-15)
    assert gram("add-remove").reach == pytest.approx(BOUND**2, rel=1e-15)
    assert gram("local").reach == 2 * BOUND**2
    assert gram("replace", l2_sensitivity=1.0).reach == 1.0
    assert gram("replace", shape=(1, 1)).reach == pytest.approx(BOUND**2, rel=1e-15)
    cut = MatrixGaussian(row_std=STEEP, column_std=STEEP)
    assert "excludes" in cut.slack(gram("replace", l2_sensitivity=1.0))


def test_a_box_that_cuts_off_the_worst_record_is_slack():
    box = gram("replace", l2_sensitivity=BOUND**2, linf_sensitivity=0.5 * BOUND**2)
    spherical = Spherical(shape=(3, 3), radial_shape=1.0, power=2.0, scale=1.0)
    matrix = MatrixGaussian(row_std=STEEP, column_std=STEEP)
    for noise in (IndependentGaussian(shape=(3, 3), sigma=1.0), spherical, matrix):
        assert "excludes the worst pair of records" in noise.slack(box)
        assert noise.slack(gram("replace", linf_sensitivity=BOUND**2)) is None


def test_laplace_noise_on_a_gram_matrix_is_an_upper_bound():
    query = gram("replace", l1_sensitivity=10.0)
    noise = IndependentLaplace(shape=(3, 3), scale=1.0)
    assert "Gram" in noise.slack(query)
    assert not noise.profile(query).attains_largest_loss  # three is odd


@pytest.mark.parametrize("key", ["gaussian-analytic", "mvg", "l2"])
def test_equal_true_privacy_is_the_same_whatever_l2_sensitivity_is_typed(key):
    budget, stated = Budget(epsilon=1.0, delta=1 / 2021), record_covariance(4, 2021)
    assert stated.l2_sensitivity == pytest.approx(math.sqrt(2) * stated.reach, rel=1e-12)
    losses = [
        get_mechanism(key).calibrate(query, budget, "exact").expected_loss()
        for query in (
            stated,
            replace(stated, l1_sensitivity=4 * stated.reach, l2_sensitivity=stated.reach),
        )
    ]
    assert losses[0] == pytest.approx(losses[1], rel=1e-9)


@pytest.mark.parametrize(
    ("stated", "known"),
    [
        ({"l1_sensitivity": 1.0}, True),
        ({"l1_sensitivity": 1.0, "linf_sensitivity": 1.0}, True),
        ({"l1_sensitivity": 2.0, "linf_sensitivity": 0.5}, False),
        ({"l2_sensitivity": 1.4142, "l1_sensitivity": 2.0, "adjacency": "replace"}, False),
        ({"l2_sensitivity": 1.4142, "adjacency": "replace", **HISTOGRAM}, True),
        (HISTOGRAM, True),
        ({}, True),
        ({"l1_sensitivity": math.sqrt(8)}, True),
        ({"l1_sensitivity": 2.0}, False),
        ({"linf_sensitivity": 1.0}, True),
        ({"element_range": (0.0, 0.36)}, False),
    ],
)
def test_strategies_say_where_neighbours_are_not_used_in_full(stated, known):
    query = Query(**{"shape": (8,), "l2_sensitivity": 1.0} | stated)
    strategy = optimal_strategy(Prefix(8).gram())
    assert sensitivity_bounds(query, (strategy,)).exact == known


def test_a_strategy_under_a_small_box_is_not_refuted():
    query = Query(shape=(8,), l2_sensitivity=1.0, element_range=(0.0, 0.36))
    budget = Budget(epsilon=20.0, delta=1e-5)
    mechanism = get_mechanism("matrix-mechanism").calibrate(query, budget, workload="prefix")
    assert "l2 ball" in mechanism.slack()
    assert mechanism.profile().below.mu < mechanism.profile().above.mu
    assert verify(mechanism).true_delta.lower < verify(mechanism).true_delta.value
