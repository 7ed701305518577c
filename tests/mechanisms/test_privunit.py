"""PrivUnitG: its cap against a search over densities, its error by sampling, its exact profile."""

import math

import numpy as np
import pytest
from scipy import stats

from mechanisms import Budget, Query, Unsupported, get_mechanism, verify
from mechanisms.audit.release_audit import audit_release
from mechanisms.privunit import best_cap
from mechanisms.profiles.cap_profile import CapProfile
from papers.box_query import box_query


def calibrated(query, epsilon=1.0, delta=0.0, calibration="published"):
    return get_mechanism("privunit-g").calibrate(
        query, Budget(epsilon=epsilon, delta=delta), calibration
    )


def scale_at(p, epsilon):
    """1 / E a by the normal law's tail functions, for the q that p and epsilon give."""
    q = 1 / (1 + math.exp(epsilon) * (1 - p) / p)
    threshold = stats.norm.isf(q)
    above = stats.norm.pdf(threshold) / stats.norm.sf(threshold)
    below = -stats.norm.pdf(threshold) / stats.norm.cdf(threshold)
    return 1 / (p * above + (1 - p) * below)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 10.0])
def test_no_p_of_a_grid_is_better(epsilon):
    cap = best_cap(epsilon)
    assert scale_at(cap.p, epsilon) == pytest.approx(1 / cap.mean, rel=1e-9)
    best = min(scale_at(p, epsilon) for p in np.arange(0.01, 1.0, 0.01))
    assert best * (1 - 1e-2) <= 1 / cap.mean <= best * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [1e-6, 1e-2, 1.0, 30.0, 200.0])
def test_the_largest_ratio_of_densities_is_e_to_the_epsilon(epsilon):
    cap = best_cap(epsilon)
    ratio = math.log(cap.p) - math.log(cap.q) + math.log1p(-cap.q) - math.log1p(-cap.p)
    assert ratio == pytest.approx(epsilon, rel=1e-7)
    assert cap.threshold >= 0


def test_as_epsilon_vanishes_the_part_along_v_is_that_of_a_sign():
    # At small epsilon q = p = 1/2, and E a is epsilon phi(0).
    assert best_cap(1e-4).mean / 1e-4 == pytest.approx(1 / math.sqrt(2 * math.pi), rel=1e-3)


@pytest.mark.parametrize("corner", [False, True])
def test_the_release_is_unbiased_and_its_error_as_computed(corner):
    query = box_query((2, 3), 0.0, 1.0)
    mechanism = calibrated(query, 2.0)
    value = np.ones((2, 3)) if corner else np.array([[0.9, 0.2, 0.5], [0.1, 0.5, 0.6]])
    rng = np.random.default_rng(3)
    releases = np.array([mechanism.release(value, rng) for _ in range(20_000)])
    error = releases.std(axis=0) / math.sqrt(len(releases))
    assert np.all(np.abs(releases.mean(axis=0) - value) < 5 * error)
    squared = ((releases - value) ** 2).sum(axis=(1, 2))
    expected = mechanism.expected_error(float(np.linalg.norm(value - 0.5)))
    assert squared.mean() == pytest.approx(expected, rel=0.03)


def test_the_claim_holds_and_an_audit_of_its_losses_agrees():
    mechanism = calibrated(box_query((28, 28), 0.0, 1.0))
    result = verify(mechanism, samples=50_000)
    assert result.verdict == "holds"
    assert result.true_epsilon.value == 1.0
    below = verify(calibrated(box_query((28, 28), 0.0, 1.0), 2.0), samples=50_000)
    assert below.true_delta.value == 0.0


def test_releases_of_opposite_corners_show_what_the_profile_says():
    mechanism = calibrated(box_query((4,), 0.0, 1.0), 3.0)
    audit = audit_release(
        lambda value, rng: mechanism.release(value, rng),
        np.ones(4),
        np.zeros(4),
        1.0,
        score=lambda outputs: outputs.sum(axis=1),
        samples=20_000,
        whole_budget=True,
    )
    exact = mechanism.profile().delta(1.0).value
    assert 0.9 * exact < audit.delta_lower <= exact


def test_the_profile_of_three_losses():
    profile = CapProfile(largest=2.0, mass=0.6)
    # 0.6 - e^1 0.6 e^-2, by hand.
    assert profile.delta(1.0).value == pytest.approx(0.6 * (1 - math.exp(-1)))
    assert profile.epsilon(profile.delta(1.0).value).value == pytest.approx(1.0)
    assert profile.delta(2.0).value == 0.0
    losses = profile.sample_losses(np.random.default_rng(0), 100_000)
    assert np.mean(losses > 0) == pytest.approx(0.6, abs=0.01)
    assert np.mean(losses < 0) == pytest.approx(0.6 * math.exp(-2), abs=0.01)
    # Two releases: (sum of two losses), by enumeration.
    masses = {2.0: 0.6, -2.0: 0.6 * math.exp(-2), 0.0: 0.4 - 0.6 * math.exp(-2)}
    expected = sum(
        p * r * max(1 - math.exp(1.0 - a - b), 0)
        for a, p in masses.items()
        for b, r in masses.items()
    )
    assert profile.compose(2).delta(1.0).value == pytest.approx(expected, rel=1e-3)
    with pytest.raises(ValueError, match="mass must be at most"):
        CapProfile(largest=1.0, mass=0.9)


def test_the_exact_calibration_spends_delta_too():
    query = box_query((5,), 0.0, 1.0)
    exact = calibrated(query, 1.0, 0.1, "exact")
    assert exact.profile().delta(1.0).value == pytest.approx(0.1, rel=1e-9)
    assert exact.expected_error() < calibrated(query, 1.0).expected_error()
    assert verify(exact).verdict == "holds"
    assert calibrated(query, 1.0, 0.0, "exact").cap == calibrated(query, 1.0).cap


def test_where_opposite_answers_are_excluded_the_profile_is_an_upper_bound():
    query = Query(shape=(3,), l2_sensitivity=1.0, frobenius_bound=1.0, adjacency="local")
    mechanism = calibrated(query)
    assert "opposite sides" in mechanism.slack()
    assert verify(mechanism).verdict == "holds"


def test_what_it_cannot_serve():
    with pytest.raises(Unsupported, match="local randomiser"):
        calibrated(Query(shape=(3,), l2_sensitivity=1.0))
    with pytest.raises(Unsupported, match="lie in a ball"):
        calibrated(Query(shape=(3,), l2_sensitivity=1.0, adjacency="local"))
    with pytest.raises(ValueError, match=r"outside of element_range \[0, 1\]"):
        calibrated(box_query((3,), 0.0, 1.0)).release(np.full(3, 2.0), np.random.default_rng())
