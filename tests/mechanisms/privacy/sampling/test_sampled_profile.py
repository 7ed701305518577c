"""Releases on samples: both bounds against numerical integration and each other."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, stats

from mechanisms import Budget, Query, Unsupported, get_mechanism, verify
from mechanisms.privacy.finite_profile import PureProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.laplace_profile import LaplaceProfile
from mechanisms.privacy.sampling.sampled_profile import sampled
from mechanisms.verification.verification import HOLDS, REFUTED

QUERY = Query(shape=(5,), l2_sensitivity=1.0)


def one_step(epsilon, mu, rate):
    """delta of one step where the record is removed, by quadrature over the outputs."""

    def gain(x):
        with_record = (1 - rate) * stats.norm.pdf(x) + rate * stats.norm.pdf(x, mu)
        return max(with_record - np.exp(epsilon) * stats.norm.pdf(x), 0.0)

    return integrate.quad(gain, -10, 10 + mu, limit=500)[0]


def test_one_step_is_exact():
    profile = sampled(GaussianProfile(mu=1.0), 0.1, 1)
    for epsilon in (0.1, 0.5):
        bounds = profile.delta(epsilon)
        assert bounds.value == pytest.approx(one_step(epsilon, 1.0, 0.1), rel=1e-6)
        assert bounds.lower <= bounds.upper < (1 + 1e-12) * bounds.lower


def test_the_claim_of_sampled_releases_is_verified():
    accountant = get_mechanism("moments-accountant")
    budget = Budget(epsilon=1.0, delta=1e-5)
    mechanism = accountant.calibrate(QUERY, budget, rate=0.05, steps=100)
    result = verify(mechanism)
    assert result.verdict == HOLDS
    assert 0.89 < result.true_epsilon.lower <= result.true_epsilon.upper < 1.0
    with pytest.raises(Unsupported, match="between bounds only"):
        accountant.calibrate(QUERY, budget, "exact", rate=0.05, steps=100)
    # The noise for a hundredth of the steps is too little, and the lower bound shows it.
    profile = mechanism.profile().compose(100)
    assert profile.delta(1.0).lower > budget.delta
    assert profile.epsilon(1e-5).lower > 1.0


def test_too_little_noise_for_samples_is_refuted():
    mechanism = get_mechanism("moments-accountant").calibrate(
        QUERY, Budget(epsilon=1.0, delta=1e-5), rate=0.05, steps=100
    )
    weaker = replace(mechanism, noise=mechanism.noise.scaled(0.9))
    assert verify(weaker).verdict == REFUTED


def test_replaced_records_are_not_covered():
    query = Query(shape=(5,), l2_sensitivity=1.0, adjacency="replace")
    mechanism = get_mechanism("moments-accountant").calibrate(
        query, Budget(epsilon=1.0, delta=1e-5), rate=0.05, steps=100
    )
    assert mechanism.profile() is None


def test_the_largest_loss_of_laplace_noise_is_amplified_and_attained():
    total = sampled(LaplaceProfile(l1_sensitivity=0.5, scale=1.0), 0.2, 3)
    largest = 3 * np.log1p(0.2 * np.expm1(0.5))
    assert total.epsilon(0.0) == pytest.approx([largest] * 3, rel=1e-12)
    assert total.epsilon(0.0).lower <= largest <= total.epsilon(0.0).upper
    assert total.delta(1.01 * largest).upper == 0 < total.delta(0.99 * largest).lower
    assert not sampled(PureProfile(largest=0.5), 0.2, 3).epsilon(0.0).lower
