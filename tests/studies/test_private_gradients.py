"""Private gradients: budgets by Theorem 3.4 and amplification, calibrations, rows."""

import math

import pytest
from one_case import case_of, checked, measured, number, setup_of, variant

from learning.training.clipping import Clipping
from learning.training.step_noise import AmplifiedShares, amplified, step_mechanism
from mechanisms import (
    Budget,
    Unsupported,
)
from mechanisms.privacy.sampling import kairouz
from mechanisms.privacy.sampling.poisson_sampling import gaussian_epsilon

SETTINGS = {
    "datasets": ["digits"],
    "mechanisms": ["gaussian"],
    "epsilons": [1.0],
    "delta": 1e-5,
    "lots": {"digits": 30},
    "epochs": {"digits": 2},
    "learning_rates": {"digits": 0.5},
    "records": {"digits": 150},
    "trials": 2,
}
TOTAL = Budget(epsilon=1.0, delta=1e-5)
SCHEDULE = AmplifiedShares(rate=0.2, steps=10)
QUERY = Clipping(bound=1.0).query(2410, 30)


def settings_of(**changes):
    return checked("gradients", SETTINGS | changes)


def measure(mechanism, calibration="published", folder=None, **changes):
    setup = setup_of("gradients", "digits", settings_of(**changes))
    return measured(case_of(setup, mechanism, calibration, folder))


def step(key, calibration):
    own = variant(key)
    return step_mechanism(own.mechanism, own.calibrate, QUERY, TOTAL, SCHEDULE, calibration)


def test_a_step_s_budget_composes_to_the_total():
    step = SCHEDULE.step_budget(TOTAL)
    # Ten of these shares compose to the total: tests/mechanisms/privacy/sampling/test_kairouz.py.
    share = kairouz.share(TOTAL, 10)
    assert step.epsilon * 0.2 == pytest.approx(share.epsilon, rel=1e-12)
    assert step.delta * 0.2 == pytest.approx(share.delta, rel=1e-12)


def test_amplification_stops_where_delta_reaches_one():
    assert amplified(TOTAL, 0.5) == Budget(epsilon=2.0, delta=2e-5)
    with pytest.raises(Unsupported, match="over the sampling rate 1e-05 is at least 1"):
        amplified(TOTAL, 1e-5)


def test_the_classic_gaussian_has_the_step_budget_and_the_accountant_the_total():
    share = SCHEDULE.step_budget(TOTAL)
    classic = step("gaussian", "published")
    assert classic.noise.sigma == pytest.approx(
        math.sqrt(2 * math.log(1.25 / share.delta)) / share.epsilon
    )
    accountant = step("moments-accountant", "published")
    epsilon = gaussian_epsilon(accountant.noise.sigma, 0.2, 10, 1e-5)
    assert epsilon == pytest.approx(1.0, rel=1e-8)


def test_the_matrix_mechanism_is_the_classic_gaussian_and_imgm_the_analytic_one():
    for first, second in (("matrix-mechanism", "gaussian"), ("imgm", "gaussian-analytic")):
        sigmas = [step(key, "published").noise.sigma for key in (first, second)]
        assert sigmas[0] == pytest.approx(sigmas[1], rel=1e-12)


def test_rows_of_a_point():
    values = measure("moments-accountant")
    assert number(values, "records") == 150 and number(values, "steps") == 10
    assert number(values, "sampling_rate") == 0.2
    assert 0.8 < number(values, "true_epsilon_upper") < 1
    finals = [v for v in values if v.metric == "final_test_accuracy"]
    assert [v.trial for v in finals] == [0, 1] and all(0 <= v.value <= 1 for v in finals)


def test_the_published_shares_leave_room():
    """Theorem 3.4 uses only (epsilon, delta), so IMGM spends a fraction of its budget."""
    assert number(measure("imgm"), "true_epsilon_upper") < 0.5
