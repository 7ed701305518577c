"""Both bounds for releases on samples, against dp-accounting, closed forms and each other."""

from dataclasses import replace

import numpy as np
import pytest

from mechanisms import Budget, Query, Unsupported, get_mechanism, verify
from mechanisms.privacy.finite_profile import PureProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.laplace_profile import LaplaceProfile
from mechanisms.privacy.sampling.sampled_profile import sampled
from mechanisms.verification.verification import HOLDS, REFUTED

QUERY = Query(shape=(5,), l2_sensitivity=1.0)
GRAM = Query(
    shape=(2, 2), structure="gram", record_bound=1.0, l1_sensitivity=1.0, linf_sensitivity=0.5
)
# Multiplier, rate, steps, delta at random, and epsilon by dp-accounting 0.6.0: its pessimistic
# distributions with connect-the-dots at a discretization interval of 1e-5.
RUNS = [
    (2.763, 0.0723, 491, 1e-06, 2.843948),
    (0.665, 0.00762, 253, 1e-05, 2.860036),
    (0.936, 0.01, 8517, 1e-06, 7.200452),
    (3.294, 0.0876, 229, 1e-06, 1.896201),
    (2.166, 0.00138, 631, 1e-06, 0.0615964),
    (1.004, 0.106, 29, 1e-06, 5.075707),
    (3.126, 0.00333, 5221, 1e-08, 0.3894637),
    (3.139, 0.0011, 1623, 1e-08, 0.066597),
    (1.559, 0.0101, 70, 1e-05, 0.235098),
    (1.111, 0.0716, 142, 1e-05, 4.836031),
    (2.258, 0.0108, 2866, 1e-05, 1.021503),
    (0.938, 0.00544, 2883, 1e-06, 2.098608),
    (1.568, 0.0035, 21, 1e-06, 0.0563658),
    (3.524, 0.00158, 3814, 1e-06, 0.1037302),
    (3.645, 0.0083, 6736, 1e-06, 0.7971546),
    (1.723, 0.00357, 2004, 1e-05, 0.3548895),
    (2.197, 0.0117, 79, 1e-08, 0.2755933),
    (2.024, 0.00176, 1476, 1e-08, 0.1732656),
    (1.226, 0.0688, 66, 1e-06, 3.185921),
    (1.259, 0.0686, 212, 1e-05, 4.526411),
    (2.368, 0.0726, 51, 1e-06, 1.093795),
    (2.996, 0.00838, 622, 1e-08, 0.3606425),
    (1.49, 0.161, 143, 1e-06, 8.165832),
    (0.601, 0.00927, 1012, 1e-06, 8.184978),
    (3.536, 0.133, 152, 1e-05, 1.943764),
    (0.857, 0.0784, 53, 1e-08, 8.60286),
    (1.294, 0.00148, 4138, 1e-08, 0.4410272),
    (0.782, 0.0163, 99, 1e-08, 4.161132),
    (1.525, 0.0187, 38, 1e-08, 0.6296651),
    (1.0, 0.01, 10_000, 1e-5, 6.187713),
]


@pytest.mark.parametrize(("multiplier", "rate", "steps", "delta", "theirs"), RUNS)
def test_epsilon_of_gaussian_runs_matches_dp_accounting(multiplier, rate, steps, delta, theirs):
    found = sampled(GaussianProfile(mu=1 / multiplier), rate, steps).epsilon(delta)
    # Their number is an upper bound too, and rounded.
    assert theirs - 1e-5 < found.value <= found.upper < theirs + 3e-4
    assert 0.97 * theirs < found.lower < theirs + 1e-6


def test_the_claim_of_sampled_releases_is_verified():
    accountant = get_mechanism("moments-accountant")
    budget = Budget(epsilon=1.0, delta=1e-5)
    mechanism = accountant.calibrate(QUERY, budget, rate=0.05, steps=100)
    result = verify(mechanism)
    assert result.verdict == HOLDS
    assert 0.89 < result.true_epsilon.lower <= result.true_epsilon.upper < 1.0
    with pytest.raises(Unsupported, match="between bounds only"):
        accountant.calibrate(QUERY, budget, "exact", rate=0.05, steps=100)
    # Only a pair that is known to exist bounds delta from below.
    bounds = accountant.calibrate(GRAM, budget, rate=0.5).profile().delta(0.5)
    assert bounds.lower == pytest.approx(3.43e-5, rel=1e-2) and bounds.upper > 1e-3


def test_too_little_noise_for_samples_is_refuted():
    mechanism = get_mechanism("moments-accountant").calibrate(
        QUERY, Budget(epsilon=1.0, delta=1e-5), rate=0.05, steps=100
    )
    weaker = replace(mechanism, noise=mechanism.noise.scaled(0.9))
    assert verify(weaker).verdict == REFUTED


def test_the_largest_loss_of_laplace_noise_is_amplified_and_attained():
    total = sampled(LaplaceProfile(l1_sensitivity=0.5, scale=1.0), 0.2, 3)
    largest = 3 * np.log1p(0.2 * np.expm1(0.5))
    assert total.epsilon(0.0) == pytest.approx([largest] * 3, rel=1e-12)
    assert total.epsilon(0.0).lower <= largest <= total.epsilon(0.0).upper
    assert total.delta(1.01 * largest).upper == 0 < total.delta(0.99 * largest).lower
    assert not sampled(PureProfile(largest=0.5), 0.2, 3).epsilon(0.0).lower
