"""Contract tests of every profile: its curve, inverse, scale, and the losses that it draws."""

import math

import numpy as np
import pytest

from mechanisms.privacy.bounded_profile import BoundedProfile
from mechanisms.privacy.chi_square_profile import RaisedVarianceProfile, SwappedVariancesProfile
from mechanisms.privacy.composition import ComposedProfile
from mechanisms.privacy.finite_profile import CapProfile, PureProfile, WishartProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile, mu_for
from mechanisms.privacy.keep_or_noise_profile import KeepOrNoiseProfile
from mechanisms.privacy.laplace_profile import IndependentLaplaceProfile, LaplaceProfile
from mechanisms.privacy.profile import Bounds, PrivacyProfile
from mechanisms.privacy.spherical.spherical_profile import SphericalProfile


def keep_or_noise(noise, keep, components):
    """The profile if `noise` is that of one component and `keep` holds for all components."""
    with np.errstate(divide="ignore"):
        log_keep = np.full(components, np.log(np.float64(keep)))
    return KeepOrNoiseProfile.of(noise=noise.compose(components), log_keep=log_keep)


ONE = LaplaceProfile(l1_sensitivity=1.0, scale=1.0)
PROFILES = {
    "Gaussian": GaussianProfile(mu=1.3),
    "little Gaussian": GaussianProfile(mu=1e-6),
    "loud Gaussian": GaussianProfile(mu=20.0),
    "Laplace": LaplaceProfile(l1_sensitivity=1.5, scale=1.0),
    "Laplace of 4": IndependentLaplaceProfile(components=4, width=0.5, scale=1.0),
    "Laplace with a rest": IndependentLaplaceProfile(components=1, width=0.2, rest=0.1, scale=1.0),
    # This has so many components that losses are drawn as counts of cells.
    "Laplace of 400": IndependentLaplaceProfile(components=400, width=0.05, scale=1.0),
    "Laplace of 50": IndependentLaplaceProfile(components=50, width=0.1, scale=1.0),
    "kept or Gaussian": keep_or_noise(GaussianProfile(mu=0.5), 0.02, 5),
    "kept or Laplace": keep_or_noise(LaplaceProfile(l1_sensitivity=0.5, scale=1.0), 0.02, 3),
    **{
        f"{family.__name__} of {rows}": family(rows=rows, ratio=ratio)
        for family in (RaisedVarianceProfile, SwappedVariancesProfile)
        for rows, ratio in ((1, 0.8), (5, 0.5), (400, 0.25))
    },
    **{
        f"spherical of {size}": SphericalProfile(
            dimension=size, radial_shape=shape, power=power, scale=scale, sensitivity=1.0
        )
        for size, shape, power, scale in (
            (3, 1.0, 2.0, 50.0),
            (16, 1.0, 2.0, 5.0),
            (8, 8.0, 1.0, 1.0),
            (1000, 500.0, 1.5, 0.1),
            (4, 0.05, 0.4, 10.0),
        )
    },
    "pure": PureProfile(largest=0.71),
    "pure thrice": PureProfile(largest=0.71, times=3),
    "cap": CapProfile(largest=2.0, mass=0.6),
    "Wishart": WishartProfile(kappa=0.5),
    "composed": ComposedProfile(base=ONE, times=4),
    "bounded": BoundedProfile(above=ONE, attained_loss=0.5, slack="unknown"),
}
every_profile = pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)


@every_profile
def test_the_curve_falls_between_its_bounds_and_is_the_same_for_arrays(profile):
    epsilon = np.array([[0.0, 1e-6, 0.1], [0.5, 1.0, 3.0]])
    lower, value, upper = profile.log_delta(epsilon)
    assert value.shape == lower.shape == upper.shape == epsilon.shape
    assert (lower <= value).all() and (value <= upper).all() and (upper <= 0).all()
    assert (value.ravel()[1:] <= value.ravel()[:-1] + 1e-12).all()
    single = [profile.log_delta(each).value for each in epsilon.ravel()]
    np.testing.assert_allclose(value.ravel(), single, rtol=1e-13, atol=1e-12)
    assert isinstance(single[0], float) and profile.delta([]).value.size == 0
    assert profile.delta(epsilon).value == pytest.approx(np.exp(value), rel=1e-12)
    largest = profile.largest_loss
    assert math.isinf(largest) or profile.delta(largest * (1 + 1e-9)).upper == 0


@every_profile
def test_epsilon_inverts_delta(profile):
    always = profile.delta(1e9).value
    deltas = always + (profile.delta(0.0).value - always) * np.array([0.99, 0.5, 1e-2, 1e-4])
    found = profile.epsilon(deltas)
    assert (found.lower <= found.value).all() and (found.value <= found.upper).all()
    finite = np.isfinite(found.value) & (found.value > 0)
    assert finite.all() or isinstance(profile, WishartProfile)
    for epsilon, delta in zip(found.value[finite], deltas[finite], strict=True):
        assert profile.delta(epsilon).value == pytest.approx(delta, rel=1e-6)
    for epsilon, delta in zip(found.upper[finite], deltas[finite], strict=True):
        assert profile.delta(epsilon).lower <= delta
    assert profile.epsilon(1.0).value == 0.0
    if not isinstance(profile, BoundedProfile):
        assert profile.epsilon(0.0).value == pytest.approx(profile.largest_loss, rel=1e-6)


@pytest.mark.parametrize(
    "name", sorted(PROFILES.keys() - {"cap", "kept or Gaussian", "kept or Laplace", "composed"})
)
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-5), (0.1, 0.02)])
def test_the_scale_meets_the_budget_and_more_noise_is_more_private(name, epsilon, delta):
    """Tested for profiles that can be scaled to any budget within a second."""
    profile = PROFILES[name]
    scaled = profile.scaled(profile.scale_factor(epsilon, delta))
    assert getattr(scaled.delta(epsilon), scaled.calibrated_curve) == pytest.approx(delta, rel=1e-9)
    louder, quieter = (profile.scaled(factor).log_delta(0.1).value for factor in (0.8, 1.25))
    assert quieter <= profile.log_delta(0.1).value <= louder


def gains(losses, epsilon):
    """The mean of (1 - e^(epsilon - L))_+, and 4.5 standard errors plus three unseen losses."""
    gain = -np.expm1(np.minimum(epsilon - losses, 0))
    return gain.mean(), 4.5 * gain.std() / math.sqrt(gain.size) + 3 / gain.size


# Both are computed from other profiles and have no sampler of losses.
COMPUTED = {"bounded"}


@pytest.mark.parametrize("name", sorted(PROFILES.keys() - COMPUTED))
def test_losses_have_the_stated_delta_alone_and_composed(name):
    profile = PROFILES[name]
    rng, n = np.random.default_rng(3), 60_000
    forward = profile.sample_losses(rng, n)
    backward = profile.sample_losses(rng, n, reverse=True)
    assert not (forward == -np.inf).any() and not (backward == np.inf).any()
    # A convolution of a spherical loss takes seconds.
    thrice = None if isinstance(profile, SphericalProfile) else profile.compose(3)
    for epsilon in (0.0, 0.2, 0.7, 1.2):
        bounds = profile.delta(epsilon)
        for losses in (forward, -backward) if profile.symmetric else (forward,):
            mean, error = gains(losses, epsilon)
            assert abs(mean - bounds.value) < error + bounds.upper - bounds.lower
        if thrice is not None:
            mean, error = gains(forward.reshape(3, -1).sum(axis=0), epsilon)
            total = thrice.delta(epsilon)
            assert total.lower - error < mean < total.upper + error
        try:
            survival = profile.survival(epsilon)
        except NotImplementedError:
            continue
        seen = (forward > epsilon).mean()
        assert abs(seen - survival) < 4.5 * math.sqrt(seen * (1 - seen) / n) + 3 / n


@pytest.mark.parametrize("name", [name for name in PROFILES if not PROFILES[name].symmetric])
def test_losses_of_the_other_side_match_probabilities(name):
    """Under Q the mean of e^L is the probability of the outputs that P can produce."""
    backward = PROFILES[name].sample_losses(np.random.default_rng(3), 200_000, reverse=True)
    weights = np.exp(backward)
    expected = math.exp(-0.5) if name == "Wishart" else 1.0
    error = 4.5 * weights.std() / math.sqrt(weights.size)
    assert weights.mean() == pytest.approx(expected, abs=error + 1e-12)


GAUSSIAN = GaussianProfile(mu=1.0)
SPHERICAL = {"dimension": 4, "radial_shape": 1.0, "power": 2.0, "scale": 1.0, "sensitivity": 1.0}
KEPT = keep_or_noise(GAUSSIAN, 0.5, 1)
BAD = [
    (lambda: GaussianProfile(mu=-1.0), ValueError, "mu must be finite and > 0, got -1.0"),
    (lambda: GaussianProfile(mu="1"), TypeError, "mu must be a real number"),
    (lambda: GAUSSIAN.delta(-0.1), ValueError, "epsilon must be finite and >= 0"),
    (lambda: GAUSSIAN.delta(np.nan), ValueError, "epsilon must be finite"),
    (lambda: GAUSSIAN.delta("x"), TypeError, "epsilon must be a real number"),
    (lambda: GAUSSIAN.epsilon(1.5), ValueError, "delta must lie in"),
    (lambda: GAUSSIAN.compose(0), ValueError, "times must be at least 1"),
    (lambda: GAUSSIAN.compose(1.5), TypeError, "times must be an integer"),
    (lambda: GAUSSIAN.compose(10**20), ValueError, r"times must be at most 2\^53"),
    (lambda: GAUSSIAN.scale_factor(1.0, 0.0), ValueError, "no pure guarantee"),
    (lambda: mu_for(1.0, [0.1, 1.0]), ValueError, "delta must satisfy 0 < delta < 1"),
    (lambda: LaplaceProfile(l1_sensitivity=0.0, scale=1.0), ValueError, "l1_sensitivity must"),
    (lambda: LaplaceProfile(l1_sensitivity=1.0, scale=-1.0), ValueError, "scale must be"),
    (
        lambda: IndependentLaplaceProfile(components=0, width=1.0, scale=1.0),
        ValueError,
        "components must be at least 1, got 0",
    ),
    (lambda: KEPT.scale_factor(0.0, 0.6), ValueError, "epsilon must be finite and > 0"),
    (lambda: KEPT.scale_factor(1.0, 0.4), ValueError, "no scale of the noise reaches"),
    (lambda: PureProfile(largest=0.0), ValueError, "largest must be finite and > 0"),
    (lambda: PureProfile(largest=1.0, times=0), ValueError, "times must be at least 1"),
    (lambda: PureProfile(largest="1"), TypeError, "largest must be a real number"),
    (lambda: PureProfile(largest=1.0).scale_factor(1.0, 1.0), ValueError, "delta must be one"),
    (lambda: CapProfile(largest=1.0, mass=0.9), ValueError, "mass must be at most"),
    (lambda: CapProfile(largest=1.0, mass=0.1).scaled(2.0), ValueError, "adds no noise"),
    (lambda: WishartProfile(kappa=0.0), ValueError, "kappa must be finite and > 0"),
    (lambda: WishartProfile(kappa=np.nan), ValueError, "kappa must be finite and > 0"),
    (lambda: WishartProfile(kappa=0.4).scale_factor(0.7, 0.0), ValueError, "noise moves"),
    *(
        (lambda family=family, given=given: family(**given), error, words)
        for family in (RaisedVarianceProfile, SwappedVariancesProfile)
        for given, error, words in (
            ({"rows": 0, "ratio": 1.0}, ValueError, "rows must be at least 1"),
            ({"rows": 2.5, "ratio": 1.0}, TypeError, "rows must be an integer"),
            ({"rows": 1, "ratio": 0.0}, ValueError, "ratio must be finite"),
            ({"rows": 1, "ratio": 1e-200}, ValueError, "1e-140"),
        )
    ),
    *(
        (lambda change=change: SphericalProfile(**SPHERICAL | change), error, words)
        for change, error, words in (
            ({"dimension": 1}, ValueError, "dimension must be at least 2, got 1"),
            ({"dimension": 3.5}, TypeError, "dimension must be an integer, got 3.5"),
            ({"radial_shape": 4.5}, ValueError, "at most the dimension 4, got 4.5"),
            ({"power": 0.0}, ValueError, "power must be finite and > 0, got 0.0"),
            ({"scale": np.nan}, ValueError, "scale must be finite and > 0"),
            ({"sensitivity": -1.0}, ValueError, "sensitivity must be finite and > 0"),
            ({"scale": "wide"}, TypeError, "scale must be a real number"),
        )
    ),
]


@pytest.mark.parametrize(("call", "error", "words"), BAD)
def test_bad_arguments_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


class WideBounds(PrivacyProfile):
    """delta(epsilon) = exp(-epsilon), known to within a tenth."""

    def _log_delta(self, epsilon):
        return Bounds(np.log(0.9) - epsilon, -epsilon, np.log(1.1) - epsilon)


@pytest.mark.parametrize("delta", [0.5, 0.1, 0.01])
def test_bounds_of_epsilon_are_proven_by_those_of_delta(delta):
    """They stop between once and twice the distance at which a curve crosses delta."""
    found = WideBounds().epsilon(delta)
    assert found.value == pytest.approx(-math.log(delta), rel=1e-12)
    assert 1 <= (found.value - found.lower) / -math.log(0.9) <= 2
    assert 1 <= (found.upper - found.value) / math.log(1.1) <= 2


def test_only_one_release_composes_to_itself():
    once = WideBounds()
    assert once.compose(1) is once
    assert once.compose(2) == ComposedProfile(base=once, times=2)
