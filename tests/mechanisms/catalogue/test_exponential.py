"""Draws of the exponential mechanism on a box against its density, and its privacy."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats

from mechanisms import (
    Budget,
    Query,
    get_mechanism,
)
from mechanisms.noise.boxed_exponential import BoxedExponential
from mechanisms.privacy.bounded_profile import BoundedProfile
from mechanisms.privacy.finite_profile import PureProfile
from mechanisms.verification.verification import HOLDS, verify
from tests.peak_memory import peak_of

KS_LEVEL = 1e-4  # about four standard errors


def calibrated(shape, rate, element_range=(0.0, 1.0), **query):
    """The mechanism with density exp(-rate ||Y - V||): sensitivity 1 and epsilon 2 rate."""
    query = Query(shape=shape, l2_sensitivity=1.0, element_range=element_range, **query)
    return get_mechanism("exponential").calibrate(query, Budget(epsilon=2 * rate))


def mixture(value, rate):
    """The mixture on the unit box around `value`."""
    value = np.asarray(value, dtype=float)
    return BoxedExponential(value, 1 - value, rate)


def laplace_cdf(y, centre, rate):
    """The distribution function of the density ~ exp(-rate |y - centre|) on [0, 1]."""

    def mass_below(y):
        tail = np.exp(-rate * centre)
        left = np.exp(-rate * np.maximum(centre - y, 0)) - tail
        return (left - np.expm1(-rate * np.maximum(y - centre, 0))) / rate

    return mass_below(y) / mass_below(1.0)


@pytest.mark.parametrize("centre", [0.0, 0.03, 0.5, 1.0])
@pytest.mark.parametrize("rate", [1e-3, 1.0, 9.0, 1e4])
def test_one_element_is_a_truncated_laplace_variable(centre, rate):
    mechanism = calibrated((1,), rate)
    draws = mechanism.releases(np.array([centre]), np.random.default_rng(1), 20_000).ravel()
    assert draws.min() >= 0 and draws.max() <= 1
    assert stats.kstest(draws, laplace_cdf, args=(centre, rate)).pvalue > KS_LEVEL


@pytest.mark.parametrize("value", [(0.4, 0.7), (0.0, 0.0), (1.0, 0.2)])
@pytest.mark.parametrize("rate", [0.5, 6.0, 40.0])
def test_two_elements_against_quadrature_of_the_density(value, rate):
    """Compares both marginals and the distance, also for values in a corner and on an edge."""
    cells = 1000
    centres = (np.arange(cells) + 0.5) / cells
    distance = np.hypot(*np.meshgrid(centres - value[0], centres - value[1], indexing="ij"))
    density = np.exp(-rate * distance)
    density /= density.sum()
    draws = calibrated((2,), rate).releases(np.array(value), np.random.default_rng(2), 20_000)
    edges = np.arange(cells + 1) / cells
    for axis in (0, 1):
        cdf = np.append(0.0, density.sum(axis=1 - axis).cumsum())
        seen = stats.kstest(draws[:, axis], lambda y, cdf=cdf: np.interp(y, edges, cdf))
        assert seen.pvalue > KS_LEVEL
    away = np.hypot(*(draws - value).T)
    for power in (1, 2):
        exact = np.sum(density * distance**power)
        # Cells of width 1/1000 change these means by less than 1e-5.
        error = 4 * (away**power).std() / math.sqrt(len(away))
        assert abs((away**power).mean() - exact) < error + 1e-5 * exact


@pytest.mark.parametrize("value", [(0.4, 0.7), (0.0, 0.0), (1.0, 0.2)])
@pytest.mark.parametrize("rate", [0.1, 3.0, 60.0])
def test_the_mixture_has_the_normaliser_of_the_density(value, rate):
    """The integral of g(t) prod_i Z_i(t) over t, and that of exp(-c ||y||) in polar coordinates."""
    table = mixture(value, rate)
    log_p = table.log_density(table.tau)
    log_p += math.log(rate / (2 * math.sqrt(math.pi))) + 2 * math.log(math.sqrt(math.pi) / 2)
    mass = integrate.trapezoid(np.exp(log_p), table.tau)

    def wedge(a, b):
        """The integral over a rectangle with a corner at 0, in closed form along the radius."""

        def inner(angle, reach):
            x = rate * reach / math.cos(angle)
            return (-math.expm1(-x) - x * math.exp(-x)) / rate**2

        return sum(
            integrate.quad(inner, 0, math.atan2(other, reach), args=(reach,), epsabs=0)[0]
            for reach, other in ((a, b), (b, a))
            if reach > 0
        )

    sides = [(x, 1 - x) for x in value]
    exact = sum(wedge(a, b) for a, b in itertools.product(*sides))
    assert mass == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("rate", [1e-9, 1e-2, 1.0, 50.0, 1e7])
@pytest.mark.parametrize("size", [1, 3, 2000])
def test_the_table_of_the_mixture_is_as_accurate_as_it_says(size, rate):
    value = np.random.default_rng(0).random(size)
    value[0] = 0.0
    table = mixture(value, rate)
    middle = 0.5 * (table.tau[1:] + table.tau[:-1])
    chord = 0.5 * (table.log_p[1:] + table.log_p[:-1])
    some = np.flatnonzero(chord > -20)[:: max(1, len(chord) // 300)]
    exact = table.log_density(middle[some])
    errors = exact - chord[some]
    errors -= errors[chord[some].argmax()]
    assert np.abs(errors).max() < 1e-5
    assert table.log_p[[0, -1]].max() < -44


@pytest.mark.parametrize("size", [1, 5, 200])
def test_far_from_the_walls_it_is_the_l2_mechanism_at_half_the_budget(size):
    """The l2 mechanism has a radius of the law Gamma(M) in units of 1 / rate."""
    rate, trials = 1e4, 10_000
    value = np.full(size, 0.5)
    draws = calibrated((size,), rate).releases(value, np.random.default_rng(4), trials) - value
    radius = np.linalg.norm(draws, axis=1)
    assert stats.kstest(radius * rate, stats.gamma(size).cdf).pvalue > KS_LEVEL
    if size > 1:
        cosine = draws[:, 0] / radius
        assert abs(cosine.mean()) < 4 / math.sqrt(size * trials)
        assert np.mean(cosine**2) * size == pytest.approx(1, abs=4 * math.sqrt(2 / trials))


def test_without_budget_it_is_uniform_on_the_box():
    value = np.array([[-1.0, 2.0], [0.3, -1.0]])
    mechanism = calibrated((2, 2), 1e-7, element_range=(-1.0, 2.0))
    draws = mechanism.releases(value, np.random.default_rng(5), 20_000).reshape(-1, 4)
    for column in draws.T:
        assert stats.kstest(column, stats.uniform(-1, 3).cdf).pvalue > KS_LEVEL
    correlation = np.corrcoef(draws, rowvar=False) - np.eye(4)
    assert np.abs(correlation).max() < 4.5 / math.sqrt(len(draws))


@pytest.mark.parametrize("sensitivity", [0.05, 0.4, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("epsilon", [1e-3, 0.3, 2.0, 15.0])
def test_the_largest_loss_of_one_element_is_exact(sensitivity, epsilon):
    """Compared with the densities of all pairs of values on a grid; the box is [2, 5]."""
    query = Query(shape=(1,), l2_sensitivity=3 * sensitivity, element_range=(2.0, 5.0))
    mechanism = get_mechanism("exponential").calibrate(query, Budget(epsilon=epsilon))
    rate = epsilon / (2 * 3 * sensitivity)
    values = np.linspace(2, 5, 61)
    mass = 2 - np.exp(-rate * (values - 2)) - np.exp(-rate * (5 - values))
    log_density = -rate * np.abs(values[:, None] - values) - np.log(mass)[:, None]
    losses = (log_density[:, None] - log_density).max(axis=2)
    near = np.abs(values[:, None] - values) <= 3 * sensitivity + 1e-9
    worst = losses[near].max()
    bounds = mechanism.profile().epsilon(0.0)
    assert bounds.lower == pytest.approx(worst, rel=1e-9)
    assert bounds.upper == pytest.approx(worst, rel=1e-9)
    assert epsilon / 2 * (1 - 1e-12) <= worst <= epsilon
    assert mechanism.profile().attains_largest_loss


def test_values_that_a_norm_keeps_from_the_walls_have_the_bound_of_the_claim():
    mechanism = calibrated((1,), 0.4, element_range=(-5.0, 5.0), frobenius_bound=2.0)
    assert mechanism.profile().epsilon(0.0).upper == pytest.approx(0.8)


def test_the_profile_is_the_bound_of_a_pure_guarantee():
    mechanism = calibrated((3, 4), 0.4)
    # Two answers mirrored in the centre of the box have the same normaliser, so half is spent.
    above = PureProfile(largest=0.8)
    profile = BoundedProfile(above=above, attained_loss=0.4, slack=mechanism.profile().slack)
    assert mechanism.profile() == profile
    assert "normaliser" in profile.slack
    assert mechanism.parameters() == {"b": 2.5}
    result = verify(mechanism)
    assert result.verdict == HOLDS
    assert result.true_epsilon.upper == pytest.approx(0.8, rel=1e-12)
    assert (result.noise_scale, result.wasted_variance) == (2.5, None)


def test_a_covariance_sized_release_fits_into_little_memory():
    mechanism = calibrated((21, 2126), 0.05, element_range=(-1.0, 1.0))
    value = np.random.default_rng(0).uniform(-1, 1, (21, 2126))
    released, peak = peak_of(mechanism.release, value, np.random.default_rng(1))
    assert np.abs(released).max() <= 1
    assert peak < 100e6
