"""Renyi divergences of whole-number noise, against closed forms and bounds that are too small."""

import math

import numpy as np
import pytest
import scipy

from claims.ledger import all_claims
from claims.verdicts import CONFIRMED, CONTRADICTED
from mechanisms.catalogue.counts.integer_mechanisms import skellam_epsilon
from mechanisms.privacy.integer_profile import DiscreteGaussianProfile, SkellamProfile
from paper_figures.integers2021 import divergences
from paper_figures.integers2021.divergences import (
    renyi_bound,
    renyi_divergence,
    skellam,
)

CLAIMS = {claim.id: claim for claim in all_claims()}


@pytest.mark.parametrize("variance", [0.5, 10.0])
@pytest.mark.parametrize("order", [2, 3, 8])
def test_the_discrete_gaussian_attains_its_bound_at_whole_orders(variance, order):
    # Completing the square: the rest is a sum over all whole numbers, shifted by alpha - 1.
    law = DiscreteGaussianProfile(std=math.sqrt(variance))
    assert renyi_divergence(law, order) == pytest.approx(order / (2 * variance), rel=1e-11)


def test_the_divergence_of_skellam_noise_by_the_law_of_scipy():
    numbers = np.arange(-60, 61)
    masses = scipy.stats.skellam(1.5, 1.5).logpmf(numbers)
    terms = 3 * masses[1:] - 2 * masses[:-1]
    expected = scipy.special.logsumexp(terms) / 2
    law = SkellamProfile(std=math.sqrt(3.0))
    assert renyi_divergence(law, 3) == pytest.approx(expected, rel=1e-9)


def test_the_bound_of_skellam_noise_is_the_one_that_the_mechanism_uses():
    variance, delta = 40.0, 1e-5
    orders = 1 + np.exp(np.linspace(-3, 5, 4001))
    best = min(
        skellam(order, variance)
        + (math.log(1 / delta) + (order - 1) * math.log1p(-1 / order) - math.log(order))
        / (order - 1)
        for order in orders
    )
    assert skellam_epsilon(1, variance, delta) == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("name", ["discrete-gaussian-guarantee", "skellam-guarantee"])
def test_bounds_that_hold_and_ones_a_little_smaller(name, monkeypatch):
    claim = CLAIMS[name]
    assert renyi_bound(claim, None).verdict == CONFIRMED
    key = claim.arguments["mechanism"]
    true = divergences.BOUNDS[key]
    # The Skellam bound is attained to 0.2% at the largest variance.
    smaller = {key: lambda order, variance: 0.998 * true(order, variance)}
    monkeypatch.setattr(divergences, "BOUNDS", divergences.BOUNDS | smaller)
    assert renyi_bound(claim, None).verdict == CONTRADICTED
