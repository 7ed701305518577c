"""Draws of the Bingham distribution against quadrature and limits."""

import math

import numpy as np
import pytest
from scipy import special, stats

from mechanisms.noise import bingham


def bingham_moments(exponents):
    """E x_i^2 for density ~ exp(sum m_i x_i^2) on the sphere of R^3, by quadrature."""
    polar, weight = special.roots_legendre(400)
    turn = (np.arange(400) + 0.5) * 2 * np.pi / 400
    ring = np.sqrt(1 - polar**2)[:, None]
    points = np.stack(
        [ring * np.cos(turn), ring * np.sin(turn), np.broadcast_to(polar[:, None], (400, 400))]
    )
    exponent = np.tensordot(exponents, points**2, axes=1)
    density = np.exp(exponent - exponent.max()) * weight[:, None]
    return (points**2 * density).sum(axis=(1, 2)) / density.sum()


def squares(drawn):
    """|r_i|^2 of every draw, (draws, d)."""
    return np.vecdot(drawn, drawn)


@pytest.mark.parametrize("gap", [0.0, 0.3, 4.0, 300.0])
def test_one_component_of_two_is_von_mises(gap):
    draws, diagnostics = bingham.sample_bingham(
        np.array([gap, 0.0]), 1, np.random.default_rng(0), 3000
    )
    # x = (cos t, sin t) has 2 t von Mises with concentration gap / 2.
    x = draws[:, :, 0]
    doubled = 2 * np.arctan2(x[:, 1], x[:, 0])
    doubled = (doubled + np.pi) % (2 * np.pi) - np.pi
    law = stats.vonmises(gap / 2) if gap else stats.uniform(-np.pi, 2 * np.pi)
    assert stats.kstest(doubled, law.cdf).pvalue > 1e-3
    mean = special.ive(1, gap / 2) / special.ive(0, gap / 2)
    error = np.std(np.cos(doubled)) / math.sqrt(len(doubled))
    assert abs(np.cos(doubled).mean() - mean) < 4 * error
    assert diagnostics["r_hat"] < bingham.CONVERGED


@pytest.mark.parametrize(
    ("exponents", "components"),
    [
        *((each, 1) for each in ((1.0, 0.0, 0.0), (9.0, 4.0, -2.0), (60.0, 55.0, 0.0))),
        ((7.0, 3.0, 0.0), 2),
    ],
)
def test_components_of_three_by_quadrature(exponents, components):
    """Two are the complement of one: V V^T = I - u u^T, where u has the density exp(-u^T M u)."""
    exponents = np.array(exponents)
    draws, _ = bingham.sample_bingham(exponents, components, np.random.default_rng(4), 3000)
    expected = bingham_moments(exponents) if components == 1 else 1 - bingham_moments(-exponents)
    error = squares(draws).std(axis=0) / math.sqrt(len(draws))
    assert np.all(np.abs(squares(draws).mean(axis=0) - expected) < 4 * error)


def test_components_without_a_preference_are_uniform():
    """|r_i|^2, the share of a unit vector in a random subspace, is Beta(k / 2, (d - k) / 2)."""
    size, components = 9, 3
    draws, _ = bingham.sample_bingham(np.zeros(size), components, np.random.default_rng(6), 1500)
    law = stats.beta(components / 2, (size - components) / 2)
    for row in range(size):
        assert stats.kstest(squares(draws)[:, row], law.cdf).pvalue > 1e-4


def test_concentrated_components_are_the_leading_ones():
    """E (1 - |r_i|^2) ~ sum_j 1 / (2 (m_i - m_j)) over the rest, to first order."""
    exponents = np.array([4e4, 3e4, 1e4, 5e3, 0.0])
    draws, _ = bingham.sample_bingham(exponents, 2, np.random.default_rng(7), 1000)
    expected = [sum(1 / (2 * (m - o)) for o in exponents[2:]) for m in exponents[:2]]
    lost = 1 - squares(draws)[:, :2]
    error = lost.std(axis=0) / math.sqrt(len(lost))
    assert np.all(np.abs(lost.mean(axis=0) - expected) < 4 * error + 1e-3 * np.array(expected))


def test_split_r_hat():
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((4000, 4))
    assert bingham.split_r_hat(noise) == pytest.approx(1.0, abs=0.003)
    assert bingham.split_r_hat(noise + np.array([0, 0, 0, 3])) > 1.5
    assert bingham.split_r_hat(noise + np.linspace(0, 3, 4000)[:, None]) > 1.2
    assert bingham.split_r_hat(np.ones((8, 4))) == 1.0
    assert bingham.split_r_hat(np.ones((8, 4)) * [1, 1, 1, 2]) == math.inf
    # By hand: halves (0, 2), (4, 2) of one chain, W = 2, means 1 and 3, B = 4.
    assert bingham.split_r_hat(np.array([[0.0], [2], [4], [2]])) == math.sqrt(1 / 2 + 2 / 2)
