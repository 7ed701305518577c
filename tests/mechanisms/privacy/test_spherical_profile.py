"""SphericalProfile against 50-digit arithmetic, the Gaussian, known values and sampling."""

import csv

import numpy as np
import pytest
import spherical_reference

from mechanisms.privacy.composition import ComposedProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile, mu_for
from mechanisms.privacy.spherical.spherical_optimum import least_noise
from mechanisms.privacy.spherical.spherical_profile import SphericalProfile

with spherical_reference.TABLE.open() as file:
    TABLE = [
        tuple(float(row[name]) for name in spherical_reference.COLUMNS)
        for row in csv.DictReader(file)
    ]


def spherical(dimension, shape, power, scale, sensitivity=1.0):
    return SphericalProfile(
        dimension=int(dimension),
        radial_shape=shape,
        power=power,
        scale=scale,
        sensitivity=sensitivity,
    )


def r1smg(dimension, epsilon, delta, sensitivity=1.0):
    """R1SMG at its published calibration, and its sigma* (r1smg2024, Theorem 5)."""
    from scipy.special import gammaln

    ratio = gammaln((dimension - 1) / 2) - gammaln(dimension / 2) - np.log(np.pi) / 2
    psi = np.exp(2 / (dimension - 2) * (np.log(delta) + ratio))
    sigma_star = 2 * sensitivity**2 / (epsilon * psi)
    return spherical(dimension, 1.0, 2.0, np.sqrt(2 * sigma_star), sensitivity), sigma_star


@pytest.mark.parametrize("row", TABLE, ids=lambda row: "-".join(f"{v:g}" for v in row[:5]))
def test_delta_agrees_with_the_reference_table(row):
    *parameters, epsilon, expected = row
    bounds = spherical(*parameters).delta(epsilon)
    assert bounds.lower <= bounds.value <= bounds.upper
    # The table holds 20 digits, read here as a float.
    assert bounds.lower * (1 - 1e-15) <= expected <= bounds.upper * (1 + 1e-15)
    assert bounds.value == pytest.approx(expected, rel=1e-7)
    assert bounds.upper / bounds.lower - 1 < 1e-6


def test_the_reference_table_covers_the_grid():
    assert {int(row[0]) for row in TABLE} == {3, 4, 16, 64, 1000, 7921, 10**5, 10**7}
    assert min(row[5] for row in TABLE) < 1.1e-15 and max(row[5] for row in TABLE) > 0.29


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


@pytest.mark.parametrize(
    ("dimension", "claimed_epsilon", "claimed_delta", "sensitivity", "sigma_star", "known"),
    [
        (3, 0.3, 1e-5, 1.0, None, {0.3: 1.853e-6}),
        (4, 1.0, 1e-5, 1.0, 4.0e5, {1.0: 9.04e-4}),
        (16, 1.0, 1e-5, 1.0, 12.95, {1.0: 0.4417}),
        (64, 1.0, 1e-5, 1.0, 3.122, {1.0: 0.9280}),
        (7921, 1e-5, 1e-7, np.sqrt(2), 4.02110e5, {1e-5: 0.21664, 1.0: 0.095716, 10.0: 0.034571}),
    ],
)
def test_r1smg_anchors(dimension, claimed_epsilon, claimed_delta, sensitivity, sigma_star, known):
    profile, actual = r1smg(dimension, claimed_epsilon, claimed_delta, sensitivity)
    if sigma_star:
        assert actual == pytest.approx(sigma_star, rel=3e-4)
    for epsilon, delta in known.items():
        assert profile.delta(epsilon).value == pytest.approx(delta, rel=6e-4)


@pytest.mark.parametrize("dimension", [2, 5, 40])
@pytest.mark.parametrize("power", [0.5, 1.0])
def test_pure_guarantee_of_members_with_bounded_loss(dimension, power):
    profile = spherical(dimension, float(dimension), power, 4.0)
    largest = 0.25**power
    assert profile.largest_loss == largest
    assert profile.delta([largest, 2 * largest]).upper.tolist() == [0.0, 0.0]
    assert profile.delta(0.9 * largest).value > 0
    assert profile.epsilon(0.0).value == largest
    assert profile.scaled(profile.scale_factor(0.7, 0.0)).largest_loss == pytest.approx(0.7)


def test_unbounded_losses_are_never_pure():
    for shape, power in ((5.0, 1.1), (4.9, 1.0)):
        assert spherical(5, shape, power, 1.0).epsilon(0.0).value == np.inf
        with pytest.raises(ValueError, match="no pure guarantee"):
            spherical(5, shape, power, 1.0).scale_factor(1.0, 0.0)


@pytest.mark.parametrize(
    ("dimension", "shape", "power"),
    [(2, 2.0, 1.0), (3, 1.0, 2.0), (4, 0.5, 0.7), (16, 8.0, 4.0), (7921, 1.0, 2.0)],
)
def test_delta_falls_with_epsilon_and_rises_with_the_distance(dimension, shape, power):
    # The proof that the pair at distance s is the worst one is in the module; this is its check.
    epsilon = np.array([0.0, 0.01, 0.1, 0.5, 1.0, 3.0])
    before = np.full(epsilon.size, -np.inf)
    for distance in np.geomspace(1e-3, 30, 12):
        log_delta = spherical(dimension, shape, power, 1.0, distance).log_delta(epsilon).value
        finite = np.isfinite(log_delta)
        assert (np.diff(log_delta[finite]) <= 1e-12).all()
        assert (log_delta >= before - 1e-12).all()
        before = log_delta


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


@pytest.mark.parametrize("dimension", [4, 7921])
def test_epsilon_inverts_delta(dimension):
    profile, _ = r1smg(dimension, 1.0, 1e-5)
    deltas = profile.delta(0.0).value * np.array([0.9, 0.01, 1e-6])
    bounds = profile.epsilon(deltas)
    np.testing.assert_allclose(profile.delta(bounds.value).value, deltas, rtol=1e-9)
    assert (profile.delta(bounds.upper).value <= deltas).all()
    assert (profile.delta(bounds.lower).value >= deltas).all()
    assert profile.epsilon(1.0).value == 0.0


def solve_scale(epsilon, delta, *, sensitivity, **kind):
    """The scale at which spherical noise has exactly delta(epsilon) = delta."""
    unit = SphericalProfile(scale=sensitivity, sensitivity=sensitivity, **kind)
    return sensitivity * unit.scale_factor(epsilon, delta)


def test_solve_scale_of_r1smg_anchor():
    scale = solve_scale(1.0, 1e-5, dimension=16, radial_shape=1.0, power=2.0, sensitivity=1.0)
    assert spherical(16, 1.0, 2.0, scale).expected_square == pytest.approx(3.03e10, rel=1e-3)
    assert 16 / mu_for(1.0, 1e-5) ** 2 == pytest.approx(223, rel=5e-3)


@pytest.mark.parametrize("delta", [1e-15, 1e-5, 0.3, 0.999])
@pytest.mark.parametrize(
    ("dimension", "shape", "power"), [(3, 3.0, 1.0), (16, 1.0, 2.0), (10**6, 10.0**6, 1.5)]
)
def test_solve_scale_reaches_delta(dimension, shape, power, delta):
    kind = {"dimension": dimension, "radial_shape": shape, "power": power, "sensitivity": 2.5}
    scale = solve_scale(0.4, delta, **kind)
    # Near the pure limit of the l2 mechanism neighbouring scales differ by more than 1e-9.
    steep = shape == dimension and power <= 1 and delta < 1e-10
    reached = SphericalProfile(**kind, scale=scale).delta(0.4).value
    assert reached == pytest.approx(delta, rel=1e-6 if steep else 1e-9)


def test_solve_scale_of_the_gaussian_member_is_the_analytic_gaussian():
    for dimension in (2, 100, 10**7):
        scale = solve_scale(
            1.0,
            1e-5,
            dimension=dimension,
            radial_shape=float(dimension),
            power=2.0,
            sensitivity=1.0,
        )
        assert scale / np.sqrt(2) == pytest.approx(3.73063163481594, rel=1e-11)


@pytest.mark.parametrize(
    ("dimension", "shape", "power", "scale", "known"),
    [
        # The half-normal radius of R1SMG: sigma*.
        (9, 1.0, 2.0, np.sqrt(2), 1.0),
        # Gaussian: M sigma^2, without loss of digits at large M.
        (10**7, 1e7, 2.0, np.sqrt(2), 1e7),
        # The l2 mechanism: M (M + 1) b^2.
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


def test_composition_of_the_gaussian_member_is_gaussian():
    profile = spherical(20, 20.0, 2.0, 5 * np.sqrt(2)).compose(10)
    assert isinstance(profile, ComposedProfile)
    epsilon = np.array([0.0, 0.5, 1.0, 2.0, 3.0])
    exact = GaussianProfile(mu=np.sqrt(10) / 5).delta(epsilon).value
    bounds = profile.delta(epsilon)
    assert (bounds.lower <= exact).all() and (exact <= bounds.upper).all()
    np.testing.assert_allclose(bounds.value, exact, rtol=1e-4)
    np.testing.assert_allclose(bounds.lower, bounds.upper, rtol=2e-2)


def test_composition_once_is_the_profile_itself():
    profile = spherical(3, 1.0, 2.0, 5.0)
    assert profile.compose(1) is profile


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"dimension": 1}, ValueError, "dimension must be at least 2, got 1"),
        ({"dimension": 3.5}, TypeError, "dimension must be an integer, got 3.5"),
        (
            {"radial_shape": 4.5},
            ValueError,
            "radial_shape must be at most the dimension 4, got 4.5",
        ),
        ({"power": 0.0}, ValueError, "power must be finite and > 0, got 0.0"),
        ({"scale": np.nan}, ValueError, "scale must be finite and > 0"),
        ({"sensitivity": -1.0}, ValueError, "sensitivity must be finite and > 0"),
        ({"scale": "wide"}, TypeError, "scale must be a real number"),
    ],
)
def test_bad_arguments_are_named(change, error, words):
    good = {"dimension": 4, "radial_shape": 1.0, "power": 2.0, "scale": 1.0, "sensitivity": 1.0}
    with pytest.raises(error, match=words):
        SphericalProfile(**{**good, **change})


@pytest.mark.parametrize("dimension", [3, 16, 1000, 26_010, 10**6])
@pytest.mark.parametrize("epsilon", [1e-5, 0.71, 5.42])
def test_the_l2_mechanism_is_purely_private_at_its_largest_loss(dimension, epsilon):
    profile = spherical(dimension, float(dimension), 1.0, 1 / epsilon)
    assert profile.delta(epsilon) == (0.0, 0.0, 0.0)
    assert np.isfinite(profile.delta(0.99 * epsilon).value)
    assert profile.epsilon(0.0).value == pytest.approx(epsilon, rel=1e-12)
    assert 0 < profile.scale_factor(epsilon, 3.33e-7) < 1
