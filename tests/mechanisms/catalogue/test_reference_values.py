"""Noise scales and losses against numbers from elsewhere, to five digits."""

import math

import numpy as np
import pytest
from queries import box
from scipy.special import gammaln

from mechanisms import Budget, Query, get_mechanism
from mechanisms.catalogue.mvg import precision_bound

# 89 x 89 elements with the l2 sensitivity of r1smg2024's count query. With this element range
# IDN's s_hat^2 is also 2. The l1 sensitivity is that of all elements changing at once.
UBER = Query(
    shape=(89, 89),
    l2_sensitivity=math.sqrt(2),
    l1_sensitivity=math.sqrt(2) * 89,
    element_range=(0.0, math.sqrt(2 / 89**2)),
    frobenius_bound=50_000.0,
    adjacency="replace",
)
UBER_BUDGET = Budget(epsilon=0.5, delta=1e-7)
AT_ONE = Budget(epsilon=1.0, delta=1e-5)


def unit(size):
    return Query(shape=(size,), l2_sensitivity=1.0)


@pytest.mark.parametrize(
    ("key", "query", "budget", "loss", "digits"),
    [
        ("gaussian", UBER, UBER_BUDGET, 2.07102e6, 1e-5),
        ("gaussian-analytic", UBER, UBER_BUDGET, 1.28197e6, 1e-5),
        ("imgm", UBER, UBER_BUDGET, 1.28197e6, 1e-5),
        ("udn", UBER, UBER_BUDGET, 4.8887e10, 1e-5),
        ("idn", UBER, UBER_BUDGET, 5.49297e8, 1e-5),
        # The sigma of Balle and Wang.
        ("gaussian-analytic", unit(5), AT_ONE, 5 * 3.73063163481594**2, 1e-12),
        ("r1smg", UBER, Budget(epsilon=1e-5, delta=1e-7), 4.02110e5, 1e-5),
        ("r1smg", unit(4), AT_ONE, 4.0e5, 2e-4),
        ("r1smg", unit(16), AT_ONE, 12.95, 2e-4),
        ("r1smg", unit(64), AT_ONE, 3.122, 2e-4),
        # It tends to 2 / epsilon.
        ("r1smg", unit(10**8), Budget(epsilon=1e-10, delta=1e-10), 2e10, 1e-6),
    ],
)
def test_expected_loss(key, query, budget, loss, digits):
    mechanism = get_mechanism(key).calibrate(query, budget)
    assert mechanism.expected_loss() == pytest.approx(loss, rel=digits)
    if key == "r1smg":
        assert mechanism.parameters()["sigma_star"] == pytest.approx(loss, rel=digits)


@pytest.mark.parametrize("size", [1, 3, 16, 1000, 10**6])
def test_gaussian_kurtosis_is_a_ratio_of_gamma_functions(size):
    loss = get_mechanism("gaussian").calibrate(unit(size), UBER_BUDGET).loss()
    log_kurtosis = gammaln(4 + size / 2) + gammaln(size / 2) - 2 * gammaln(2 + size / 2)
    # The reference subtracts numbers near 1e7, so it is accurate only to 1e-8.
    assert loss.raw_kurtosis == pytest.approx(math.exp(log_kurtosis), rel=1e-8)
    assert loss.central_kurtosis == pytest.approx(3 + 12 / size, rel=1e-12)
    assert loss.central_skewness == pytest.approx(math.sqrt(8 / size), rel=1e-12)


@pytest.mark.parametrize(("key", "loss"), [("r1smg", 3.03e10), ("gaussian-analytic", 223)])
def test_expected_loss_of_exact_noise(key, loss):
    mechanism = get_mechanism(key).calibrate(unit(16), AT_ONE, "exact")
    assert mechanism.expected_loss() == pytest.approx(loss, rel=2e-3)


def test_r1smg_kurtosis_and_skewness_match_theorems_8_and_9():
    loss = get_mechanism("r1smg").calibrate(unit(50), Budget(epsilon=1e-3, delta=1e-6)).loss()
    assert loss.raw_kurtosis == pytest.approx(35 / 3, rel=1e-12)
    assert loss.raw_skewness == pytest.approx(5 * math.sqrt(3) / 3, rel=1e-12)


@pytest.mark.parametrize(
    ("shape", "mode", "zeta"), [((4, 9), "unimodal", "published"), ((4, 4), "equimodal", "sqrt")]
)
def test_mvg_theorem_3_is_met_with_equality(shape, mode, zeta):
    query = box(*shape)
    options = {"mode": mode, "zeta": zeta, "precision": [0.7, 0.1, 0.1, 0.1]}
    noise = get_mechanism("mvg").calibrate(query, UBER_BUDGET, **options).noise
    left = np.linalg.norm(noise.row_std**-2) * np.linalg.norm(noise.column_std**-2)
    assert left == pytest.approx(precision_bound(query, UBER_BUDGET, zeta), rel=1e-12)


def test_mgm_noise_is_n_times_larger_than_udn_and_udn_m_times_than_idn():
    """mgm2021 Sections 5.1 and 5.2, at identity workloads and one common sensitivity."""
    query = Query(
        shape=(7, 11),
        l2_sensitivity=2 * math.sqrt(77),
        element_range=(-1.0, 1.0),
        adjacency="local",
    )
    budget = Budget(epsilon=1, delta=1e-5)
    mgm, udn, idn = (
        get_mechanism(key).calibrate(query, budget).expected_loss() for key in ("mgm", "udn", "idn")
    )
    assert mgm / udn == pytest.approx(11, rel=1e-12)
    assert udn / idn == pytest.approx(7, rel=1e-12)


def test_imgm_composition_multiplies_the_noise_by_sqrt_t():
    once, nine = (
        get_mechanism("imgm").calibrate(UBER, UBER_BUDGET, compositions=times) for times in (1, 9)
    )
    assert nine.noise.sigma == pytest.approx(3 * once.noise.sigma, rel=1e-14)


def test_the_moments_accountant_is_that_of_dp_sgd():
    """r1smg2024 Section 7.3: multiplier 1.1, q = 256/60000 and 30 epochs give epsilon 1.795."""
    # Under "replace", the profile on samples that is known for "add-remove" would be too small.
    query = Query(shape=(3, 3), l2_sensitivity=1.0, adjacency="replace")
    budget = Budget(epsilon=1.795, delta=1e-5)
    options = {"rate": 256 / 60_000, "steps": 30 * 60_000 // 256}
    found = get_mechanism("moments-accountant").calibrate(query, budget, **options)
    assert found.noise.sigma == pytest.approx(1.1, rel=2e-3)
    assert found.profile() is None
    # Without sampling the true profile of all releases is known; Renyi DP bounds it from above.
    whole = get_mechanism("moments-accountant").calibrate(query, budget, steps=25)
    assert 1e-6 < whole.profile().delta(1.795).value < 1e-5
    assert whole.profile().mu == pytest.approx(5 / whole.noise.sigma)
