"""Rows that share their noise, and profiles that are too good, at the effort of a study."""

import dataclasses

import numpy as np
import planted_bugs as planted
import pytest

from mechanisms import Budget, Inconsistent, Query, get_mechanism
from mechanisms.check.checks import QUICK, THOROUGH, require_consistent
from mechanisms.check.events import chosen_event, pooled
from mechanisms.noise.gaussian_noise import IndependentGaussian
from mechanisms.verification.explanation import explain
from mechanisms.verification.verification import verify

QUERIES = {
    "plain": {},
    "histogram": {"structure": "histogram", "record_bound": 1.0},
    "moves": {
        "structure": "histogram",
        "record_bound": 1.0,
        "adjacency": "replace",
        "l2_sensitivity": 2**0.5,
    },
}


def query(kind, side):
    return Query(**{"shape": (side, side), "l2_sensitivity": 1.0} | QUERIES[kind])


class SharedRows(planted.Gaussian):
    """The second row has the noise of the first, times `sign`."""

    only_adds_noise = True
    sign = 1

    def sample(self, rng, trials, dtype=np.float64):
        draws = super().sample(rng, trials, dtype)
        draws[:, 1] = self.sign * draws[:, 0]
        return draws


class OppositeRows(SharedRows):
    sign = -1


class Amplified(planted.Gaussian):
    """The value is multiplied before the noise is added, and the profile does not say so."""

    only_adds_noise = False

    def prepared(self, value):
        return (1.3 * value).astype(value.dtype)


def with_profile(share):
    """The analytic Gaussian whose noise and mechanism both state a mu of this share of it."""

    class Stated(IndependentGaussian):
        def profile(self, query):
            true = super().profile(query)
            return dataclasses.replace(true, mu=share * true.mu)

    class Mechanism(planted.Gaussian):
        @classmethod
        def noise_for(cls, query, budget):
            return Stated(shape=query.shape, sigma=planted.Gaussian.noise_for(query, budget).sigma)

    return Mechanism


@pytest.mark.usefixtures("steady_clock")
@pytest.mark.parametrize("kind", QUERIES)
@pytest.mark.parametrize("mistake", [SharedRows, OppositeRows])
@pytest.mark.parametrize("side", [8, 32, 64])
def test_rows_that_share_their_noise_are_caught_in_a_study(mistake, kind, side):
    mechanism = mistake.calibrate(query(kind, side), planted.BUDGET)
    with pytest.raises(Inconsistent, match="share their noise"):
        require_consistent(mechanism, seed=side, effort=QUICK)


@pytest.mark.usefixtures("steady_clock")
@pytest.mark.parametrize("kind", QUERIES)
def test_a_profile_that_is_slightly_too_good_is_caught_in_a_study(kind):
    mechanism = with_profile(0.985).calibrate(query(kind, 16), planted.BUDGET)
    with pytest.raises(Inconsistent, match="elements of the noise, which states that they are"):
        require_consistent(mechanism, seed=3, effort=QUICK)
    right = with_profile(1.0).calibrate(query(kind, 16), planted.BUDGET)
    assert require_consistent(right, seed=3, effort=QUICK).releases


@pytest.mark.usefixtures("steady_clock")
@pytest.mark.parametrize("kind", ["plain", "histogram"])
def test_a_value_that_is_amplified_is_caught_in_a_study(kind):
    mechanism = Amplified.calibrate(query(kind, 8), planted.BUDGET)
    with pytest.raises(Inconsistent, match="show a change of"):
        require_consistent(mechanism, seed=1, effort=QUICK)


@pytest.mark.usefixtures("steady_clock")
def test_noise_that_is_right_is_not_called_loose_for_its_profile():
    mechanism = with_profile(0.98).calibrate(query("plain", 32), planted.BUDGET)
    assert verify(mechanism, effort=THOROUGH).verdict == "inconsistent"
    missed = verify(with_profile(0.99).calibrate(query("plain", 8), planted.BUDGET), effort=None)
    assert "by its profile the noise has 1.0" in explain(missed)


@pytest.mark.usefixtures("steady_clock")
@pytest.mark.parametrize("key", ["gaussian-analytic", "laplace"])
def test_one_element_has_no_other_to_look_like(key):
    one = Query(shape=(1,), l2_sensitivity=1.0, l1_sensitivity=1.0)
    mechanism = get_mechanism(key).calibrate(one, Budget(epsilon=1.0, delta=1e-5))
    assert require_consistent(mechanism, seed=0, effort=QUICK).releases


def test_elements_are_taken_in_groups_of_the_size_of_a_change():
    draws = np.arange(14.0).reshape(2, 7)
    change = np.array([0.0, 3.0, 0.0, 0.0, -4.0, 0.0, 0.0])
    expected = [(3 * a - 4 * (a + 1)) / 5 for a in (0, 2, 4, 7, 9, 11)]
    assert pooled(draws, change) == pytest.approx(expected)


def test_events_begin_between_scores():
    """Scores that cancel are equal but for rounding, which must not decide on which side."""
    event = chosen_event((np.zeros(64), np.ones(64)), np.array([0.5, 0.3]))
    assert 0.1 < event.threshold < 0.9
