"""PLRV-O: its stated epsilon, the exact profile of one number, and the bounds of many."""

import math

import numpy as np
import pytest
from scipy import integrate

from mechanisms import Budget, Query, Unsupported, get_mechanism, verify
from mechanisms.noise.gamma_mixture import GammaMixture
from mechanisms.privacy.fisher import gamma_mixture_mu
from mechanisms.privacy.gamma_mixture_profile import GammaMixtureProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.laplace_profile import LaplaceProfile
from mechanisms.privacy.sampling.l2_ball_moments import (
    ORDERS,
    largest_reach,
    least_epsilon,
    majorant,
    stated_epsilon,
)

BUDGET = Budget(epsilon=1.0, delta=1e-5)


def calibrated(size, calibration="published", **options):
    query = Query(shape=(size,), l2_sensitivity=2.0)
    return get_mechanism("plrv-o").calibrate(query, BUDGET, calibration, **options)


@pytest.mark.parametrize(("order", "theta", "shift"), [(9.0, 0.3, 1.0), (3.0, 2.0, 4.0)])
@pytest.mark.parametrize("epsilon", [0.0, 0.4, 1.5])
def test_the_profile_of_one_number_is_its_integral(order, theta, shift, epsilon):
    def density(x):
        return order * theta / 2 * (1 + theta * abs(x)) ** -(order + 1)

    def gain(x):
        return max(density(x) - math.exp(epsilon) * density(x - shift), 0.0)

    exact = sum(
        integrate.quad(gain, *piece, epsabs=1e-12, limit=400)[0]
        for piece in ((-np.inf, -20), (-20, 0), (0, shift))
    )
    profile = GammaMixtureProfile(order=order, theta=theta, sensitivity=shift)
    assert profile.delta(epsilon).value == pytest.approx(exact, rel=1e-6)


def test_a_large_order_is_laplace_noise():
    epsilon = np.array([0.0, 0.1, 0.5, 0.69])
    mixture = GammaMixtureProfile(order=1e9, theta=1e-9, sensitivity=0.7).delta(epsilon)
    laplace = LaplaceProfile(l1_sensitivity=0.7, scale=1.0).delta(epsilon)
    np.testing.assert_allclose(mixture.value, laplace.value, rtol=1e-6)


def test_sampled_losses_have_the_profile():
    profile = GammaMixtureProfile(order=9.0, theta=0.2, sensitivity=1.0)
    rng = np.random.default_rng(0)
    for losses in (
        profile.sample_losses(rng, 10**5),
        -profile.sample_losses(rng, 10**5, reverse=True),
    ):
        for epsilon in (0.0, 0.5, 1.2):
            gain = -np.expm1(np.minimum(epsilon - losses, 0.0))
            spread = 4 * gain.std() / math.sqrt(losses.size)
            assert abs(gain.mean() - profile.delta(epsilon).value) < spread + 1e-12
            assert abs((losses > epsilon).mean() - profile.survival(epsilon)) < 0.01
    assert profile.delta(profile.largest_loss).upper == 0


def test_draws_have_the_stated_moments_and_rates():
    noise = GammaMixture(shape=(50,), order=20.0, theta=0.1)
    draws = noise.sample(np.random.default_rng(1), 20_000)
    assert np.square(draws).mean() == pytest.approx(2 / (19 * 18 * 0.01), rel=0.02)
    assert noise.loss().mean == pytest.approx(50 * 2 / (19 * 18 * 0.01), rel=1e-12)
    tail = (np.abs(draws) > 1.0).mean()
    assert tail == pytest.approx(1.1**-20, rel=0.02)
    assert noise.scaled(3.0).loss().mean == pytest.approx(9 * noise.loss().mean)


def test_the_majorant_sums_to_roots_and_dominates_random_changes():
    g, times = majorant(400)
    np.testing.assert_allclose(np.cumsum(g), np.sqrt(np.arange(1, 401)))
    assert (times == 1).all()
    rng = np.random.default_rng(2)
    for _ in range(20):
        change = np.sort(np.abs(rng.standard_normal(400) ** 3))[::-1]
        assert (np.cumsum(change / np.linalg.norm(change)) <= np.cumsum(g) * (1 + 1e-12)).all()


def test_the_integral_stands_for_the_sum():
    g, times = majorant(30_000)
    every = np.sqrt(np.arange(1, 30_001)) - np.sqrt(np.arange(30_000))
    assert g @ times == pytest.approx(every.sum(), rel=1e-7)
    assert g**2 @ times == pytest.approx((every**2).sum(), rel=1e-7)


def test_the_stated_epsilon_is_a_direct_sum():
    size, order, reach, delta = 7, 50.0, 2e-3, 1e-5
    found = math.inf
    for power in ORDERS:
        moment = 0.0
        for i in range(1, size + 1):
            step, n = reach * (math.sqrt(i) - math.sqrt(i - 1)), power + 1
            moment += math.log(
                n / (2 * n - 1) * (1 - power * step) ** -order
                + (n - 1) / (2 * n - 1) * (1 + n * step) ** -order
            )
        more = math.log(power / n) - (math.log(delta) + math.log(n)) / power
        found = min(found, moment / power + more)
    assert stated_epsilon(size, order, reach, delta) == pytest.approx(found, rel=1e-10)


@pytest.mark.parametrize("size", [1, 784, 10**6])
def test_theta_states_the_budget(size):
    reach = largest_reach(size, 33000.0, 1.0, 1e-5)
    assert stated_epsilon(size, 33000.0, reach, 1e-5) == pytest.approx(1.0, rel=1e-9)


def test_the_upper_bound_covers_known_changes():
    theta = 2e-5
    noise = GammaMixture(shape=(16,), order=33000.0, theta=theta)
    profile = noise.profile(Query(shape=(16,), l2_sensitivity=2.0))
    epsilon = np.array([0.0, 0.3, 1.0, 2.0])
    upper, lower = profile.delta(epsilon).upper, profile.delta(epsilon).lower
    single = GammaMixtureProfile(order=33000.0, theta=theta, sensitivity=2.0)
    np.testing.assert_allclose(lower, single.delta(epsilon).value, atol=1e-9)
    # In high dimension the spread change tends to a Gaussian pair.
    limit = GaussianProfile(mu=gamma_mixture_mu(33000.0, theta, 2.0))
    assert (limit.delta(epsilon).value < upper).all()
    # Four elements change alike, by sampled losses.
    part = GammaMixtureProfile(order=33000.0, theta=theta, sensitivity=1.0)
    losses = part.sample_losses(np.random.default_rng(0), 4 * 10**5).reshape(-1, 4).sum(axis=1)
    for at, bound in zip(epsilon, upper, strict=True):
        gain = -np.expm1(np.minimum(at - losses, 0.0))
        assert gain.mean() - 4 * gain.std() / math.sqrt(gain.size) < bound
    assert noise.kappa() == pytest.approx(2.0, rel=1e-3)


def test_the_claim_holds_and_has_no_exact_calibration():
    assert verify(calibrated(784)).verdict == "holds"
    assert verify(calibrated(1)).verdict == "loose"
    with pytest.raises(Unsupported, match="worst change of the l2 ball is not known"):
        calibrated(784, "exact")
    exact = calibrated(1, "exact")
    assert exact.profile().delta(1.0).upper == pytest.approx(1e-5, rel=1e-6)


def test_an_epsilon_below_the_last_order_is_refused():
    query = Query(shape=(4,), l2_sensitivity=1.0)
    least = least_epsilon(1e-5)
    with pytest.raises(Unsupported, match=r"states no epsilon of 0.0766 or less"):
        get_mechanism("plrv-o").calibrate(query, Budget(epsilon=least, delta=1e-5))
    with pytest.raises(ValueError, match="number > 8"):
        calibrated(4, k=8)
