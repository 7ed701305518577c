"""TVG against the whole covariance, its closed form, and what it refuses."""

import functools
import math

import numpy as np
import pytest
from scipy.stats import chi2

from mechanisms import Budget, Query, Unsupported, get_mechanism
from mechanisms.noise.tensor_gaussian import TensorGaussian
from mechanisms.privacy.gaussian_profile import GaussianProfile, mu_for
from mechanisms.strategies.workload import AllRange, Identity, Kronecker, Prefix
from mechanisms.verification.self_check import require_consistent
from mechanisms.verification.verification import HOLDS, verify

SHAPE = (2, 4, 3)
BUDGET = Budget(epsilon=0.8, delta=1e-5)
THETA = [[0.9, 0.1], None, [0.5, 0.3, 0.2]]


def rotation(size, seed=0):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((size, size)))[0]


TURNED = [rotation(size, seed) for seed, size in enumerate(SHAPE)]
PARTLY = [None, TURNED[1], None]


def calibrated(query=None, *, calibration="exact", **options):
    query = query or Query(shape=SHAPE, l2_sensitivity=1.7)
    return get_mechanism("tvg").calibrate(query, BUDGET, calibration, **options)


def covariance(noise):
    """Of vec(n), in C order."""
    roots = (
        np.diag(std) if turn is None else turn * std
        for std, turn in zip(noise.stds, noise.directions, strict=True)
    )
    return functools.reduce(np.kron, (root @ root.T for root in roots))


@pytest.mark.parametrize("directions", [None, PARTLY, TURNED])
def test_the_true_mu_is_that_of_the_whole_covariance(directions):
    """sup D^T Sigma^-1 D over ||D|| <= s is s^2 over the least eigenvalue."""
    mechanism = calibrated(axis_precision=THETA, axis_directions=directions)
    whole = covariance(mechanism.noise)
    expected = 1.7 / math.sqrt(np.linalg.eigvalsh(whole)[0])
    assert expected == pytest.approx(float(mu_for(BUDGET.epsilon, BUDGET.delta)), rel=1e-12)
    assert mechanism.profile().mu == pytest.approx(expected, rel=1e-12)
    assert mechanism.slack() is None
    assert mechanism.expected_loss() == pytest.approx(np.trace(whole))
    for k, cumulant in enumerate(mechanism.loss().cumulants, 1):
        power = np.trace(np.linalg.matrix_power(whole, k))
        assert cumulant == pytest.approx(2 ** (k - 1) * math.factorial(k - 1) * power)


def test_draws_have_the_whole_covariance():
    noise = calibrated(axis_precision=THETA, axis_directions=PARTLY).noise
    draws = noise.sample(np.random.default_rng(3), 200_000).reshape(-1, math.prod(SHAPE))
    whole = covariance(noise)
    size = np.sqrt(np.diag(whole))
    errors = (np.cov(draws, rowvar=False) - whole) / np.outer(size, size)
    # The standard error of a covariance of normals is at most sqrt(2 / n) = 0.0032.
    assert np.abs(errors).max() < 5 * math.sqrt(2 / len(draws))
    assert np.abs(draws.mean(axis=0) / size).max() < 5 / math.sqrt(len(draws))


def test_variances_follow_the_weights_as_in_mvg():
    noise = calibrated(axis_precision=THETA).noise
    for std, theta in zip(noise.stds, THETA, strict=True):
        theta = np.ones(len(std)) if theta is None else np.array(theta)
        assert np.ptp(std**4 * theta) == pytest.approx(0, abs=1e-9)


def test_without_weights_it_is_the_analytic_gaussian():
    query = Query(shape=SHAPE, l2_sensitivity=1.7)
    other = get_mechanism("gaussian-analytic").calibrate(query, BUDGET, "exact")
    mechanism = calibrated()
    assert mechanism.expected_loss() == pytest.approx(other.expected_loss())
    sigma = other.noise.sigma
    # Directions do not matter where all variances are one.
    for each in (mechanism, calibrated(axis_directions=TURNED)):
        assert each.noise.squared_norm_survival(3.0) == pytest.approx(chi2(24).sf(3.0 / sigma**2))
        assert each.noise.kappa() == 1
    assert calibrated(axis_precision=THETA).noise.squared_norm_survival(3.0) is None


@pytest.mark.parametrize(
    "stated",
    [
        {"l1_sensitivity": 2.0},
        {"linf_sensitivity": 0.5},
        {"l1_sensitivity": 2.2, "linf_sensitivity": 1.4},
    ],
)
def test_other_sensitivities_along_the_axes(stated):
    """The true mu is the least noise of any change, here tried at random."""
    query = Query(shape=SHAPE, l2_sensitivity=1.7, **stated)
    mechanism = calibrated(query, axis_precision=THETA)
    variances = np.diag(covariance(mechanism.noise))
    rng, seen = np.random.default_rng(5), 0.0
    for _ in range(3000):
        change = rng.standard_normal(24) * (rng.random(24) < rng.random()) / variances
        if not change.any():
            continue
        norms = {2: 1.7, 1: stated.get("l1_sensitivity"), np.inf: stated.get("linf_sensitivity")}
        change *= min(s / np.linalg.norm(change, p) for p, s in norms.items() if s is not None)
        seen = max(seen, math.sqrt(np.sum(change**2 / variances)))
    assert 0.7 * mechanism.profile().mu < seen <= mechanism.profile().mu * (1 + 1e-12)


def test_turned_noise_in_a_box_has_bounds_and_no_exact_calibration():
    query = Query(shape=SHAPE, l2_sensitivity=1.7, linf_sensitivity=0.5)
    with pytest.raises(Unsupported, match="no exact calibration: the query excludes the worst"):
        calibrated(query, axis_precision=THETA, axis_directions=TURNED)


def test_the_longest_axis_may_be_any():
    """Rows and columns of what is unfolded are the same noise."""
    stds = [np.array([1.0, 3.0]), np.array([2.0, 1.0, 4.0]), np.array([1.0, 5.0])]
    for order in ((0, 1, 2), (1, 0, 2), (2, 0, 1)):
        noise = TensorGaussian(stds=tuple(stds[k] for k in order), directions=(None,) * 3)
        query = Query(shape=noise.shape, l2_sensitivity=2.0, l1_sensitivity=3.0)
        assert noise.profile(query).mu == pytest.approx(2.0, rel=1e-12)


@pytest.mark.parametrize("directions", [None, PARTLY])
def test_it_agrees_with_itself(directions):
    mechanism = calibrated(axis_precision=THETA, axis_directions=directions)
    require_consistent(mechanism, seed=0)
    result = verify(mechanism, samples=100_000, seed=1)
    assert result.verdict == HOLDS
    true = GaussianProfile(mu=float(mu_for(BUDGET.epsilon, BUDGET.delta))).delta(0.8).value
    assert result.audit.delta_lower <= true <= result.audit.delta_upper


def test_the_variance_of_linear_queries():
    factors = Prefix(2), AllRange(4), Identity(3)
    whole = Kronecker(factors).gram()
    for options in (
        {"axis_precision": THETA, "axis_directions": TURNED},
        {"axis_directions": TURNED},
    ):
        noise = calibrated(**options).noise
        expected = np.trace(whole @ covariance(noise))
        assert noise.workload_variance(factors) == pytest.approx(expected)
    assert calibrated(axis_precision=THETA).noise.workload_variance((Prefix(24),)) is None


@pytest.mark.parametrize(
    ("query", "calibration", "words"),
    [
        (None, "published", "no published calibration: the paper.s theorem was not available"),
        (Query(shape=(3, 3), l2_sensitivity=1.0), "exact", "at least 3 axes, got shape"),
        (Query(shape=(9,), l2_sensitivity=1.0), "exact", "at least 3 axes, got shape"),
        # A calibration that would not help is not recommended.
        (Query(shape=(3, 3), l2_sensitivity=1.0), "published", "at least 3 axes, got shape"),
    ],
)
def test_what_it_refuses(query, calibration, words):
    with pytest.raises(Unsupported, match=words):
        calibrated(query, calibration=calibration)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"axis_precision": [[0.5, 0.5]]}, "an entry for each of 3 axes, got 1"),
        ({"axis_precision": [[0.5, 0.5], None, [0.5, 0.5]]}, "axis_precision must have 3 weights"),
        (
            {"axis_precision": [[0.5, 0.6], None, None]},
            "a list with one entry per axis, each positive",
        ),
        ({"axis_precision": "equal"}, "a list with one entry per axis"),
        ({"axis_directions": [None, np.ones((4, 4)), None]}, "orthonormal"),
        ({"axis_directions": [np.eye(3), None, None]}, r"shape \(2, 2\)"),
    ],
)
def test_bad_options(options, words):
    with pytest.raises(ValueError, match=words):
        calibrated(**options)
