"""PrivUnitG: its cap against a search, its error by sampling, and its exact profile."""

import math

import mpmath
import numpy as np
import pytest
from scipy import stats

from mechanisms import Budget, Query, get_mechanism, verify
from mechanisms.audit.audit import audit_release
from mechanisms.catalogue.privunit import best_cap
from mechanisms.check.checks import QUICK, require_consistent
from mechanisms.privacy.finite_profile import CapProfile
from mechanisms.query.box_query import box_query
from tests.peak_memory import peak_of


def calibrated(query, epsilon=1.0, delta=0.0, calibration="published"):
    return get_mechanism("privunit-g").calibrate(
        query, Budget(epsilon=epsilon, delta=delta), calibration
    )


def expected_error(mechanism):
    """E||estimate - x||^2 = M (B / m)^2, the same for every answer x.

    The lifted estimate has the covariance (I - v v^T + Var(a) v v^T) (B / m)^2, and Var(a) = 1.
    """
    return mechanism.query.size * (mechanism.radius / mechanism.cap.threshold) ** 2


def scale_at(p, epsilon):
    """1 / E a by tail functions of the normal law, for the q that follows from p and epsilon."""
    q = 1 / (1 + math.exp(epsilon) * (1 - p) / p)
    threshold = stats.norm.isf(q)
    above = stats.norm.pdf(threshold) / stats.norm.sf(threshold)
    below = -stats.norm.pdf(threshold) / stats.norm.cdf(threshold)
    return 1 / (p * above + (1 - p) * below)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 10.0])
def test_no_p_of_a_grid_is_better(epsilon):
    cap = best_cap(epsilon)
    assert scale_at(cap.p, epsilon) == pytest.approx(1 / cap.threshold, rel=1e-9)
    # No p is better up to second order, because the derivative is zero at the optimum.
    for p in (cap.p * (1 - 1e-3), cap.p + 1e-3 * (1 - cap.p)):
        assert scale_at(p, epsilon) > (1 / cap.threshold) * (1 + 1e-10)
    best = min(scale_at(p, epsilon) for p in np.arange(0.01, 1.0, 0.01))
    assert best * (1 - 1e-2) <= 1 / cap.threshold <= best * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [1e-6, 1e-2, 1.0, 30.0, 200.0, 1e4, 1e5])
def test_the_largest_ratio_of_densities_is_e_to_the_epsilon(epsilon):
    cap = best_cap(epsilon)
    log_below = stats.norm.logcdf(cap.threshold)
    ratio = math.log(cap.p) - cap.log_q + log_below - math.log(cap.one_minus_p)
    assert ratio == pytest.approx(epsilon, rel=1e-12, abs=1e-12)
    assert cap.threshold > 0


@pytest.mark.parametrize("epsilon", [0.1, 50.0, 1e5])
def test_the_part_along_v_by_quadrature_in_forty_digits(epsilon):
    """The mean m = t and the variance 1 follow from the density of two truncated normals."""
    cap = best_cap(epsilon)
    with mpmath.workdps(40):
        t = mpmath.mpf(cap.threshold)
        above, below = mpmath.ncdf(-t), mpmath.ncdf(t)
        q = above / (above + below)
        odds = mpmath.exp(epsilon) * q / (1 - q)
        p = odds / (1 + odds)
        tail = [t + mpmath.mpf(k) / (1 + t) for k in (0, 1, 5, 20, 60, 120)]
        ends = [mpmath.mpf(-40), -8, 0, min(t, 8), min(t, 40)]
        # mpmath.quad controls absolute errors, so both densities must be of order one.
        moments = [
            p * mpmath.quad(lambda a, k=k: a**k * (mpmath.npdf(a) / above), tail)
            + (1 - p) * mpmath.quad(lambda a, k=k: a**k * (mpmath.npdf(a) / below), ends)
            for k in (1, 2)
        ]
    # The odds are e^epsilon up to rounding.
    rounding = 1e-11 + 1e-14 * epsilon
    assert cap.one_minus_p == pytest.approx(float(1 - p), rel=rounding)
    assert cap.threshold == pytest.approx(float(moments[0]), rel=rounding)
    assert float(moments[1] - moments[0] ** 2) == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.3, 5.0, 1e5])
def test_draws_of_the_part_along_v_have_its_mean_and_variance(epsilon):
    cap = best_cap(epsilon)
    draws = cap.draw(np.random.default_rng(4), 40_000)
    assert abs(draws.mean() - cap.threshold) < 5 / math.sqrt(len(draws))
    assert np.count_nonzero(draws >= cap.threshold) / len(draws) == pytest.approx(cap.p, abs=0.01)
    # At large epsilon few draws below the threshold dominate the variance, so it is not compared.
    if epsilon < 10:
        assert draws.var() == pytest.approx(1.0, rel=0.05)


def test_releases_of_opposite_corners_match_the_profile():
    mechanism = calibrated(box_query((4,), 0.0, 1.0), 3.0)
    audit = audit_release(
        lambda value, rng, count: mechanism.release_all(np.broadcast_to(value, (count, 4)), rng),
        np.ones(4),
        np.zeros(4),
        1.0,
        score=lambda outputs: outputs.sum(axis=1),
        samples=60_000,
        batch=True,
    )
    exact = mechanism.profile().delta(1.0).value
    assert 0.9 * exact < audit.delta_lower <= exact


def test_the_profile_of_three_losses():
    profile = CapProfile(largest=2.0, mass=0.6)
    # By hand: 0.6 - e^1 0.6 e^-2.
    assert profile.delta(1.0).value == pytest.approx(0.6 * (1 - math.exp(-1)))
    # Two releases, by enumerating the sum of two losses.
    masses = {2.0: 0.6, -2.0: 0.6 * math.exp(-2), 0.0: 0.4 - 0.6 * math.exp(-2)}
    expected = sum(
        p * r * max(1 - math.exp(1.0 - a - b), 0)
        for a, p in masses.items()
        for b, r in masses.items()
    )
    assert profile.compose(2).delta(1.0).value == pytest.approx(expected, rel=1e-3)


def test_the_exact_calibration_spends_delta_too():
    query = box_query((5,), 0.0, 1.0)
    exact = calibrated(query, 1.0, 0.1, "exact")
    assert exact.profile().delta(1.0).value == pytest.approx(0.1, rel=1e-9)
    assert expected_error(exact) < expected_error(calibrated(query, 1.0))
    assert verify(exact).verdict == "holds"
    assert calibrated(query, 1.0, 0.0, "exact").cap == calibrated(query, 1.0).cap


@pytest.mark.parametrize("size", [10, 80_874, 1_000_000])
@pytest.mark.parametrize("epsilon", [0.1, 500.0, 1e4, 1e5])
def test_large_answers_and_epsilons_are_supported(size, epsilon):
    query = box_query((1, size), -1.0, 1.0)
    for calibration in ("published", "exact"):
        mechanism = calibrated(query, epsilon, 1e-5, calibration)
        delta = mechanism.profile().delta(epsilon)
        # Rounding in epsilon limits the relative accuracy of a difference of 1e-5.
        assert delta.value == pytest.approx(
            1e-5 if calibration == "exact" else 0.0, rel=1e-9 + epsilon * 1e-11
        )
    # Three releases lose at most three times as much, and exactly that with probability p^3.
    total = mechanism.profile().compose(3)
    largest = mechanism.pure_epsilon
    expected = mechanism.cap.p**3 * -math.expm1(-largest)
    assert total.delta(2 * largest).value == pytest.approx(expected, rel=1e-6)


def test_the_check_of_one_long_row_needs_little_memory():
    mechanism = calibrated(box_query((1, 20_000), -1.0, 1.0), 10.0, 1e-5)
    _, peak = peak_of(require_consistent, mechanism, seed=0, effort=QUICK)
    # A square matrix of that side has 3.2 GB.
    assert peak < 1e8


def test_many_answers_are_released_independently():
    mechanism = calibrated(box_query((2, 3), 0.0, 1.0), 2.0)
    values = np.random.default_rng(0).random((6_000, 2, 3)).astype(np.float32)
    released = mechanism.release_all(values, 1)
    assert (released.shape, released.dtype) == (values.shape, np.float32)
    errors = (released - values).astype(float).reshape(len(values), -1)
    variance = expected_error(mechanism) / 6
    assert np.abs(np.cov(errors.T) / variance - np.eye(6)).max() < 0.1
    assert np.abs(errors.mean(axis=0)).max() < 5 * math.sqrt(variance / len(values))
    assert np.array_equal(mechanism.release(values[0], 7), mechanism.release_all(values[:1], 7)[0])
    with pytest.raises(ValueError, match="clip it"):
        mechanism.release_all(3 * values, 1)


def test_where_opposite_answers_are_excluded_the_profile_is_an_upper_bound():
    query = Query(shape=(3,), l2_sensitivity=1.0, frobenius_bound=1.0, adjacency="local")
    mechanism = calibrated(query)
    assert "opposite sides" in mechanism.profile().slack
    assert verify(mechanism).verdict == "holds"
