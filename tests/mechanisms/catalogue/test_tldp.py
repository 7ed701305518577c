"""TLDP: the law of its components by sampling, and what kept values cost, by quadrature."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from mechanisms import (
    Budget,
    Query,
    Unsupported,
    get_mechanism,
)
from mechanisms.noise.gaussian_noise import IndependentGaussian
from mechanisms.noise.keep_or_noise import KeepOrNoise
from mechanisms.noise.laplace_noise import IndependentLaplace
from mechanisms.verification.verification import HOLDS, REFUTED, verify
from papers.settings import PAPER_SETTINGS

KEYS = ("tldp-l", "tldp-g", "tldp-l-w", "tldp-g-w")
MNIST = next(s for s in PAPER_SETTINGS if s.name == "tldp2025-mnist")


def tensor(*shape, width=1.0):
    """A query in which any tensor of the range may become any other."""
    size = math.prod(shape)
    return Query(
        shape=shape,
        l2_sensitivity=width * math.sqrt(size),
        l1_sensitivity=width * size,
        element_range=(0.0, width),
        adjacency="local",
    )


def calibrated(key, *shape, epsilon=1.0, delta=0.0, width=1.0, calibration="published", **options):
    budget = Budget(epsilon=epsilon, delta=delta)
    return get_mechanism(key).calibrate(tensor(*shape, width=width), budget, calibration, **options)


def keep_probability(mechanism):
    return math.exp(mechanism.parameters()["log_p"])


def test_noise_and_keep_probability_are_the_papers():
    # I = 2, epsilon = 1, Delta = 3: b = 3, p = e^(1 - 2) / (2 b + e^(1 - 2)).
    laplace = calibrated("tldp-l", 2, width=3.0)
    assert laplace.parameters()["b"] == 3.0
    assert keep_probability(laplace) == pytest.approx(math.exp(-1) / (6 + math.exp(-1)))
    gaussian = calibrated("tldp-g", 2, width=3.0)
    sigma = 3 / math.sqrt(2)
    assert gaussian.parameters()["sigma"] == pytest.approx(sigma)
    constant = sigma * math.sqrt(2 * math.pi)
    assert keep_probability(gaussian) == pytest.approx(math.exp(-1) / (constant + math.exp(-1)))
    # With 784 components, e^-783 / (2 + e^-783) underflows double precision.
    assert calibrated("tldp-l", 28, 28).parameters()["log_p"] == pytest.approx(
        -783 - math.log(2), rel=1e-15
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("key", KEYS)
def test_law_of_every_component(key, dtype):
    """Tests the share of zeros and the law of the other components; weights differ by row."""
    options = {"weights": [[0.0] * 2, [0.25] * 2, [1.0] * 2]} if key.endswith("w") else {}
    mechanism = calibrated(key, 3, 2, epsilon=0.3, width=0.5, **options)
    trials = 40_000
    draws = mechanism.sample(np.random.default_rng(8), trials, dtype).astype(float)
    probability = keep_probability(mechanism)
    weights = np.array(options.get("weights", np.zeros((3, 2))))
    expected = (1 - weights) * probability
    assert 0.03 < probability < 0.2
    share = (draws == 0).mean(axis=0)
    assert (np.abs(share - expected) <= 4 * np.sqrt(expected / trials)).all()
    noise = stats.laplace if "-l" in key[4:] else stats.norm
    scale = next(iter(mechanism.parameters().values()))
    for i, j in np.ndindex(3, 2):
        noisy = draws[draws[:, i, j] != 0, i, j]
        assert stats.kstest(noisy, noise(scale=scale).cdf).pvalue > 1e-4
    # Components are independent, both in size and in whether they are kept.
    for values in (draws**2, draws == 0):
        used = values.reshape(trials, 6)[:, values.reshape(trials, 6).std(axis=0) > 0]
        correlation = np.corrcoef(used, rowvar=False) - np.eye(used.shape[1])
        assert np.abs(correlation).max() < 5 / math.sqrt(trials)


def test_a_matrix_of_weights_serves_every_channel():
    """In Section 4.2 an image of A x B x 3 has weights A x B."""
    weights = np.array([[0.0, 1.0]])
    mechanism = calibrated("tldp-l-w", 1, 2, 3, epsilon=0.1, weights=weights)
    draws = mechanism.sample(np.random.default_rng(0), 5000)
    assert (draws[:, 0, 1] != 0).all()
    assert ((draws[:, 0, 0] == 0).mean(axis=0) > 0.01).all()
    assert mechanism.expected_loss() < calibrated("tldp-l-w", 1, 2, 3, epsilon=0.1,
        weights=np.ones((1, 2))).expected_loss()  # fmt: skip


def test_the_weights_default_to_one_half():
    default, half = (
        calibrated("tldp-l-w", 2, 2, **options) for options in ({}, {"weights": [[0.5] * 2] * 2})
    )
    assert default.parameters() == half.parameters()


def densities(mechanism):
    """The density of the noise of one component, and p."""
    kind = stats.laplace if "b" in mechanism.parameters() else stats.norm
    scale = next(iter(mechanism.parameters().values()))
    return kind(scale=scale).pdf, keep_probability(mechanism)


@pytest.mark.parametrize("key", KEYS)
def test_two_components_by_quadrature(key):
    """Any kept component reveals the input; otherwise both are noisy. The weights are 0 and 0.6."""
    weights = np.array([0.0, 0.6])
    options = {"weights": weights} if key.endswith("w") else {}
    mechanism = calibrated(key, 2, epsilon=0.7, **options)
    density, p = densities(mechanism)
    kept = p * (1 - weights if options else np.ones(2))
    ends = np.r_[np.arange(-40, -2), np.linspace(-2, 3, 41), np.arange(4, 41)]
    nodes, node_weights = np.polynomial.legendre.leggauss(12)
    half = np.diff(ends)[:, None] / 2
    x = ((ends[:-1, None] + half) + half * nodes).ravel()
    w = (half * node_weights).ravel()
    for epsilon in (0.0, 0.7, 1.2):
        own, other = np.outer(density(x), density(x)), np.outer(density(x - 1), density(x - 1))
        noisy = w @ np.maximum(own - math.exp(epsilon) * other, 0) @ w
        exact = 1 - np.prod(1 - kept) * (1 - noisy)
        assert mechanism.profile().delta(epsilon).value == pytest.approx(exact, rel=2e-3)


@pytest.mark.parametrize("key", KEYS)
def test_the_papers_setting_is_refuted(key):
    mechanism = get_mechanism(key).calibrate(MNIST.query, MNIST.budget)
    result = verify(mechanism, samples=2000)
    assert (result.claimed_epsilon, result.claimed_delta) == (1.0, 0.0)
    assert result.verdict == REFUTED
    assert result.true_delta.lower == pytest.approx(1.0, abs=1e-6)
    assert result.true_epsilon.value == math.inf
    assert result.audit.refutes(0.0)


def test_noise_alone_of_an_image_costs_784_epsilon():
    mechanism = calibrated("tldp-l", 28, 28)
    assert mechanism.profile().noise.epsilon(0.0).value == 784.0
    never_kept = calibrated("tldp-l-w", 28, 28, weights=np.ones((28, 28)))
    assert never_kept.profile().epsilon(0.0).value == 784.0
    assert verify(never_kept).verdict == REFUTED
    laplace = calibrated("tldp-l-w", 4, weights=np.ones(4), calibration="exact")
    assert laplace.parameters()["b"] == pytest.approx(4.0)
    assert calibrated("tldp-g", 28, 28).profile().noise.epsilon(0.0).value == math.inf


@pytest.mark.parametrize("key", ["tldp-l", "tldp-g"])
def test_exact_calibration_is_that_of_plain_noise_if_hardly_anything_is_kept(key):
    plain = {"tldp-l": "laplace", "tldp-g": "gaussian-analytic"}[key]
    ours, theirs = (calibrated(k, 12, 12, delta=1e-5, calibration="exact") for k in (key, plain))
    assert ours.expected_loss() == pytest.approx(theirs.expected_loss(), rel=1e-9)
    assert verify(ours).verdict == HOLDS


@pytest.mark.parametrize("key", KEYS)
def test_no_noise_makes_up_for_kept_values(key):
    mass = calibrated(key, 3).profile().atom_mass
    with pytest.raises(Unsupported, match="a kept value gives the input away"):
        calibrated(key, 3, delta=0.99 * mass, calibration="exact")
    above = calibrated(key, 3, delta=1.01 * mass, calibration="exact")
    assert above.profile().delta(1.0).value == pytest.approx(1.01 * mass, rel=1e-6)
    assert above.profile().atom_mass == mass
    # However small the mass is, a delta of zero is out of reach.
    with pytest.raises(Unsupported, match=r"probability e\^-77"):
        calibrated(key, 28, 28, calibration="exact")


def test_the_largest_change_of_one_element_is_delta():
    count = Query(
        shape=(4, 4), l2_sensitivity=math.sqrt(2), l1_sensitivity=2.0, linf_sensitivity=1.0
    )  # fmt: skip
    mechanism = get_mechanism("tldp-l").calibrate(count, Budget(epsilon=0.5))
    assert mechanism.parameters()["b"] == 2.0
    # Two cells change, so that the noise alone spends twice the budget.
    assert mechanism.profile().noise.epsilon(0.0).value == 1.0


@pytest.mark.parametrize("noise", [IndependentGaussian(shape=(3, 4), sigma=0.8),
                                   IndependentLaplace(shape=(3, 4), scale=0.8)])  # fmt: skip
def test_where_a_record_is_one_column_the_column_kept_most_often_is_the_worst(noise):
    log_keep = np.log(np.linspace(0.01, 0.3, 12)).reshape(3, 4)
    records = Query(
        shape=(3, 4),
        l2_sensitivity=math.sqrt(3),
        element_range=(0.0, 1.0),
        adjacency="replace",
        structure="records",
        record_bound=math.sqrt(3),
    )
    whole = KeepOrNoise(noise=noise, log_keep=log_keep).profile(records)
    by_column = [
        KeepOrNoise(noise=replace(noise, shape=(3,)), log_keep=log_keep[:, k]).profile(tensor(3))
        for k in range(4)
    ]
    for epsilon in (0.1, 1.0, 5.0):
        deltas = [profile.delta(epsilon).value for profile in by_column]
        assert whole.delta(epsilon).value == pytest.approx(max(deltas), rel=1e-9)
        assert np.argmax(deltas) == 3


@pytest.mark.parametrize("keep", [[[0.1, 0.2, 0.3], [0.15, 0.05, 0.25]], [[0.1], [0.3]], 0.2])
@pytest.mark.parametrize("structure", ["histogram", None])
def test_the_elements_that_may_change_at_once_and_are_kept_most_often_count(keep, structure):
    query = Query(
        shape=(2, 3),
        l2_sensitivity=math.sqrt(2),
        linf_sensitivity=1.0,
        adjacency="replace",
        structure=structure,
        record_bound=1.0 if structure else None,
    )
    noise = IndependentGaussian(shape=(2, 3), sigma=0.8)
    profile = KeepOrNoise(noise=noise, log_keep=np.log(np.array(keep))).profile(query)
    often = np.sort(np.broadcast_to(keep, (2, 3)), axis=None)[::-1]
    changed = 2 if structure else 6
    mass = 1 - np.prod(1 - often[:changed])
    assert profile.atom_mass == pytest.approx(mass, rel=1e-12)
