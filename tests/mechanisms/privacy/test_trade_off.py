"""Trade-off curves of profiles against closed forms and against rates of sampled tests."""

import numpy as np
import pytest
from scipy.stats import norm

from mechanisms import Budget, Query, get_mechanism
from mechanisms.privacy.finite_profile import PureProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.trade_off import (
    claimed_true_positive_rate,
    true_positive_rate,
    type_two_error,
)

ALPHA = np.array([0.0, 1e-12, 1e-6, 1e-3, 0.05, 0.3, 0.5, 0.77, 0.999, 1.0])


@pytest.mark.parametrize("mu", [1e-3, 0.3, 1.0, 4.0, 10.0, 20.0, 37.0, 40.0])
def test_gaussian_noise_has_the_curve_of_gaussian_dp(mu):
    """G_mu(alpha) = Phi(PhiInv(1 - alpha) - mu).

    Two Gaussians have the same support: without false positives nothing is detected.
    """
    alpha = np.r_[ALPHA, 1e-320, 1e-250, 1e-100, 1e-17, 1 - 1e-10]
    found = type_two_error(GaussianProfile(mu=mu), alpha)
    exact = norm.cdf(norm.isf(alpha) - mu)
    assert found.value == pytest.approx(exact, rel=1e-9, abs=1e-13)
    assert (found.lower <= found.value).all() and (found.value <= found.upper).all()
    assert (found.lower <= exact * (1 + 1e-9) + 1e-13).all()
    assert (exact <= found.upper * (1 + 1e-9) + 1e-13).all()
    assert true_positive_rate(GaussianProfile(mu=mu), 0.01).value == pytest.approx(
        norm.sf(norm.isf(0.01) - mu), rel=1e-9
    )


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 6.0])
def test_pure_privacy_has_two_lines(epsilon):
    """The curve of randomised response: max(0, 1 - e^eps alpha, e^-eps (1 - alpha))."""
    found = type_two_error(PureProfile(largest=epsilon), ALPHA)
    exact = np.maximum(1 - np.exp(epsilon) * ALPHA, np.exp(-epsilon) * (1 - ALPHA))
    # The profile of a claim is only an upper bound, and so are its rates.
    assert found.lower == pytest.approx(exact, abs=1e-12)
    claimed = claimed_true_positive_rate(epsilon, 0.0, ALPHA)
    assert 1 - claimed == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 5.0])
def test_one_laplace_element(epsilon):
    """Dong et al., (8): lines of slope -e^(+-eps), and e^-eps / (4 alpha) between them."""
    mechanism = get_mechanism("laplace").calibrate(
        Query(shape=(1,), l2_sensitivity=1.0, l1_sensitivity=1.0), Budget(epsilon=epsilon)
    )
    found = type_two_error(mechanism.profile(), ALPHA)
    low, high = np.exp(-epsilon) / 2, 0.5
    with np.errstate(divide="ignore"):
        exact = np.select(
            [low > ALPHA, high >= ALPHA],
            [1 - np.exp(epsilon) * ALPHA, np.exp(-epsilon) / (4 * ALPHA)],
            np.exp(-epsilon) * (1 - ALPHA),
        )
    assert found.value == pytest.approx(exact, rel=1e-8, abs=1e-11)


def test_advantage_is_total_variation():
    alpha = np.linspace(0, 1, 2001)
    curve = type_two_error(GaussianProfile(mu=1.3), alpha).value
    assert np.max(1 - curve - alpha) == pytest.approx(2 * norm.cdf(0.65) - 1, abs=1e-6)


def test_a_claim_with_a_delta_and_a_large_epsilon():
    assert claimed_true_positive_rate(1.0, 0.1, 0.01) == pytest.approx(np.e * 0.01 + 0.1)
    assert claimed_true_positive_rate(800.0, 0.0, 1e-3) == 1.0
    assert claimed_true_positive_rate(800.0, 0.25, 0.0) == 0.25
