"""Verdicts in closed form: bounds that no noise can beat, and numbers known from elsewhere."""

import math

import numpy as np
import pytest
import scipy

from claims.judged_rows import calibrated
from claims.verdicts import CONFIRMED, CONTRADICTED, DEPENDS
from mechanisms import Budget, Query, get_mechanism
from mechanisms.privacy.sampling.poisson_sampling import step_budget
from paper_figures.r1smg2024 import mvg_remarks
from paper_figures.r1smg2024.dpsgd_budgets import (
    amplified_step,
    looser_composition,
    one_step,
    split_over_steps,
)
from paper_figures.r1smg2024.mvg_remarks import (
    decomposition_bound,
    gamma_removed,
    more_noise,
    symmetric_norm,
)
from paper_figures.r1smg2024.one_direction import (
    least_variance,
    noise_along_one_direction,
    one_coefficient,
    required_noise,
)
from paper_figures.r1smg2024.pickup_sensitivity import (
    largest_squared_change,
    removed,
    replaced,
    squared_sensitivity,
)
from paper_figures.r1smg2024.theorems import lower_order, null_space

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
        (60_000, 30, BUDGETS, [CONFIRMED] * 4),
        (60_000, 100, [[2.673, 1.1, 0.54], [20.713, 0.5, 3.52]], [CONTRADICTED] * 4),
        (50_000, 100, [[2.673, 1.1, 0.54], [20.713, 0.5, 3.52]], [CONTRADICTED] * 4),
    ],
)
def test_step_budgets_and_their_epochs(records, epochs, budgets, expected, make_claim):
    arguments = {"batch": 256, "delta": 1e-5, "slack": 1e-10, "digit": 0.01}
    claim = make_claim(5e-3, records=[records], epochs=epochs, budgets=budgets, **arguments)
    assert [part.verdict for part in split_over_steps(claim, None).parts] == expected


@pytest.mark.parametrize("slack", [1e-12, 1e-7])
def test_step_budgets_find_the_delta_prime_that_they_were_made_with(slack, make_claim):
    rate = 256 / 50_000
    budgets = [
        [total, 1.0, round(step_budget(total, 1e-5, rate, 100, slack)[0], 2)]
        for total in (2.673, 20.713)
    ]
    arguments = {"batch": 256, "delta": 1e-5, "slack": 1e-10, "digit": 0.01}
    claim = make_claim(5e-3, records=[50_000], epochs=100, budgets=budgets, **arguments)
    *_, one = split_over_steps(claim, None).parts
    assert one.name.startswith("one delta'") and one.verdict == CONFIRMED


def test_orders_of_corollary_1(make_claim):
    others = ["gaussian", "gaussian-analytic", "mvg"]
    claim = make_claim(0.01, sides=[10, 100, 1000, 10_000], setting=FIGURE_9, others=others)
    found = lower_order(claim, None)
    assert [part.verdict for part in found.parts] == [CONFIRMED] * 5 + [CONTRADICTED]
    # C_M/(MN) over C_R at 10 x 10, with the sums written out.
    roots = sum(i**-0.5 for i in range(1, 11))
    whole = sum(1 / i for i in range(1, 11))
    log_ratio = math.lgamma(50) - math.lgamma(49.5) + math.log(math.sqrt(math.pi) / 1e-10)
    c_r = 2 * math.exp(2 / 98 * log_ratio)
    assert (1.25 * whole + 0.25 * roots) / 2 / c_r == pytest.approx(0.730, abs=5e-4)
    assert "C_M/(MN) over C_R at these M: 0.73, 2.77, 6.2 and 15.5" in found.detail


def test_the_noise_of_a_symmetric_matrix_is_smaller_by_a_root_of_two():
    noise = np.random.default_rng(0).standard_normal((800, 800))
    plain, symmetric = (np.linalg.norm(n, 2) for n in (noise, (noise + noise.T) / 2))
    assert symmetric == pytest.approx(symmetric_norm(1.0, 800), rel=0.02)
    assert symmetric == pytest.approx(plain / math.sqrt(2), rel=0.02)


def test_mvg_has_more_noise_than_the_analytic_gaussian(make_claim, monkeypatch):
    claim = make_claim(sides=[10, 100], epsilons=[1e-7, 1e-9], delta=1e-10)
    assert more_noise(claim, None).verdict == CONFIRMED
    # Noise as large as that of the analytic Gaussian is not more.
    monkeypatch.setattr(
        mvg_remarks,
        "calibrated",
        lambda key, query, budget, **options: calibrated("gaussian-analytic", query, budget),
    )
    assert more_noise(claim, None).verdict == CONTRADICTED


def test_sensitivity_of_a_histogram_depends_on_the_neighbours(make_claim):
    found = squared_sensitivity(make_claim(1e-9, cells=3, pickups=2, stated=2.0), None)
    assert [outcome.verdict for outcome in found.outcomes] == [CONFIRMED, CONTRADICTED]
    assert found.verdict == DEPENDS
    sizes = [(cells, pickups) for cells in (2, 4) for pickups in (1, 3)]
    assert {largest_squared_change(replaced, *size) for size in sizes} == {2.0}
    assert {largest_squared_change(removed, *size) for size in sizes} == {1.0}


def test_what_the_paper_says_of_mvg(make_claim):
    bound = decomposition_bound(make_claim(0.05, setting="r1smg2024-pca-1.6", stated=0.011), None)
    assert bound.verdict == CONTRADICTED
    assert "2.29e-17" in bound.numbers
    claim = make_claim(1e-9, setting="r1smg2024-count-0.5", side=4, draws=20, gammas=[1.5, 1e4])
    assert gamma_removed(claim, None).verdict == CONFIRMED
