"""Workloads, square roots, BISR and the tree against dense matrices and known coefficients."""

import math

import numpy as np
import pytest
from scipy import linalg

from mechanisms.strategies.streams.closed_forms import (
    banded_inverse_root,
    binary_tree,
    identity,
    square_root,
)
from mechanisms.strategies.streams.factorisation import DenseFactorisation
from mechanisms.strategies.streams.participation import Participation
from mechanisms.strategies.streams.stream_workload import StreamWorkload

ONCE = Participation()
WORKLOADS = [
    StreamWorkload(steps=24),
    StreamWorkload(steps=24, decay=0.97),
    StreamWorkload(steps=24, momentum=0.9),
    StreamWorkload(steps=24, decay=0.99, momentum=0.5),
]


def dense(column):
    return linalg.toeplitz(column, np.zeros(len(column)))


@pytest.mark.parametrize("workload", WORKLOADS)
def test_the_workload_is_what_sgd_does(workload):
    """theta <- decay theta - m, m <- momentum m + g, started at zero; A g is minus theta."""
    gradients = np.random.default_rng(0).standard_normal(workload.steps)
    theta = velocity = 0.0
    iterates = []
    for gradient in gradients:
        velocity = workload.momentum * velocity + gradient
        theta = workload.decay * theta - velocity
        iterates.append(-theta)
    assert workload.applied(gradients) == pytest.approx(iterates, rel=1e-12)
    assert dense(workload.coefficients()) @ gradients == pytest.approx(iterates, rel=1e-12)
    assert workload.gram() == pytest.approx(
        dense(workload.coefficients()).T @ dense(workload.coefficients()), rel=1e-12
    )


@pytest.mark.parametrize("workload", WORKLOADS)
def test_the_square_root_times_itself_is_the_workload(workload):
    root = dense(workload.root())
    assert root @ root == pytest.approx(dense(workload.coefficients()), abs=1e-12)
    assert root @ dense(workload.inverse_root()) == pytest.approx(np.eye(24), abs=1e-13)


def test_the_coefficients_of_prefix_sums():
    workload = StreamWorkload(steps=4096)
    central = [math.comb(2 * k, k) / 4**k for k in (0, 1, 2, 10, 500)]
    assert workload.root()[[0, 1, 2, 10, 500]] == pytest.approx(central, rel=1e-12)
    stated = [1, -1 / 2, -1 / 8, -1 / 16, -5 / 128]
    assert workload.inverse_root()[:5] == pytest.approx(stated, rel=1e-14)


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize(
    "made",
    [
        identity,
        square_root,
        lambda workload: banded_inverse_root(workload, 3),
        binary_tree,
    ],
)
def test_errors_and_noise_are_those_of_dense_matrices(workload, made):
    found = made(workload)
    size = workload.steps
    matrix = found.lower if isinstance(found, DenseFactorisation) else dense(found.column)
    assert np.array_equal(matrix, np.tril(matrix))
    left = dense(workload.coefficients()) @ np.linalg.inv(matrix)
    assert found.variances(workload) == pytest.approx(np.sum(left**2, axis=1), rel=1e-10)
    draws = np.random.default_rng(1).standard_normal((2, 3, size))
    noise = found.correlated(draws)
    assert noise @ matrix.T == pytest.approx(draws, abs=1e-10)
    assert found.correlated(draws.astype(np.float32)) == pytest.approx(noise, abs=1e-4)
    covariance = np.linalg.inv(matrix.T @ matrix)
    assert found.covariance() == pytest.approx(covariance, abs=1e-9)
    powers = [np.trace(np.linalg.matrix_power(covariance, k)) for k in (1, 2, 3, 4)]
    assert found.power_traces == pytest.approx(powers, rel=1e-9)
    square = np.sum(matrix**2, axis=0).max()
    error = found.error(workload, ONCE)
    assert error.mean == pytest.approx(square * np.mean(left**2) * size, rel=1e-10)
    assert error.maximal == pytest.approx(square * np.sum(left**2, axis=1).max(), rel=1e-10)


def test_the_error_of_the_square_root_grows_as_published():
    """ln(n)/pi + 1 + (gamma + ln 16 - pi) / pi is the square of its columns as n grows."""
    for steps in (256, 4096):
        found = square_root(StreamWorkload(steps=steps))
        limit = 1 + (math.log(steps) + np.euler_gamma + math.log(16) - math.pi) / math.pi
        assert found.sensitivity(ONCE).upper ** 2 == pytest.approx(limit, abs=1 / steps)
        error = found.error(StreamWorkload(steps=steps), ONCE)
        assert error.maximal == pytest.approx(limit**2, abs=5 / steps)


@pytest.mark.parametrize("steps", [1, 2, 5, 8, 24])
def test_the_tree_is_that_of_all_its_nodes(steps):
    workload = StreamWorkload(steps=steps)
    size = 1 << (steps - 1).bit_length()
    nodes = [
        np.arange(size) // width == place
        for width in (1 << level for level in range(size.bit_length()))
        for place in range(size // width)
    ]
    matrix = np.array(nodes, float)[:, :steps]
    found = binary_tree(workload)
    assert found.gram == pytest.approx(matrix.T @ matrix)
    # Least squares from all nodes: the rows of A C^+.
    left = np.tri(steps) @ np.linalg.pinv(matrix)
    assert found.variances(workload) == pytest.approx(np.sum(left**2, axis=1), rel=1e-10)
    assert found.sensitivity(ONCE).upper ** 2 == pytest.approx(size.bit_length())


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"steps": 0}, "steps must be at least 1"),
        ({"decay": 1.5}, "0 < decay <= 1, got 1.5"),
        ({"momentum": 1.0}, "0 <= momentum < decay = 1.0, got 1.0"),
    ],
)
def test_workloads_that_do_not_exist_are_refused(changed, words):
    with pytest.raises(ValueError, match=words):
        StreamWorkload(**({"steps": 4} | changed))
