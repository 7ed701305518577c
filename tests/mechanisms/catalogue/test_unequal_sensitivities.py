"""Noise for unequal sensitivities against optimisers, enumeration and other profiles."""

import itertools
import math

import numpy as np
import pytest
from scipy import optimize

from mechanisms import Budget, Query, Unsupported, get_mechanism, verify
from mechanisms.privacy.gaussian_profile import GaussianProfile, mu_for
from mechanisms.privacy.laplace_profile import IndependentLaplaceProfile, LaplaceProfile
from mechanisms.privacy.unequal_releases import UnequalReleasesProfile
from mechanisms.strategies.workload import Prefix

CHANGES = np.array([1.0, 0.5, 0.5, 0.1])
BUDGET = Budget(epsilon=1.0, delta=1e-5)


def box(changes):
    changes = np.asarray(changes)
    return Query(
        shape=changes.shape,
        l2_sensitivity=float(np.linalg.norm(changes)),
        l1_sensitivity=float(changes.sum()),
        linf_sensitivity=float(changes.max()),
    )


def calibrated(key, changes=CHANGES, calibration="published", query=None, budget=BUDGET):
    return get_mechanism(key).calibrate(
        query or box(changes), budget, calibration, sensitivities=changes
    )


def test_no_other_variances_are_better():
    mu = float(mu_for(1.0, 1e-5))
    # Least sum of 1 / x with sum lambda^2 x <= mu^2.
    found = optimize.minimize(
        lambda x: np.sum(np.exp(-x)),
        np.zeros(4),
        constraints={"type": "ineq", "fun": lambda x: mu**2 - CHANGES**2 @ np.exp(x)},
    )
    mechanism = calibrated("inid-gaussian")
    assert mechanism.expected_loss() == pytest.approx(found.fun, rel=1e-5)
    assert mechanism.expected_loss() == pytest.approx((CHANGES.sum() / mu) ** 2)
    assert mechanism.profile().mu == pytest.approx(mu)


def test_no_other_laplace_scales_are_better():
    found = optimize.minimize(
        lambda x: 2 * np.sum(np.exp(-2 * x)),
        np.full(4, -1.0),
        constraints={"type": "ineq", "fun": lambda x: 1.0 - CHANGES @ np.exp(x)},
    )
    mechanism = calibrated("inid-laplace")
    assert mechanism.expected_loss() == pytest.approx(found.fun, rel=1e-5)
    assert mechanism.profile().largest_loss == pytest.approx(1.0)


@pytest.mark.parametrize("key", ["inid-gaussian", "inid-laplace"])
def test_the_claim_holds_and_the_exact_calibration_meets_delta(key):
    assert verify(calibrated(key), samples=20_000).verdict == "holds"
    exact = verify(calibrated(key, calibration="exact"), samples=20_000)
    assert exact.verdict == "holds"
    assert exact.true_delta.value == pytest.approx(1e-5, rel=1e-3)
    assert exact.expected_loss <= calibrated(key).expected_loss() * (1 + 1e-9)


def test_equal_sensitivities_give_the_noise_of_other_mechanisms():
    query = box(np.full(5, 0.3))
    for key, other in (("inid-gaussian", "gaussian-analytic"), ("inid-laplace", "laplace")):
        one, two = (get_mechanism(k).calibrate(query, BUDGET) for k in (key, other))
        assert one.loss().cumulants == pytest.approx(two.loss().cumulants)
        assert one.profile().delta(0.5).value == pytest.approx(
            two.profile().delta(0.5).value, rel=1e-6
        )


@pytest.mark.parametrize("l2", [0.3, 1.0, 1.1, 5.0])
def test_the_worst_change_within_an_l2_ball(l2):
    query = Query(shape=(4,), l2_sensitivity=l2)
    noise = calibrated("inid-gaussian", query=query).noise
    # A linear programme in D_i^2.
    found = optimize.linprog(
        -1 / noise.scales**2,
        A_ub=np.ones((1, 4)),
        b_ub=[l2**2],
        bounds=[(0, change**2) for change in CHANGES],
    )
    assert noise.profile(query).mu == pytest.approx(math.sqrt(-found.fun), rel=1e-9)
    assert noise.slack(query) is None


def test_sensitivities_that_exclude_the_worst_pair_are_named():
    query = Query(shape=(4,), l2_sensitivity=0.5)
    assert "exclude" in calibrated("inid-laplace", query=query).slack()
    query = Query(shape=(4,), l2_sensitivity=1.0, l1_sensitivity=1.0)
    assert "exclude" in calibrated("inid-gaussian", query=query).slack()


def exact_delta(taus, epsilon):
    """delta of unequal Laplace losses, by quadrature over all but the last component.

    The last loss is integrated in closed form; the others are their atoms and Gauss-Legendre nodes.
    """
    nodes, weights = np.polynomial.legendre.leggauss(60)
    laws = []
    for tau in taus[:-1]:
        inside = tau * nodes
        laws.append(
            (
                np.r_[tau, -tau, inside],
                np.r_[0.5, np.exp(-tau) / 2, tau * weights * np.exp((inside - tau) / 2) / 4],
            )
        )
    total = 0.0
    for points in itertools.product(*(zip(*law, strict=True) for law in laws)):
        loss, mass = sum(p[0] for p in points), math.prod(p[1] for p in points)
        left, tau = epsilon - loss, taus[-1]
        # E (1 - e^(left - L))_+ for one Laplace loss, for left of either sign.
        inner = -math.expm1((abs(left) - tau) / 2) if abs(left) < tau else 0.0
        total += mass * (inner if left >= 0 else 1 - math.exp(left) * (1 - inner))
    return total


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.5])
def test_unequal_laplace_losses_against_quadrature(epsilon):
    taus = (0.7, 0.4, 1.1)
    parts = tuple((LaplaceProfile(l1_sensitivity=tau, scale=1.0), 1) for tau in taus)
    bounds = UnequalReleasesProfile(parts=parts).delta(epsilon)
    # The integrand has a kink, hence the quadrature's error.
    expected = exact_delta(taus, epsilon)
    assert bounds.value == pytest.approx(expected, rel=2e-4)
    assert bounds.lower <= expected * (1 + 2e-4)
    assert bounds.upper >= expected * (1 - 2e-4)


def test_equal_releases_agree_with_the_profile_of_equal_releases():
    single = LaplaceProfile(l1_sensitivity=0.2, scale=1.0)
    for times, epsilon in ((2, 0.1), (30, 1.0), (30, 3.0)):
        exact = IndependentLaplaceProfile(components=times, width=0.2, scale=1.0).delta(epsilon)
        bounds = UnequalReleasesProfile(parts=((single, times // 2), (single, times // 2))).delta(
            epsilon
        )
        assert bounds.value == pytest.approx(exact.value, rel=1e-6)
        assert bounds.lower <= exact.upper
        assert exact.lower <= bounds.upper


def test_gaussian_releases_compose_to_a_gaussian_one():
    parts = ((GaussianProfile(mu=0.3), 4), (GaussianProfile(mu=0.8), 1))
    bounds = UnequalReleasesProfile(parts=parts).delta(1.0)
    exact = GaussianProfile(mu=1.0).delta(1.0).value
    assert bounds.value == pytest.approx(exact, rel=1e-5)
    assert bounds.lower <= exact <= bounds.upper


def test_moments_and_workload_variance_by_sampling():
    mechanism = calibrated("inid-laplace")
    draws = mechanism.sample(np.random.default_rng(0), 100_000)
    assert draws.var(axis=0) == pytest.approx(2 * mechanism.noise.scales**2, rel=0.05)
    assert np.vecdot(draws, draws).var() == pytest.approx(mechanism.loss().variance, rel=0.1)
    prefix = Prefix(4)
    expected = np.sum(prefix.matrix() ** 2 @ (2 * mechanism.noise.scales**2))
    assert mechanism.noise.workload_variance((prefix,)) == pytest.approx(expected)


@pytest.mark.parametrize("key", ["inid-laplace", "inid-gaussian"])
def test_an_element_moves_by_no_more_than_the_query_says(key):
    with pytest.raises(ValueError, match="at most linf_sensitivity = 1, got 5"):
        calibrated(key, [1.0, 5.0, 0.5, 0.1], query=box(CHANGES))


def test_what_is_refused():
    with pytest.raises(ValueError, match="must have the query's shape"):
        calibrated("inid-gaussian", query=box([1.0]))
    with pytest.raises(ValueError, match="option sensitivities must be positive"):
        calibrated("inid-gaussian", changes=[1.0, 0.0, 1.0, 1.0], query=box(CHANGES))
    with pytest.raises(Unsupported, match="needs the option sensitivities"):
        get_mechanism("inid-laplace").calibrate(Query(shape=(2,), l2_sensitivity=1.0), BUDGET)


@pytest.mark.parametrize(
    "changes",
    [
        [True, 1.0],
        ["1", "0.5"],
        [b"1", 0.5],
        np.array([True, True]),
        np.ma.array([1.0, 0.5], mask=[0, 1]),
        [10**400, 1],
        [1.0, None],
        [1.0, [0.5]],
    ],
)
def test_only_numbers_are_sensitivities(changes):
    """A text or a boolean is none, though numpy makes one of it; what is masked is none."""
    query = Query(shape=(2,), l2_sensitivity=1.0)
    with pytest.raises(ValueError, match="option sensitivities must be positive numbers"):
        get_mechanism("inid-gaussian").calibrate(query, BUDGET, sensitivities=changes)
