"""Noise of histograms, counts and votes: atoms, exact answers and repeats are mistakes here too."""

import dataclasses

import numpy as np
import planted_bugs as planted
import pytest

from mechanisms import Budget, Inconsistent, Query, get_mechanism
from mechanisms.verification.self_check import QUICK, THOROUGH, require_consistent

QUERIES = {
    "histogram": Query(
        shape=(8, 8),
        l2_sensitivity=1.0,
        l1_sensitivity=1.0,
        structure="histogram",
        record_bound=1.0,
    ),
    "counts": Query(shape=(64,), l2_sensitivity=1.0, linf_sensitivity=1.0, structure="counts"),
    "votes": Query(shape=(64,), linf_sensitivity=63.0, structure="votes"),
}


TABLE = np.random.default_rng(0).standard_normal(1 << 16)


class SnapsToTheValue(planted.Gaussian):
    """An answer near the true one becomes the true one."""

    only_adds_noise = False

    def _release(self, value, rng):
        noise = self.sample(rng, 1, value.dtype)[0]
        return value + np.where(np.abs(noise) < 0.01 * self.noise.sigma, 0, noise)


class OneOfManyWithoutNoise(planted.Gaussian):
    """One element of a hundred, chosen anew, gets no noise."""

    only_adds_noise = True

    def sample(self, rng, trials, dtype=np.float64):
        draws = super().sample(rng, trials, dtype)
        draws[rng.random(draws.shape) < 0.01] = 0
        return draws


class Cycle(planted.Gaussian):
    """Noise from a table of 2^16 numbers."""

    only_adds_noise = True

    def sample(self, rng, trials, dtype=np.float64):
        places = rng.integers(1 << 16, size=(trials, *self.query.shape))
        return (self.noise.sigma * TABLE[places]).astype(dtype)


class RoundedTo(planted.Gaussian):
    """No mistake: the noise keeps to a grid that a change by a record keeps to."""

    grid = 1.0
    only_adds_noise = False

    def _release(self, value, rng):
        noise = super().sample(rng, 1, value.dtype)[0]
        return value + (np.rint(noise / self.grid) * self.grid).astype(value.dtype)


@pytest.mark.usefixtures("steady_clock")
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
@pytest.mark.parametrize("effort", [QUICK, THOROUGH], ids=["study", "verify"])
@pytest.mark.parametrize("mistake", [SnapsToTheValue, OneOfManyWithoutNoise, Cycle])
def test_numbers_that_recur_are_a_mistake(mistake, effort, query):
    words = "numbers that occurred more than once|element of the value itself"
    for seed in range(2):
        with pytest.raises(Inconsistent, match=words):
            require_consistent(mistake.calibrate(query, planted.BUDGET), seed=seed, effort=effort)


@pytest.mark.slow
@pytest.mark.usefixtures("steady_clock")
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
@pytest.mark.parametrize("grid", [1.0, 0.5, 1e-3, 2.0**-12])
def test_noise_on_a_grid_of_records_is_none(grid, query):
    mechanism = type("Rounded", (RoundedTo,), {"grid": grid, "only_adds_noise": False})
    calibrated = mechanism.calibrate(query, planted.BUDGET)
    # The spread of noise that is rounded is not quite the stated one: not the subject here.
    assert dataclasses.is_dataclass(calibrated)
    try:
        require_consistent(calibrated, seed=1)
    except Inconsistent as found:
        assert "numbers that occurred" not in str(found) and "itself" not in str(found)


def test_whole_noise_that_is_nearly_always_zero_is_none():
    large = Budget(epsilon=20.0, delta=1e-5)
    mechanism = get_mechanism("discrete-gaussian").calibrate(QUERIES["counts"], large)
    assert require_consistent(mechanism, seed=0, effort=QUICK).releases
