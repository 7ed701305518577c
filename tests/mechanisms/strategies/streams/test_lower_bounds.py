"""Lower bounds in closed form against matrices, the certified optimum and other factorisations."""

import numpy as np
import pytest

from mechanisms.strategies.streams.closed_forms import banded_inverse_root, square_root
from mechanisms.strategies.streams.lower_bounds import least_mean_error, sum_of_singular_values
from mechanisms.strategies.streams.optimal_banded import optimal_banded
from mechanisms.strategies.streams.optimal_stream import optimal_factorisation
from mechanisms.strategies.streams.participation import Participation
from mechanisms.strategies.streams.stream_workload import StreamWorkload


@pytest.mark.parametrize("steps", [1, 2, 7, 64])
def test_the_singular_values_are_those_of_the_matrix(steps):
    values = np.linalg.svd(np.tril(np.ones((steps, steps))), compute_uv=False)
    assert sum_of_singular_values(steps) == pytest.approx(values.sum(), rel=1e-12)


def test_one_step_has_the_error_one():
    assert least_mean_error(1, 1) == pytest.approx(1.0)


@pytest.mark.parametrize("steps", [2, 16, 64])
def test_it_is_below_the_certified_optimum_of_one_participation(steps):
    optimum = optimal_factorisation(StreamWorkload(steps=steps))
    bound = least_mean_error(steps, 1)
    # The bound of a uniform step is not that of the worst distribution of steps, but near.
    assert 0.9 * optimum.lower_bound < bound <= optimum.lower_bound


@pytest.mark.parametrize("times", [2, 4, 8])
def test_it_is_below_the_best_banded_factorisation(times):
    workload = StreamWorkload(steps=16)
    participation = Participation(times=times, separation=16 // times)
    best = optimal_banded(workload, None, participation)
    assert 0.5 * best.least_error < least_mean_error(16, times) <= best.least_error


def test_all_steps_moved_alike_is_the_bound_of_a_person_in_every_step():
    # M is the matrix of ones: the norm of the prefix sums of n ones, squared, over n.
    steps = 12
    alike = np.sum(np.arange(1, steps + 1.0) ** 2) / steps
    independent = sum_of_singular_values(steps) ** 2 / steps
    assert least_mean_error(steps, steps) == pytest.approx(max(alike, independent))
    assert alike > independent


@pytest.mark.parametrize("times", [1, 4, 16])
def test_no_closed_form_goes_below(times):
    workload = StreamWorkload(steps=64)
    participation = Participation(times=times, separation=64 // times)
    for found in (square_root(workload), banded_inverse_root(workload, 8)):
        assert found.error(workload, participation).mean > least_mean_error(64, times)


def test_participations_divide_the_steps():
    with pytest.raises(ValueError, match="3 and 64"):
        least_mean_error(64, 3)
