"""SphericalProfile against 50-digit arithmetic, the Gaussian, closed forms and finer rules."""

import mpmath as mp
import numpy as np
import pytest
import spherical_reference

from mechanisms.privacy import numerics
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.spherical import spherical_balls, spherical_panels, spherical_profile
from mechanisms.privacy.spherical.spherical_optimum import least_noise
from mechanisms.privacy.spherical.spherical_profile import SphericalProfile

TABLE = spherical_reference.rows()


def spherical(dimension, shape, power, scale, sensitivity=1.0):
    return SphericalProfile(
        dimension=int(dimension),
        radial_shape=shape,
        power=power,
        scale=scale,
        sensitivity=sensitivity,
    )


@pytest.mark.parametrize("row", TABLE, ids=lambda row: "-".join(f"{v:g}" for v in row[:5]))
def test_delta_agrees_with_the_reference_table(row):
    *parameters, epsilon, expected = row
    bounds = spherical(*parameters).delta(epsilon)
    assert bounds.lower <= bounds.value <= bounds.upper
    # The table holds 20 digits, read here as a float.
    assert bounds.lower * (1 - 1e-15) <= expected <= bounds.upper * (1 + 1e-15)
    assert bounds.value == pytest.approx(expected, rel=1e-7)
    assert bounds.upper / bounds.lower - 1 < 1e-6


def test_reference_table_recomputed():
    *case, expected = TABLE[9]
    again = spherical_reference.reference_delta(int(case[0]), *case[1:])
    assert float(again) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("dimension", [2, 3, 50, 1000, 10**5, 10**7])
@pytest.mark.parametrize("mu", [1e-6, 0.05, 1.0, 5.0, 30.0])
def test_gaussian_member_has_the_gaussian_profile(dimension, mu):
    epsilon = np.array([0.0, 1e-7, 0.01, 0.3, 1.0, 3.0, 10.0, 100.0])
    exact = GaussianProfile(mu=mu).log_delta(epsilon).value
    seen = exact > -600
    bounds = spherical(dimension, float(dimension), 2.0, np.sqrt(2) / mu).log_delta(epsilon[seen])
    np.testing.assert_allclose(bounds.value, exact[seen], rtol=0, atol=1e-9)
    assert (bounds.lower <= exact[seen] + 1e-13).all()
    assert (exact[seen] - 1e-13 <= bounds.upper).all()


def test_unbounded_losses_are_never_pure():
    for shape, power in ((5.0, 1.1), (4.9, 1.0)):
        assert spherical(5, shape, power, 1.0).epsilon(0.0).value == np.inf
        with pytest.raises(ValueError, match="no pure guarantee"):
            spherical(5, shape, power, 1.0).scale_factor(1.0, 0.0)


def test_delta_depends_on_sensitivity_over_scale_only():
    small = spherical(16, 1.0, 2.0, 1e-120, 2e-121).delta(1.0).value
    large = spherical(16, 1.0, 2.0, 1e120, 2e119).delta(1.0).value
    assert small == pytest.approx(large, rel=1e-12)


def test_enormous_and_vanishing_noise():
    assert spherical(16, 1.0, 2.0, 1e-12).delta(1.0).value == pytest.approx(1.0, abs=1e-9)
    nearly_none = spherical(1000, 1000.0, 2.0, 1e9).delta(1.0)
    assert nearly_none.lower == 0.0 and nearly_none.upper < 1e-300
    faint = spherical(4, 1.0, 2.0, 1e200).delta(1.0)
    assert 0 < faint.lower <= faint.upper < 1e-199


@pytest.mark.parametrize("delta", [1e-15, 1e-5, 0.3, 0.999])
@pytest.mark.parametrize(
    ("dimension", "shape", "power"), [(3, 3.0, 1.0), (16, 1.0, 2.0), (10**6, 10.0**6, 1.5)]
)
def test_the_scale_reaches_delta(dimension, shape, power, delta):
    unit = spherical(dimension, shape, power, 2.5, 2.5)
    scaled = unit.scaled(unit.scale_factor(0.4, delta))
    # Near the pure limit of the l2 mechanism neighbouring scales differ by more than 1e-9.
    steep = shape == dimension and power <= 1 and delta < 1e-10
    assert scaled.delta(0.4).value == pytest.approx(delta, rel=1e-6 if steep else 1e-9)


@pytest.mark.parametrize(
    ("dimension", "shape", "power", "scale", "known"),
    [
        # The half-normal radius of R1SMG has sigma*.
        (9, 1.0, 2.0, np.sqrt(2), 1.0),
        # The Gaussian has M sigma^2, without loss of digits at large M.
        (10**7, 1e7, 2.0, np.sqrt(2), 1e7),
        # The l2 mechanism has M (M + 1) b^2.
        (5, 5.0, 1.0, 3.0, 270.0),
    ],
)
def test_expected_square(dimension, shape, power, scale, known):
    found = spherical(dimension, shape, power, scale).expected_square
    assert found == pytest.approx(known, rel=1e-14)


@pytest.mark.parametrize(("dimension", "epsilon", "delta"), [(3, 1.0, 1e-5), (30, 0.5, 0.05)])
def test_least_noise_beats_its_members(dimension, epsilon, delta):
    best = least_noise(epsilon, delta, dimension=dimension, sensitivity=2.0)
    assert best.delta(epsilon).value == pytest.approx(delta, rel=1e-9)

    def least_of(shape, power):
        unit = spherical(dimension, shape, power, 2.0, sensitivity=2.0)
        return unit.scaled(unit.scale_factor(epsilon, delta)).expected_square

    for power in (1.0, 2.0):
        assert best.expected_square <= least_of(float(dimension), power)
    # A local minimum, to its stated tolerance.
    for shape, power in ((0.97, 1.0), (1.0, 0.97), (1.0, 1.03)):
        near = least_of(best.radial_shape * shape, best.power * power)
        assert best.expected_square <= near * (1 + 1e-4)


@pytest.mark.parametrize("dimension", [3, 16, 1000, 26_010, 10**6])
@pytest.mark.parametrize("epsilon", [1e-5, 0.71, 5.42])
def test_the_l2_mechanism_is_purely_private_at_its_largest_loss(dimension, epsilon):
    profile = spherical(dimension, float(dimension), 1.0, 1 / epsilon)
    assert profile.delta(epsilon) == (0.0, 0.0, 0.0)
    assert np.isfinite(profile.delta(0.99 * epsilon).value)
    assert profile.epsilon(0.0).value == pytest.approx(epsilon, rel=1e-12)
    assert 0 < profile.scale_factor(epsilon, 3.33e-7) < 1


# The integral behind SphericalProfile: a finer rule, and both ends of epsilon.


def root(rising, high):
    """The root of a rising function in [0, high], to 40 digits."""
    low = mp.mpf(0)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(middle) > 0 else (middle, high)
    return low


@pytest.mark.parametrize(
    ("dimension", "power", "ratio", "epsilon"),
    [
        (4, 0.1, 4.261127120867171e26, 460.20618092493055),
        (6, 0.25, 6215.327840012402, 8.879039774684461),
        (3, 0.25, 186080537.03828514, 116.79526451233617),
        (3, 0.5, 0.0023651965630908083, 0.04863328647834568),
    ],
)
def test_delta_next_to_the_pure_guarantee(dimension, power, ratio, epsilon):
    # For a = M the noise is uniform in a ball with (R / b)^p ~ Gamma(M / p + 1). Up to some radius
    # it does not meet the other ball; from a slightly larger radius on, it lies within it.
    with mp.workdps(60):
        p, s, e = mp.mpf(power), mp.mpf(ratio), mp.mpf(epsilon)
        apart = root(lambda v: v ** (1 / p) + (v + e) ** (1 / p) - s, 2 * (s**p - e))
        inside = root(lambda v: (v + e) ** (1 / p) - v ** (1 / p) - s, 2 * (s**p - e))
        order = dimension / p + 1
        low, high = (mp.log(mp.gammainc(order, 0, v, regularized=True)) for v in (apart, inside))
    assert high - low < 3e-8
    profile = spherical(dimension, float(dimension), power, 1.0, ratio)
    bounds = profile.log_delta(epsilon)
    assert bounds.lower <= high and low <= bounds.upper
    # The tolerance is the effect of about four units in the last place of epsilon.
    slope = np.expm1(np.log(profile.survival(epsilon)) - bounds.value)
    assert abs(bounds.value - low) <= 1e-9 + 4 * numerics.ULP * epsilon * slope


def test_delta_too_small_to_resolve_is_below_the_stated_bound():
    # s / r is about e^-720 where most of the noise lies.
    bounds = spherical(2, 2.0, 0.1, 1e300, 1.0).log_delta(0.0)
    assert bounds.lower == bounds.value == -np.inf and bounds.upper == -700


def test_bounds_at_an_enormous_epsilon():
    bounds = spherical(2, 2.0, 30.0, 1.0, 1e300).log_delta(1e300)
    assert bounds.lower <= bounds.value <= bounds.upper


def random_noise(rng):
    """Spherical noise of random dimension, shape and power, with shifts far below to above it."""
    dimension = int(rng.choice([2, 3, 4, 6, 12, 13, 40, 300, 7921, 10**6]))
    share = rng.choice([1.0, 1 / dimension, 0.5, rng.random(), 0.02 / dimension])
    shape, power = dimension * float(share), float(rng.choice([0.5, 1.0, 1.5, 2.0, 5.0]))
    width = np.exp(np.log(shape / power) / power) / np.sqrt(dimension)
    return spherical_balls.SphericalLaw(dimension, shape, power, width * 10 ** rng.uniform(-2.5, 2))


def test_a_finer_rule_that_leaves_out_less_is_within_the_stated_error(monkeypatch):
    rng = np.random.default_rng(8)
    noises = [random_noise(rng) for _ in range(80)]
    epsilon = np.array([0.0, 1e-6, 1e-3, 0.1, 0.7, 3.0, 12.0, 60.0])
    quick = [spherical_profile.estimate(noise, epsilon) for noise in noises]
    monkeypatch.setattr(spherical_profile, "_OUTER", (30, 44))
    monkeypatch.setattr(spherical_profile, "_INNER", (34, 48))
    monkeypatch.setattr(spherical_panels, "_DEVIATIONS", 1.5)
    monkeypatch.setattr(spherical_panels, "_FALL", 6.0)
    monkeypatch.setattr(spherical_balls, "_CUT", 36.0)
    monkeypatch.setattr(spherical_panels, "_CUT", 42.0)
    for noise, found in zip(noises, quick, strict=True):
        # Beyond it delta is zero, and near it so steep that rounding dominates.
        seen = epsilon < 0.99 * (noise.ratio**noise.power if noise.gap == 0 else np.inf)
        seen &= found.log_delta > spherical_panels.LOG_LEFT_OUT
        fine = spherical_profile.estimate(noise, epsilon)
        differs = np.abs(found.log_delta[seen] - fine.log_delta[seen])
        assert (differs <= 2 * found.relative_error[seen] + 1e-10).all(), noise
        assert (found.relative_error[seen] < 1e-8).all(), noise
        # Panels are halved for delta alone.
        differs = np.abs(found.log_survival[seen] - fine.log_survival[seen])
        assert (differs < 1e-8).all(), noise


@pytest.mark.parametrize(
    ("dimension", "shape", "power", "ratio"),
    [(2, 2.0, 1.0, 3.0), (5, 1.0, 2.0, 0.1), (12, 0.02, 1.0, 1e-13), (7921, 0.3, 2.0, 1e-6)],
)
def test_each_side_loses_half_of_the_complement_of_delta_0(dimension, shape, power, ratio):
    # The pair is symmetric: delta(0) = P(L > 0) - P(L < 0), and L = 0 has probability zero.
    noise = spherical_balls.SphericalLaw(dimension, shape, power, ratio)
    found = spherical_profile.estimate(noise, np.zeros(1))
    expected = (1 + np.exp(found.log_delta)) / 2
    np.testing.assert_allclose(np.exp(found.log_survival), expected, rtol=1e-8)
