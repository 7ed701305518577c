"""Compositions and sampled runs at deltas far below 1e-12, and of releases with tiny losses."""

import math

import numpy as np
import pytest

from mechanisms import Budget, Query, get_mechanism
from mechanisms.__main__ import main
from mechanisms.privacy.composition import CUTS, ComposedProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.laplace_profile import IndependentLaplaceProfile, LaplaceProfile
from mechanisms.privacy.profile import NoScaleError
from mechanisms.privacy.sampling.poisson_sampling import SampledRun, gaussian_epsilon
from mechanisms.privacy.sampling.sampled_profile import sampled
from mechanisms.privacy.spherical.spherical_profile import SphericalProfile


@pytest.mark.parametrize(
    ("mu", "times"),
    [(1.0, 10), (3.0, 3), (0.05, 16), (0.1, 1000), (1e-10, 10), (1e-12, 10), (1e-17, 10)],
)
def test_compositions_enclose_the_gaussian_closed_form_at_every_delta(mu, times):
    exact = GaussianProfile(mu=mu * math.sqrt(times))
    targets = np.array([0.1, 1e-6, 1e-9, 1e-12, 1e-30, 1e-120, 1e-280]) * min(exact.mu, 1.0)
    epsilon = exact.epsilon(targets).value
    lower, value, upper = ComposedProfile(base=GaussianProfile(mu=mu), times=times).delta(epsilon)
    true = exact.delta(epsilon).value
    assert value[:3] == pytest.approx(true[:3], rel=1e-3)
    assert (lower <= true * (1 + 1e-9)).all() and (true * (1 - 1e-9) <= upper).all()
    near = targets >= 1e-30 * min(exact.mu, 1.0)
    assert (upper - lower < 0.02 * true)[near].all() and (upper < 2 * true)[targets > 1e-290].all()


@pytest.mark.parametrize("mu", [1e3, 1e5, 1e8, 1e150])
def test_compositions_of_releases_with_hardly_any_noise(mu):
    """In floating point no negative loss has any mass, so all sums are far above epsilon."""
    exact = GaussianProfile(mu=mu * math.sqrt(10))
    epsilon = exact.mu**2 * np.array([0.0, 0.25, 0.4, 0.5, 0.5 + 3 / exact.mu])
    lower, _, upper = ComposedProfile(base=GaussianProfile(mu=mu), times=10).delta(epsilon)
    true = exact.delta(epsilon).value
    assert (lower <= true).all() and (true <= upper).all()
    assert lower[:2] == pytest.approx(1.0)


@pytest.mark.parametrize("epsilon", [2.0, 4.9, 4.999999])
def test_compositions_of_laplace_noise_near_the_largest_loss(epsilon):
    """delta falls like the fifth power of the distance to the largest loss."""
    base = LaplaceProfile(l1_sensitivity=1.0, scale=1.0)
    exact = IndependentLaplaceProfile(components=5, width=1.0, scale=1.0).log_delta(epsilon)
    bounds = ComposedProfile(base=base, times=5).log_delta(epsilon)
    assert bounds.lower <= exact.upper and exact.lower <= bounds.upper
    assert bounds.upper - bounds.lower < 0.05


def test_the_l2_mechanism_with_hardly_any_loss():
    query = Query(shape=(6,), l2_sensitivity=1.0)
    one = get_mechanism("l2").calibrate(query, Budget(epsilon=1e-12)).profile()
    ten = one.compose(10)
    # Ten nearly normal losses, computed from the variance of one.
    assert ten.delta(0.0).value == pytest.approx(5.17e-13, rel=0.01)
    assert one.delta(0.0).value < ten.delta(0.0).lower < 10 * one.delta(0.0).value
    assert ten.epsilon(0.0).value == pytest.approx(1e-11, rel=1e-9)


# dp_accounting 0.6, PLDAccountant.
BY_PLD = [(1e-11, 2.180), (2e-12, 2.255), (1.01e-12, 2.286), (1e-12, 2.286)]


@pytest.mark.parametrize(("delta", "multiplier"), BY_PLD)
def test_the_noise_of_sampled_runs_by_another_accountant(delta, multiplier):
    run = SampledRun(step=GaussianProfile(mu=1.0), rate=0.01, steps=1000)
    found = run.scale_factor(1.0, delta)
    assert multiplier * (1 - 1e-3) < found < multiplier * 1.003
    # Renyi DP requires no less noise, and only a little more.
    assert 1.0 < gaussian_epsilon(found, 0.01, 1000, delta) < 1.06


@pytest.mark.slow
@pytest.mark.parametrize("delta", [1e-13, 1e-30, 1e-100])
def test_both_bounds_of_sampled_runs_at_every_delta(delta):
    run = SampledRun(step=GaussianProfile(mu=1.0), rate=0.01, steps=1000)
    factor = run.scale_factor(1.0, delta)
    profile = sampled(GaussianProfile(mu=1 / factor), 0.01, 1000)
    bounds = profile.epsilon(delta)
    assert 0.98 < bounds.lower <= bounds.upper < 1.0
    assert bounds.upper < gaussian_epsilon(factor, 0.01, 1000, delta)


def test_the_claim_of_the_moments_accountant_at_a_tiny_delta_is_decided(capsys):
    arguments = "--shape 3 --l2-sensitivity 1 --epsilon 1 --delta 1e-15"
    options = "--option rate=0.01 --option steps=1000"
    assert main(["verify", "moments-accountant", *f"{arguments} {options}".split()]) == 0
    shown = capsys.readouterr().out
    assert "verdict      holds" in shown
    # A number known only up to bounds is not called true.
    assert "true delta" not in shown and "true epsilon" not in shown
    assert "delta        between 1.2" in shown and "between bounds only" in shown


def test_a_run_without_a_sufficient_scale_is_reported():
    profile = ComposedProfile(base=GaussianProfile(mu=1.0), times=3)
    with pytest.raises(NoScaleError, match="below 1e-290 this profile cannot be resolved"):
        profile.scale_factor(1.0, 1e-295)
    assert profile.floor > CUTS[-1]
    with pytest.raises(NoScaleError, match="cannot be resolved"):
        SampledRun(step=GaussianProfile(mu=1.0), rate=0.1, steps=9).scale_factor(1.0, 1e-300)


@pytest.mark.slow
def test_spherical_releases_of_many_shapes_are_composed_and_calibrated_at_tiny_delta():
    base = SphericalProfile(
        dimension=6, radial_shape=6.0, power=2.0, scale=math.sqrt(2), sensitivity=1.0
    )
    three = base.compose(3)
    found = three.scale_factor(1.0, 1e-20)
    assert three.scaled(found).delta(1.0).upper == pytest.approx(1e-20, rel=1e-6)
    # This profile is in fact Gaussian.
    factor = GaussianProfile(mu=math.sqrt(3)).scale_factor(1.0, 1e-20)
    assert found == pytest.approx(factor, rel=2e-3)


def test_heavy_tailed_releases_are_bounded_closely_at_every_epsilon():
    """Losses matter from 1e-3 up to 1e5."""
    base = SphericalProfile(dimension=2410, radial_shape=1, power=2, scale=1e5, sensitivity=1)
    epsilon = np.array([0.01, 0.5, 8.0, 100.0])
    found = base.compose(4).delta(epsilon)
    assert np.all(np.array(found.upper) / np.array(found.lower) < [1.002, 1.001, 1.001, 1.03])
    # At a large epsilon a single release dominates.
    alone = np.array(base.delta(epsilon).value)[2:]
    assert np.all((4 * alone * 0.97 < found.upper[2:]) & (found.lower[2:] < 4 * alone * 1.1))


def test_a_largest_loss_is_still_attained_by_rounded_sums():
    profile = IndependentLaplaceProfile(components=5, width=2.379863120898964e-05, scale=1372.5462)
    assert profile.log_delta(profile.largest_loss).upper == -math.inf
    many = IndependentLaplaceProfile(components=407_804, width=1.0, scale=1e7)
    # The atoms occur together with probability 2^-407804.
    bounds = many.log_delta(np.nextafter(many.largest_loss, 0.0))
    assert bounds.lower <= bounds.value <= bounds.upper < -280_000


@pytest.mark.parametrize("loss", [0.1, 0.7, 17.3])
@pytest.mark.parametrize("times", [2, 7, 50])
def test_compositions_hold_up_to_the_largest_loss(loss, times):
    """There delta depends on the last digit, and rounding is as large as the distance."""
    base = LaplaceProfile(l1_sensitivity=loss, scale=1.0)
    epsilon = loss * times * (1 - 10.0 ** -np.arange(1, 15))
    found, exact = (
        each.delta(epsilon)
        for each in (ComposedProfile(base=base, times=times), base.compose(times))
    )
    assert (found.lower <= exact.upper * (1 + 1e-9)).all()
    assert (exact.lower <= found.upper * (1 + 1e-9)).all()


@pytest.mark.slow
def test_rounding_at_the_largest_loss_is_no_infinite_loss():
    """An error of 1e-16 in one delta would be 1e-13 in all, and triple epsilon."""
    base = LaplaceProfile(l1_sensitivity=0.1, scale=1.0)
    found, exact = (
        each.epsilon(1e-20) for each in (ComposedProfile(base=base, times=333), base.compose(333))
    )
    assert found.lower <= exact.upper and exact.lower <= found.upper
    assert found.upper - found.lower < 1e-3 * found.upper


def test_compositions_of_noise_whose_large_losses_are_rare():
    """No grid contains these losses; the delta of all releases is the sum of single deltas."""
    one = SphericalProfile(dimension=8, radial_shape=1.0, power=2.0, scale=1.0, sensitivity=1.0)
    scaled = one.scaled(one.scale_factor(1.0, 1e-31))
    bounds = scaled.compose(10).delta(1.0)
    assert 9e-31 < bounds.lower <= bounds.upper < 1.1e-30


# Compositions of losses so large that Q underflows: bounds must remain bounds.


def ten_releases(shape, epsilon):
    """Published R1SMG, whose loss of a release is far above epsilon and heavy-tailed."""
    query = Query(shape=shape, l2_sensitivity=2 * math.sqrt(math.prod(shape)))
    budget = Budget(epsilon=epsilon, delta=1e-5)
    return get_mechanism("r1smg").calibrate(query, budget).profile().compose(10)


# The settings with the largest losses, whose bounds are wide, and with the most elements.
LARGEST, MOST = ((2, 10), 1e6), ((1, 26_010), 1.0)


@pytest.mark.parametrize(("shape", "epsilon"), [LARGEST, MOST])
def test_against_draws(shape, epsilon):
    """Compares with E (1 - e^(at - L))_+ over draws of the sum L of ten losses."""
    composed = ten_releases(shape, epsilon)
    losses = composed.sample_losses(np.random.default_rng(0), 20_000)
    for at in np.quantile(losses, [0.01, 0.5, 0.99]):
        terms = -np.expm1(np.minimum(at - losses, 0.0))
        error = 5 * terms.std() / math.sqrt(len(terms))
        bounds = composed.delta(max(at, 0.0))
        if at > 0:
            assert bounds.lower - error <= terms.mean() <= bounds.upper + error
            if (shape, epsilon) == MOST:
                assert bounds.value == pytest.approx(terms.mean(), abs=error + 2e-3)
