"""renyinoise2025: a plain sum against closed forms, and its accountant's formula against that."""

import math

import numpy as np
import pytest

from mechanisms.privacy.gaussian_profile import GaussianProfile
from paper_figures.renyinoise2025.theorems import Binned, exact_delta, published_delta


def geometric(last, ratio):
    return (1 - ratio) / (1 + ratio) * ratio ** np.arange(last + 1.0)


@pytest.mark.parametrize("last", [5, 40])
@pytest.mark.parametrize("shift", [1, 4])
def test_geometric_noise_has_a_closed_form(last, shift):
    """Wherever the tail is said to begin."""
    ratio, epsilon = 0.7, 0.5
    closed = 0.0
    for i in range(-2000, 2001):
        one, other = ratio ** abs(i), ratio ** abs(i - shift)
        closed += max(one - math.exp(epsilon) * other, 0) * (1 - ratio) / (1 + ratio)
    found = exact_delta(geometric(last, ratio), ratio, shift, epsilon)
    assert found == pytest.approx(closed, rel=1e-12, abs=1e-15)


def test_fine_bins_are_gaussian_noise():
    noise = Binned(variance=4.0, bins=400, last=8000, ratio=0.9, epsilons=[0.5])
    masses = noise.masses()
    assert masses[0] + 2 * masses[1:-1].sum() + 2 * masses[-1] / 0.1 == pytest.approx(1, rel=1e-12)
    exact = GaussianProfile(mu=0.5).delta(0.5).value
    assert exact_delta(masses, 0.9, 400, 0.5) == pytest.approx(exact, rel=1e-5)
    assert published_delta(masses, 0.9, 400, 0.5) == pytest.approx(exact, rel=1e-5)


def test_the_formula_by_hand():
    """p = (a, b, c) with ratio 1/2 and a shift of one: the terms of the code, one by one."""
    a, b, c, factor = 0.4, 0.2, 0.05, math.exp(0.1)
    by_hand = (
        c * (0.5 - factor * 0.25) / 0.5
        + max(c - factor * c, 0)
        + (b - factor * c)
        + (a - factor * b)
        + max(b - factor * a, 0)
        + max(0 - factor * b, 0)
    )
    found = published_delta(np.array([a, b, c]), 0.5, 1, 0.1)
    assert found == pytest.approx(by_hand, rel=1e-12)
    exact = exact_delta(np.array([a, b, c]), 0.5, 1, 0.1)
    assert exact == pytest.approx(by_hand + c * (1 - factor / 2), rel=1e-12)


def test_too_little_at_a_few_bins_of_heavy_tails():
    noise = Binned(variance=15707.96, bins=40, last=15000, ratio=0.9999, shifts=5, epsilons=[0.1])
    masses, shifts = noise.masses(), range(1, noise.sensitivity + 1)
    stated, exact = (
        max(delta(masses, noise.ratio, shift, 0.1) for shift in shifts)
        for delta in (published_delta, exact_delta)
    )
    assert stated < 0.8 * exact
