"""Verdicts in closed form: bounds that no noise can beat, and numbers known from elsewhere."""

import math

import numpy as np
import pytest
import scipy

from mechanisms import Budget, Query, get_mechanism
from paper_figures.r1smg2024.dpsgd_budgets import (
    amplified_step,
    looser_composition,
    one_step,
    split_over_steps,
)
from paper_figures.r1smg2024.mvg_remarks import decomposition_bound, gamma_removed
from paper_figures.r1smg2024.one_direction import (
    least_variance,
    noise_along_one_direction,
    one_coefficient,
    required_noise,
)
from paper_figures.r1smg2024.theorems import null_space
from paper_figures.verdicts import CONFIRMED, CONTRADICTED, DEPENDS

RATE = 256 / 60_000
FIGURE_9 = "r1smg2024-figure9-100"
# Total epsilon, noise multiplier, epsilon_0.
BUDGETS = [[1.795, 1.1, 0.71], [16.983, 0.5, 5.42]]


@pytest.mark.parametrize(("epsilon", "delta"), [(1e-5, 1e-7), (0.1, 1e-6), (1.0, 1e-5), (3.0, 0.1)])
@pytest.mark.parametrize("key", ["gaussian-analytic", "laplace"])
def test_no_private_noise_has_less_than_the_least_variance(key, epsilon, delta):
    budget = Budget(epsilon=epsilon, delta=delta)
    query = Query(shape=(1,), l2_sensitivity=1.0, l1_sensitivity=1.0)
    spent = get_mechanism(key).calibrate(query, budget, "exact").expected_loss()
    assert 0 < least_variance(budget) <= spent


def test_required_noise_grows_where_neighbours_differ_in_every_direction(make_claim):
    found = required_noise(make_claim(setting=FIGURE_9, sizes=[100, 1_000_000]), None)
    assert [outcome.verdict for outcome in found.outcomes] == [CONTRADICTED, CONFIRMED]
    assert found.verdict == DEPENDS
    # The bound is not tight: it says nothing about sizes that are close to each other.
    near = required_noise(make_claim(setting=FIGURE_9, sizes=[100, 200]), None)
    assert near.verdict == CONFIRMED


@pytest.mark.parametrize("size", [1, 3, 400])
def test_noise_along_one_direction_needs_no_more_for_more_elements(size):
    budget = Budget(epsilon=0.3, delta=1e-6)
    spent = noise_along_one_direction(size, budget)
    # Gaussian noise with this covariance, on R^M: the privacy is that of the distance between two
    # answers in its norm, and differences along the direction are in its range.
    direction = np.ones(size) / math.sqrt(size)
    covariance = spent * np.outer(direction, direction)
    distance = math.sqrt(direction @ np.linalg.pinv(covariance, rcond=1e-9) @ direction)
    phi = scipy.stats.norm.cdf
    shift = budget.epsilon / distance
    delta = phi(distance / 2 - shift) - math.exp(budget.epsilon) * phi(-distance / 2 - shift)
    assert delta == pytest.approx(budget.delta, rel=1e-6)
    assert spent == pytest.approx(noise_along_one_direction(2, budget))
    # All noise that is private needs the least variance of a scalar.
    assert spent >= least_variance(budget)


def test_one_coefficient_serves_one_pair(make_claim):
    found = one_coefficient(make_claim(setting="r1smg2024-count-0.5"), None)
    assert [part.verdict for part in found.parts] == [CONFIRMED, CONTRADICTED]
    assert "delta(0.5) = 1e-07, with all directions 1e-07" in found.numbers


def test_null_space_has_probability_zero_and_the_noise_along_a_vector_its_delta(make_claim):
    found = null_space(make_claim(setting="r1smg2024-count-1e-05"), None)
    assert found.verdict == CONFIRMED
    assert "delta(1e-05) >= 0.2166" in found.numbers


def test_bounds_are_rounded_in_their_own_direction(make_claim):
    claim = make_claim(rate=RATE, budgets=BUDGETS, delta=1e-5, step_delta=3.33e-7)
    found = one_step(claim, None)
    assert found.verdict == CONTRADICTED
    # q = 0.0042667 is the least upper bound of it.
    assert "delta >= 0.00426" in found.numbers


def test_composition_is_looser_than_the_accountant(make_claim):
    budgets = [*BUDGETS, [16.983, 50.0, 5.42]]
    claim = make_claim(rate=RATE, budgets=budgets, step_delta=3.33e-7)
    verdicts = [part.verdict for part in looser_composition(claim, None).parts]
    assert verdicts == [CONFIRMED, CONFIRMED, CONTRADICTED]


def test_amplification_is_linear_for_small_steps_alone(make_claim):
    found = amplified_step(make_claim(0.1, rate=RATE, budgets=[[0.1, 9.0, 0.01], BUDGETS[1]]), None)
    assert [part.verdict for part in found.parts] == [CONFIRMED, CONTRADICTED]
    assert f"{math.log1p(RATE * math.expm1(5.42)):.4g}" in found.numbers


@pytest.mark.parametrize(
    ("records", "epochs", "budgets", "expected"),
    [
        (60_000, 30, BUDGETS, [CONFIRMED] * 3),
        (60_000, 100, [[2.673, 1.1, 0.54], [20.713, 0.5, 3.52]], [CONTRADICTED] * 3),
        (50_000, 100, [[2.673, 1.1, 0.54], [20.713, 0.5, 3.52]], [CONTRADICTED] * 3),
    ],
)
def test_step_budgets_and_their_epochs(records, epochs, budgets, expected, make_claim):
    arguments = {"batch": 256, "delta": 1e-5, "slack": 1e-10, "digit": 0.01}
    claim = make_claim(5e-3, records=[records], epochs=epochs, budgets=budgets, **arguments)
    assert [part.verdict for part in split_over_steps(claim, None).parts] == expected


def test_what_the_paper_says_of_mvg(make_claim):
    bound = decomposition_bound(make_claim(0.05, setting="r1smg2024-pca-1.6", stated=0.011), None)
    assert bound.verdict == CONTRADICTED
    assert "2.29e-17" in bound.numbers
    claim = make_claim(1e-9, setting="r1smg2024-count-0.5", side=4, draws=20, gammas=[1.5, 1e4])
    assert gamma_removed(claim, None).verdict == CONFIRMED
