"""Mechanisms for Gram matrices: the papers' formulas, their noise, densities and worst records."""

import math

import numpy as np
import pytest
from queries import gram
from scipy import special, stats

from mechanisms import Budget, Unsupported, get_mechanism
from mechanisms.catalogue.gram.ppca import NotConverged
from mechanisms.noise import bingham
from mechanisms.verification.explanation import explain
from mechanisms.verification.verification import HOLDS, REFUTED, verify

BUDGET = Budget(epsilon=0.8, delta=1e-6)


def calibrated(key, query, budget=BUDGET, calibration="published", **options):
    return get_mechanism(key).calibrate(query, budget, calibration, **options)


@pytest.mark.parametrize(("size", "records"), [(3, 50), (40, 2000)])
def test_beta_of_mod_sulq(size, records):
    """The paper's formula in its own units: n records of the unit ball, A = (1/n) sum x x^T."""
    epsilon, delta = BUDGET.epsilon, BUDGET.delta
    beta = (size + 1) / (records * epsilon) * math.sqrt(
        2 * math.log((size**2 + size) / (delta * 2 * math.sqrt(2 * math.pi)))
    ) + 1 / (records * math.sqrt(epsilon))
    mechanism = calibrated("mod-sulq", gram(size, bound=1 / math.sqrt(records)))
    assert mechanism.parameters() == {"sigma": pytest.approx(beta, rel=1e-14)}


@pytest.mark.parametrize(("adjacency", "factor"), [("add-remove", 1.0), ("replace", math.sqrt(2))])
def test_sigma_of_analyze_gauss(adjacency, factor):
    mechanism = calibrated("analyze-gauss", gram(4, bound=3.0, adjacency=adjacency))
    expected = factor * 9 * math.sqrt(2 * math.log(1.25e6)) / 0.8
    assert mechanism.parameters() == {"sigma": pytest.approx(expected, rel=1e-14)}


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize("size", [1, 2, 4])
def test_no_pair_of_records_is_worse_than_the_profile_says(adjacency, size):
    """Compares upper triangles, because symmetric noise hides nothing else."""
    bound = 1.7
    mechanism = calibrated("analyze-gauss", gram(size, bound=bound, adjacency=adjacency))
    # The origin, the axes, and other records of the largest norm.
    x = np.random.default_rng(2).standard_normal((60, size))
    x[1 : 1 + size] = np.eye(size)
    x *= bound / np.linalg.norm(x, axis=1)[:, None]
    x[0] = 0
    change = x[:, :, None] * x[:, None]
    if adjacency == "replace":
        change = change[:, None] - change
    rows, columns = np.triu_indices(size)
    largest = np.linalg.norm(change[..., rows, columns], axis=-1).max()
    assert largest / mechanism.noise.sigma == pytest.approx(mechanism.profile().mu, rel=1e-12)


def test_a_box_that_no_diagonal_change_fits_into_leaves_slack():
    query = gram(4, bound=2.0, l2_sensitivity=4.0, linf_sensitivity=1.0)
    mechanism = calibrated("mod-sulq", query)
    # Records along the axes fit if they are half as long, which gives a quarter of sqrt(2) B^2.
    bounds = mechanism.profile()
    attained = mechanism.query.gram_change / 4 / mechanism.noise.sigma
    assert bounds.below.mu == pytest.approx(attained, rel=1e-12)
    assert bounds.below.mu < bounds.above.mu
    assert verify(mechanism).verdict == HOLDS
    with pytest.raises(Unsupported, match=r"no exact calibration.*excludes the worst pair"):
        calibrated("mod-sulq", query, calibration="exact")


@pytest.mark.parametrize("key", ["mod-sulq", "analyze-gauss"])
def test_symmetric_noise_is_mirrored_and_independent(key):
    mechanism = calibrated(key, gram(4))
    draws = mechanism.sample(np.random.default_rng(0), 40_000)
    assert np.array_equal(draws, draws.swapaxes(1, 2))
    rows, columns = np.triu_indices(4)
    upper = draws[:, rows, columns] / mechanism.noise.sigma
    covariance = upper.T @ upper / len(upper)
    error = np.sqrt((1 + np.eye(10)) / len(upper))
    assert np.all(np.abs(covariance - np.eye(10)) < 4.5 * error)
    assert np.all(np.abs(upper.mean(axis=0)) < 4.5 / math.sqrt(len(upper)))


@pytest.mark.parametrize("key", ["mod-sulq", "analyze-gauss", "wishart", "ppca"])
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_the_typed_l2_sensitivity_is_not_used(key, adjacency):
    typed, less = (
        calibrated(key, gram(3, adjacency=adjacency, **changed))
        for changed in ({}, {"l2_sensitivity": 0.5})
    )
    assert typed.parameters() == less.parameters()


@pytest.mark.parametrize(("adjacency", "size"), [("add-remove", 1), ("replace", 5)])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_wishart_is_refuted_with_its_exact_delta(adjacency, size, epsilon):
    records = 200
    query = gram(size, bound=1 / math.sqrt(records), adjacency=adjacency)
    mechanism = calibrated("wishart", query, Budget(epsilon=epsilon))
    assert mechanism.parameters() == {"c": pytest.approx(3 / (2 * records * epsilon), rel=1e-14)}
    exposed = -math.expm1(-epsilon / 3)
    result = verify(mechanism, samples=20_000, seed=5)
    assert result.verdict == REFUTED
    assert result.claimed_delta == 0
    assert result.true_delta.value == pytest.approx(exposed, rel=1e-14)
    assert mechanism.profile().delta(50.0).lower == pytest.approx(exposed, rel=1e-14)
    assert result.true_epsilon == (np.inf, np.inf, np.inf)
    assert result.audit.delta_lower < exposed < result.audit.delta_upper
    assert result.audit.refutes(0.0)


def test_wishart_noise_has_the_law_of_scipy():
    noise = calibrated("wishart", gram(3)).noise
    draws = noise.sample(np.random.default_rng(0), 20_000)
    theirs = stats.wishart(df=4, scale=noise.scale * np.eye(3)).rvs(20_000, random_state=1)
    for statistic in (lambda w: w[:, 0, 0], lambda w: w[:, 0, 1], np.linalg.det):
        assert stats.ks_2samp(statistic(draws), statistic(theirs)).pvalue > 1e-3
    assert np.linalg.eigvalsh(draws).min() > 0


def covariance(size, seed=0, records=300):
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((records, size)) * np.arange(size, 0, -1)
    data /= np.linalg.norm(data, axis=1).max() * math.sqrt(records)
    return data.T @ data, 1 / math.sqrt(records)


@pytest.mark.parametrize("components", [1, 3, 6])
def test_a_release_is_a_projector(components):
    value, bound = covariance(6)
    mechanism = calibrated("ppca", gram(6, bound=bound), components=components)
    released, diagnostics = mechanism.release_with_diagnostics(value, np.random.default_rng(0))
    assert released.shape == (6, 6)
    assert np.allclose(released, released.T, rtol=0, atol=1e-14)
    assert np.allclose(released @ released, released, rtol=0, atol=1e-12)
    assert np.trace(released) == pytest.approx(components, abs=1e-12)
    assert diagnostics["r_hat"] < bingham.CONVERGED


def test_the_density_is_the_papers_in_its_own_units():
    """d = 2, exp(n eps v^T A v / 2): twice v's angle is von Mises with n eps (gap of A) / 4."""
    records, epsilon = 400, 0.8
    value = np.array([[0.30, 0.05], [0.05, 0.25]])
    mechanism = calibrated("ppca", gram(2, bound=1 / math.sqrt(records)), Budget(epsilon=epsilon))
    projectors = mechanism.releases(value, np.random.default_rng(1), 5000)
    eigenvalues, vectors = np.linalg.eigh(value)
    # cos 2t = 2 cos^2 t - 1, where cos^2 t is the share along the leading eigenvector.
    cosine = 2 * np.einsum("i,tij,j->t", vectors[:, 1], projectors, vectors[:, 1]) - 1
    kappa = records * epsilon * (eigenvalues[1] - eigenvalues[0]) / 4
    expected = special.ive(1, kappa) / special.ive(0, kappa)
    assert 0.3 < expected < 0.99
    assert abs(cosine.mean() - expected) < 4 * cosine.std() / math.sqrt(len(cosine))


def log_constant(value, scale):
    """log of the integral of exp(scale v^T A v) over the circle."""
    turn = (np.arange(20_000) + 0.5) * np.pi / 20_000
    v = np.stack([np.cos(turn), np.sin(turn)])
    return special.logsumexp(scale * np.einsum("it,ij,jt->t", v, value, v))


@pytest.mark.parametrize(("adjacency", "share"), [("replace", 1.0), ("add-remove", 0.5)])
def test_largest_loss_of_one_component_of_two(adjacency, share):
    """Over records of the unit ball and all directions, the loss nearly attains the bound."""
    epsilon = 2.0
    mechanism = calibrated("ppca", gram(2, adjacency=adjacency), Budget(epsilon=epsilon))
    rng = np.random.default_rng(0)
    largest = 0.0
    x = np.array([1.0, 0.0])
    for weight in (0.0, 1.0, 40.0):
        for _ in range(20):
            base = weight * np.outer(*(2 * [rng.standard_normal(2)]))
            y = np.array([0.0, 1.0]) if adjacency == "replace" else np.zeros(2)
            with_x, with_y = base + np.outer(x, x), base + np.outer(y, y)
            constants = log_constant(with_x, epsilon / 2) - log_constant(with_y, epsilon / 2)
            loss = epsilon / 2 * np.linalg.eigvalsh(with_x - with_y) - constants
            largest = max(largest, np.abs(loss).max())
    assert mechanism.profile().largest_loss == share * epsilon
    assert 0.8 * share * epsilon < largest <= share * epsilon


def test_verify_says_why_no_losses_were_sampled():
    mechanism = calibrated("ppca", gram(3))
    asked = verify(mechanism, samples=2000)
    assert (asked.verdict, asked.wasted_variance) == (HOLDS, None)
    assert asked.true_epsilon.upper <= 0.8 and asked.true_delta.lower == 0
    assert (asked.audit, asked.to_dict()["not_sampled"]) == (None, mechanism.profile().slack)
    (line,) = (line for line in explain(asked).splitlines() if line.startswith("  sampled"))
    assert line.endswith(f"nothing, the worst pair is not known: {mechanism.profile().slack}")
    assert "  sampled" not in explain(verify(mechanism))


def test_a_chain_that_has_not_converged_is_reported(monkeypatch):
    monkeypatch.setattr(bingham, "LEAST_SWEEPS", 8)
    monkeypatch.setattr(bingham, "MOST_SWEEPS", 16)
    value, bound = covariance(20)
    mechanism = calibrated("ppca", gram(20, bound=bound / 30), components=2)
    _, diagnostics = mechanism.release_with_diagnostics(value, np.random.default_rng(0))
    assert diagnostics["sweeps"] == 16
    assert diagnostics["r_hat"] > bingham.CONVERGED
    with pytest.warns(NotConverged, match="after 16 sweeps"):
        mechanism.release(value, np.random.default_rng(0))
