"""The release, the density and the largest loss of PPCA."""

import math

import numpy as np
import pytest
from gram_queries import calibrated
from queries import gram
from scipy import special

from mechanisms import (
    Budget,
)
from mechanisms.catalogue.gram.ppca import NotConverged
from mechanisms.noise import bingham
from mechanisms.verification.explanation import explain
from mechanisms.verification.verification import HOLDS, verify


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


@pytest.mark.parametrize("adjacency", ["replace", "add-remove"])
def test_ppca_holds_by_an_upper_bound(adjacency):
    mechanism = calibrated("ppca", gram(4, adjacency=adjacency), components=2)
    result = verify(mechanism, samples=2000)
    assert result.verdict == HOLDS
    assert (result.claimed_delta, result.wasted_variance) == (0.0, None)
    assert result.true_epsilon.upper <= 0.8
    assert result.true_delta.lower == 0


def test_verify_says_why_no_losses_were_sampled():
    mechanism = calibrated("ppca", gram(3))
    asked = verify(mechanism, samples=2000)
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
