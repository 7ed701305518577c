"""Sensitivities under participation against all patterns of one person at small n."""

import itertools

import numpy as np
import pytest
from scipy import linalg

from mechanisms.strategies.streams.participation import (
    Participation,
    gram_sensitivity,
    largest_apart,
    toeplitz_sensitivity,
)

STEPS = 9
PATTERNS = [(1, 1), (2, 1), (3, 1), (2, 3), (3, 4), (9, 1), (4, 2)]


def brute_force(matrix, times, separation):
    """The largest ||C D|| over all patterns and signs: scalars, each step moved by +-1."""
    largest = 0.0
    for count in range(1, times + 1):
        for steps in itertools.combinations(range(matrix.shape[1]), count):
            if any(late - early < separation for early, late in itertools.pairwise(steps)):
                continue
            signs = np.array(list(itertools.product((1.0, -1.0), repeat=count - 1)))
            signs = np.hstack([np.ones((len(signs), 1)), signs.reshape(len(signs), count - 1)])
            moved = matrix[:, steps] @ signs.T
            largest = max(largest, np.linalg.norm(moved, axis=0).max())
    return largest


def dense(column):
    return linalg.toeplitz(column, np.zeros(len(column)))


@pytest.mark.parametrize(("times", "separation"), PATTERNS)
def test_nonincreasing_coefficients_are_exact(times, separation):
    column = np.sort(np.random.default_rng(times).random(STEPS))[::-1]
    participation = Participation(times=times, separation=separation)
    found = toeplitz_sensitivity(column, participation)
    assert found.exact
    assert found.upper == pytest.approx(brute_force(dense(column), times, separation), rel=1e-12)


@pytest.mark.parametrize(("times", "separation"), [(2, 3), (3, 3), (2, 5), (1, 1)])
def test_few_bands_of_any_sign_are_exact(times, separation):
    column = np.zeros(STEPS)
    column[:separation] = np.random.default_rng(separation).standard_normal(separation)
    found = toeplitz_sensitivity(column, Participation(times=times, separation=separation))
    assert found.exact
    assert found.upper == pytest.approx(brute_force(dense(column), times, separation), rel=1e-12)


@pytest.mark.parametrize(("times", "separation"), PATTERNS)
@pytest.mark.parametrize("seed", range(4))
def test_other_coefficients_lie_between_the_bounds(times, separation, seed):
    column = np.random.default_rng(seed).standard_normal(STEPS)
    found = toeplitz_sensitivity(column, Participation(times=times, separation=separation))
    truth = brute_force(dense(column), times, separation)
    assert found.lower <= truth * (1 + 1e-12)
    assert found.upper >= truth * (1 - 1e-12)


@pytest.mark.parametrize(("times", "separation"), PATTERNS)
@pytest.mark.parametrize("seed", range(4))
def test_any_strategy_lies_between_the_bounds(times, separation, seed):
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((12, STEPS)) if seed % 2 else rng.random((12, STEPS))
    participation = Participation(times=times, separation=separation)
    found = gram_sensitivity(matrix.T @ matrix, participation)
    truth = brute_force(matrix, times, separation)
    assert found.lower <= truth * (1 + 1e-12)
    assert found.upper >= truth * (1 - 1e-12)
    if times == 1:
        assert found.exact


def test_the_largest_sum_of_separated_weights():
    weights = np.random.default_rng(5).random((3, STEPS))
    for times, separation in PATTERNS:
        patterns = [
            steps
            for count in range(1, times + 1)
            for steps in itertools.combinations(range(STEPS), count)
            if all(b - a >= separation for a, b in itertools.pairwise(steps))
        ]
        expected = [max(row[list(steps)].sum() for steps in patterns) for row in weights]
        assert largest_apart(weights, times, separation) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("name", ["times", "separation"])
def test_numbers_below_one_are_refused(name):
    with pytest.raises(ValueError, match=f"{name} must be at least 1, got 0"):
        Participation(**{name: 0})
