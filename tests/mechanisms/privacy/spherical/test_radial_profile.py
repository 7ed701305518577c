"""Profiles of radial noise against other families and against another integral."""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy

from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.spherical.radial_profile import RadialProfile
from mechanisms.privacy.spherical.spherical_profile import SphericalProfile


@dataclass(frozen=True)
class Gamma:
    """f = r^(a - M) e^(-r^p), with gap = M - a."""

    gap: float
    power: float

    def log_density(self, radius):
        return -self.gap * np.log(radius) - radius**self.power

    def steepness(self, radius):
        return self.gap + self.power * radius**self.power


@dataclass(frozen=True)
class Student:
    freedom: float
    size: int

    def log_density(self, radius):
        return -(self.freedom + self.size) / 2 * np.log1p(radius**2 / self.freedom)

    def steepness(self, radius):
        return (self.freedom + self.size) / (1 + self.freedom / radius**2)

    def sample_radius(self, rng, trials):
        return np.sqrt(self.size * rng.f(self.size, self.freedom, trials))


def direct_delta(freedom, size, shift, epsilon):
    """P(S) - e^epsilon Q(S) for the best S of this shift, by the radius and the cosine."""
    growth = np.expm1(2 * epsilon / (freedom + size))
    cosine = scipy.stats.beta((size - 1) / 2, (size - 1) / 2, -1, 2)
    law = scipy.stats.f(size, freedom)

    def share(u, sign):
        r = np.sqrt(size * law.ppf(u))
        # S: ||x - d||^2 >= (1 + growth) ||x||^2 + freedom * growth, with x or x + d drawn.
        if sign > 0:
            limit = (shift**2 - growth * (r**2 + freedom)) / (2 * shift * r)
            return cosine.cdf(limit)
        inner = (r**2 - freedom * growth) / (1 + growth)
        return cosine.cdf((inner - r**2 - shift**2) / (2 * shift * r))

    nodes, weights = np.polynomial.legendre.leggauss(6)
    # Panels are finer towards both ends of the unit interval, where the quantile has no derivative.
    # They are short everywhere, because for M = 3 the share has a kink where the cosine leaves
    # [-1, 1].
    ends = np.concatenate([[0], np.logspace(-14, -3, 150), np.linspace(1e-3, 0.5, 1500)[1:]])
    edges = np.concatenate([ends, 1 - ends[-2::-1]])
    half = np.diff(edges)[:, None] / 2
    u = edges[:-1, None] + half * (1 + nodes)
    return float(np.sum(half * weights * (share(u, 1) - np.exp(epsilon) * share(u, -1))))


@pytest.mark.parametrize("dimension", [3, 20, 1000, 1_000_000])
def test_the_gaussian(dimension):
    scale, epsilon = 4.0, np.array([0.0, 0.1, 0.8])
    profile = RadialProfile(
        dimension=dimension, density=Gamma(0.0, 2.0), scale=scale * 2**0.5, sensitivity=1.0
    )
    found, exact = profile.delta(epsilon), GaussianProfile(mu=1 / scale).delta(epsilon).value
    assert np.all((found.lower <= exact) & (exact <= found.upper))
    assert found.value == pytest.approx(exact, rel=1e-8 + 1e-12 * dimension)


@pytest.mark.parametrize(
    ("dimension", "shape", "power"),
    [(3, 3, 1), (500, 500, 1), (3, 1, 2), (1000, 1, 2), (50, 30, 1.5)],
)
def test_l2_r1smg_and_gamma(dimension, shape, power):
    gamma = SphericalProfile(
        dimension=dimension, radial_shape=shape, power=power, scale=1.0, sensitivity=1.0
    )
    scale = gamma.scale_factor(1.0, 1e-5)
    profile = RadialProfile(
        dimension=dimension, density=Gamma(dimension - shape, power), scale=scale, sensitivity=1.0
    )
    epsilon = np.array([0.0, 0.5, 1.0])
    expected = gamma.scaled(scale).delta(epsilon).value
    assert profile.delta(epsilon).value == pytest.approx(expected, rel=1e-8)
    assert profile.scale_factor(1.0, 1e-5) == pytest.approx(1.0, rel=1e-8)


@pytest.mark.parametrize("freedom", [3, 5, 30])
@pytest.mark.parametrize("size", [3, 10, 100, 1000])
def test_student_t_over_shifts(freedom, size):
    shifts, scale = np.linspace(0.125, 1.0, 8), 0.4
    for epsilon in (0.1, 0.5):
        exact = [direct_delta(freedom, size, shift / scale, epsilon) for shift in shifts]
        profile = RadialProfile(
            dimension=size, density=Student(freedom, size), scale=scale, sensitivity=1.0
        )
        assert profile.delta(epsilon).value == pytest.approx(exact[-1], rel=1e-7)
        assert max(exact) == exact[-1]


@pytest.mark.parametrize("freedom", [3, 5, 30])
@pytest.mark.parametrize("size", [2, 100, 1_000_000])
def test_the_law_of_the_radius_is_that_of_the_density(freedom, size):
    profile = RadialProfile(
        dimension=size, density=Student(freedom, size), scale=2.0, sensitivity=1.0
    )
    share = np.array([0.0, 0.1, 0.5, 1.0, 2.0, 10.0, 1e9])
    found = profile.survival(2 * np.sqrt(size * share))
    assert found == pytest.approx(scipy.stats.f.sf(share, size, freedom), abs=1e-9)
    mean = 4 * size * freedom / (freedom - 2)
    assert profile.log_mean_square() == pytest.approx(np.log(mean), abs=1e-6)


def test_an_infinite_mean_square_is_refused():
    profile = RadialProfile(dimension=4, density=Student(2, 4), scale=1.0, sensitivity=1.0)
    with pytest.raises(ValueError, match="is infinite, or nearly"):
        profile.log_mean_square()


def test_losses_have_this_profile():
    profile = RadialProfile(dimension=6, density=Student(5, 6), scale=1.0, sensitivity=1.0)
    losses = profile.sample_losses(np.random.default_rng(1), 400_000)
    gains = np.maximum(-np.expm1(0.3 - losses), 0.0)
    error = gains.std() / gains.size**0.5
    assert abs(gains.mean() - profile.delta(0.3).value) < 4 * error


@pytest.mark.parametrize(
    ("factor", "message"),
    [
        (lambda radius: -1.0, "rises"),
        (lambda radius: 1.5, "steepness"),
        (lambda radius: radius > 1, "is flat at radius 0"),
    ],
)
def test_a_wrong_density_is_refused(factor, message):
    class Wrong(Student):
        def steepness(self, radius):
            return factor(radius) * super().steepness(radius)

    profile = RadialProfile(dimension=4, density=Wrong(5, 4), scale=1.0, sensitivity=1.0)
    with pytest.raises(ValueError, match=message):
        profile.delta(0.5)


def test_small_shifts_of_noise_with_a_pole():
    gamma = SphericalProfile(
        dimension=128, radial_shape=1.0, power=0.5, scale=1.0, sensitivity=1e-15
    )
    profile = RadialProfile(dimension=128, density=Gamma(127.0, 0.5), scale=1.0, sensitivity=1e-15)
    found, exact = profile.delta([0.0, 1e-3]), gamma.delta([0.0, 1e-3])
    assert np.all((found.lower <= exact.upper) & (exact.lower <= found.upper))
    assert found.value == pytest.approx(exact.value, rel=1e-6)


def test_a_largest_loss_is_not_denied():
    profile = RadialProfile(dimension=6, density=Student(5, 6), scale=1.0, sensitivity=1.0)
    # The largest loss of Student-t noise, at the radius r with r^2 + r = 5.
    largest = 11 * np.arcsinh(1 / (2 * 5**0.5))
    found = profile.epsilon(0.0)
    assert 0.9 * largest < found.lower <= largest <= found.upper
    assert profile.epsilon([0.0, 0.01]).upper[1] < largest


def test_a_pole_that_is_too_sharp_is_refused():
    profile = RadialProfile(dimension=2, density=Gamma(1.9, 1.0), scale=1.0, sensitivity=1.0)
    with pytest.raises(ValueError, match="too much at the origin"):
        profile.delta(0.5)
