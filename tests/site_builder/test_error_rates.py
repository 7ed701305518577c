"""What a page says of an attacker: the drawn curve and its words against the exact trade-off."""

import numpy as np
import pytest
from scipy import special

from mechanisms import all_mechanisms
from mechanisms.privacy.trade_off import true_positive_rate, type_two_error
from site_builder.error_rates import FALSE_POSITIVE_RATE, TYPE_ONE, error_rates, type_two_errors
from site_builder.example_calls import example_call


def example(key):
    return example_call(all_mechanisms()[key]).mechanism


def curve(points):
    return np.array([[float(number) for number in pair.split(",")] for pair in points.split()]).T


def test_the_curve_of_gaussian_noise_is_its_closed_form():
    profile = example("gaussian-analytic").profile()
    expected = special.ndtr(-special.ndtri(TYPE_ONE) - profile.mu)
    found = type_two_errors(profile)
    assert np.all(found <= expected + 1e-12)
    assert found == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("key", ["laplace", "privunit-g"])
def test_the_curve_lies_on_or_just_below_the_exact_one(key):
    profile = example(key).profile()
    some = slice(None, None, 8)
    exact = type_two_error(profile, TYPE_ONE[some])
    found = type_two_errors(profile)[some]
    assert np.all(found <= exact.upper + 1e-12)
    assert found == pytest.approx(exact.value, abs=0.02)


def test_words_are_bounds_and_the_curve_is_drawn():
    mechanism = example("r1smg")
    found = error_rates(mechanism)
    profile = mechanism.profile()
    assert float(found.advantage) >= profile.delta(0.0).value
    exact = true_positive_rate(profile, FALSE_POSITIVE_RATE)
    assert exact.lower <= float(found.rate) <= 1.02 * exact.value
    # (0.5, 1e-5): (e^0.5 - 1 + 2e-5) / (e^0.5 + 1), and e^0.5 / 1000 + 1e-5.
    assert (found.claimed_advantage, found.claimed_rate) == ("0.245", "0.00166")
    (x, reached), (_, allowed) = curve(found.true), curve(found.allowed)
    assert x == pytest.approx(TYPE_ONE, rel=1e-3)
    assert np.all(np.diff(reached) >= 0) and reached[0] > allowed[0] and reached[-1] == 1.0


def test_the_rate_of_pure_laplace_noise_is_the_claimed_one():
    found = error_rates(example("k-norm"))
    assert found.delta == 0.0
    assert (found.rate, found.advantage) == (found.claimed_rate, found.claimed_advantage)


def test_a_control_without_privacy_has_no_curve():
    assert error_rates(example("non-private")) is None
    assert error_rates(None) is None
