"""Staircase noise: its shells, its moments, its exact profile, and the least error of theta."""

import math

import numpy as np
import pytest
from scipy import stats

from mechanisms import Budget, Query, Unsupported, get_mechanism, verify
from mechanisms.noise.staircase_noise import Staircase
from mechanisms.privacy.staircase_profile import StaircaseProfile

MECHANISM = get_mechanism("staircase")
ROOT = math.sqrt(6)
QUERIES = {
    "l2": Query(shape=(6,), l2_sensitivity=2.0),
    "l1": Query(shape=(6,), l2_sensitivity=2.0, l1_sensitivity=2.0),
    "linf": Query(shape=(6,), l2_sensitivity=2 * ROOT, linf_sensitivity=2.0),
    "line": Query(shape=(1,), l2_sensitivity=2.0),
}


def norms(norm: str, draws: np.ndarray) -> np.ndarray:
    order = {"l1": 1, "l2": 2, "linf": np.inf, "line": 1}[norm]
    return np.linalg.norm(draws, order, axis=1)


@pytest.mark.parametrize("norm", QUERIES)
def test_the_norm_has_the_law_of_the_shells_and_the_stated_moments(norm):
    query = QUERIES[norm]
    mechanism = MECHANISM.calibrate(query, Budget(epsilon=1.5))
    noise = mechanism.noise
    assert noise.norm == ("linf" if norm == "line" else norm) and noise.width == 2.0
    draws = mechanism.sample(np.random.default_rng(0), 10_000)
    size, edges = query.size, (np.arange(60) + noise.theta) * noise.width

    def cdf(r):
        """From the density: mass of the shells below r, each e^(-1.5 k) times its volume."""
        inner = np.concatenate([[0.0], edges[:-1]])
        filled = np.clip(np.asarray(r)[..., None], inner, edges) ** size - inner**size
        weights = np.exp(-1.5 * np.arange(60))
        return filled @ weights / ((edges**size - inner**size) @ weights)

    assert stats.kstest(norms(norm, draws), cdf).pvalue > 1e-3
    losses = np.vecdot(draws, draws)
    error = losses.std() / 100
    assert losses.mean() == pytest.approx(mechanism.expected_loss(), abs=4 * error)
    assert losses.var() == pytest.approx(mechanism.loss().variance, rel=0.1)


@pytest.mark.parametrize("norm", QUERIES)
@pytest.mark.parametrize("delta", [0.0, 0.03])
def test_the_profile_is_that_of_draws_and_of_the_worst_change(norm, delta):
    """By the densities at draws of the noise; no other change of the ball reveals more."""
    query, epsilon = QUERIES[norm], 1.5
    mechanism = MECHANISM.calibrate(query, Budget(epsilon=epsilon, delta=delta), "exact")
    noise, profile = mechanism.noise, mechanism.profile()
    assert profile.epsilon(delta).value == pytest.approx(epsilon, rel=1e-9)
    assert noise.width == 2.0 if delta == 0 else 1.0 < noise.width < 2.0
    rng = np.random.default_rng(1)
    draws = mechanism.sample(rng, 100_000)

    def shell(x):
        return np.maximum(np.floor(norms(norm, x) / noise.width - noise.theta) + 1, 0)

    vertex = np.full(query.size, 2.0) if norm == "linf" else 2.0 * np.eye(query.size)[0]
    other = rng.standard_normal(query.size)
    other *= 2.0 / norms(norm, other[None])
    at = np.array([0.0, 0.4, 1.0, 1.2]) * epsilon
    for change, worst in ((vertex, True), (other, False)):
        losses = epsilon * (shell(draws - change) - shell(draws))
        gains = np.maximum(-np.expm1(at[:, None] - losses), 0)
        errors = gains.std(axis=1) / math.sqrt(len(draws)) + 1e-9
        excess = (gains.mean(axis=1) - profile.delta(at).value) / errors
        assert excess.max() < 4
        assert not worst or excess.min() > -4
    sampled = profile.sample_losses(rng, 100_000)
    gains = np.maximum(-np.expm1(at[:, None] - sampled), 0)
    errors = gains.std(axis=1) / math.sqrt(len(sampled)) + 1e-9
    assert np.abs((gains.mean(axis=1) - profile.delta(at).value) / errors).max() < 4


def test_the_profile_on_the_line_by_integration():
    """Where a change crosses several edges, against the two densities on a fine grid."""
    profile = StaircaseProfile(
        norm="linf", dimension=1, step=0.7, theta=0.3, width=1.0, sensitivity=2.6
    )
    x = (np.arange(800_000) + 0.5) / 8000 - 50

    def density(x):
        return np.exp(-0.7 * np.maximum(np.floor(np.abs(x) - 0.3) + 1, 0))

    p, q = density(x), density(x - 2.6)
    for epsilon in (0.0, 0.5, 0.7, 1.0, 1.7, 2.0):
        direct = np.maximum(p - math.exp(epsilon) * q, 0).sum() / p.sum()
        assert profile.delta(epsilon).value == pytest.approx(direct, rel=1e-9)
    assert profile.largest_loss == pytest.approx(2.1)


def test_two_balls_of_different_radius_in_three_dimensions():
    """The share of a ball outside of a larger one has a closed form there: two caps."""
    from mechanisms.privacy.staircase_profile import _Noise, _outside_ball

    radii = np.array([0.9, 1.3, 4.0])
    for ratio, edges in ((1.9, 1), (2.2, 2), (1.0 + 1e-7, 1)):
        found = _outside_ball(_Noise("l2", 3, 1.0, 0.5, ratio), radii, edges)
        r, big, t = radii, radii + edges, ratio
        lens = math.pi * (r + big - t) ** 2
        lens *= (t * t + 2 * t * (r + big) - 3 * (r - big) ** 2) / (12 * t)
        share = 1 - lens / (4 / 3 * math.pi * r**3)
        assert found == pytest.approx(share, rel=1e-9, abs=1e-14)


def test_no_other_first_edge_has_less_error():
    for size, epsilon in ((1, 1.0), (2, 4.0), (8, 10.0), (64, 10.0)):
        query = Query(shape=(size,), l2_sensitivity=1.0)
        noise = MECHANISM.calibrate(query, Budget(epsilon=epsilon)).noise
        for theta in np.linspace(0.02, 1.0, 50):
            other = Staircase(shape=(size,), norm=noise.norm, step=epsilon, theta=theta, width=1.0)
            assert other.loss().mean >= noise.loss().mean * (1 - 1e-12)


def test_a_claim_holds_and_an_excluded_vertex_leaves_an_upper_bound():
    assert verify(
        MECHANISM.calibrate(QUERIES["l2"], Budget(epsilon=0.8)), samples=5000
    ).verdict == ("holds")
    query = Query(shape=(9,), l2_sensitivity=1.4, l1_sensitivity=2.0, linf_sensitivity=1.0)
    mechanism = MECHANISM.calibrate(query, Budget(epsilon=1.0))
    assert mechanism.noise.norm == "l1" and "excludes the worst change" in mechanism.slack()
    assert mechanism.profile().epsilon(0.0).upper == 1.0
    with pytest.raises(Unsupported, match="no exact calibration"):
        MECHANISM.calibrate(query, Budget(epsilon=1.0, delta=1e-5), "exact")


@pytest.mark.parametrize(
    ("size", "epsilon", "words"), [(9, 600.0, "up to 500"), (9, 1e-4, "steps")]
)
def test_what_is_refused(size, epsilon, words):
    with pytest.raises(Unsupported, match=words):
        MECHANISM.calibrate(Query(shape=(size,), l2_sensitivity=1.0), Budget(epsilon=epsilon))
