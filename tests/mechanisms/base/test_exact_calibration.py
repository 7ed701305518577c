"""The check that an exact calibration meets its budget."""

from dataclasses import replace

import pytest

from mechanisms import Budget, Inconsistent, Query, get_mechanism
from mechanisms.base.exact_calibration import check_exact

QUERY, BUDGET = Query(shape=(3,), l2_sensitivity=1.0), Budget(epsilon=1.0, delta=1e-5)


@pytest.mark.parametrize("factor", [1 + 1e-5, 1 - 1e-5, 1.001])
def test_noise_that_misses_the_budget_by_little_is_inconsistent(factor):
    """A scale that is off by 1e-5 moves epsilon by about as much, and delta by a few times more."""
    for epsilon in (1e-3, 1.0, 50.0):
        budget = replace(BUDGET, epsilon=epsilon)
        mechanism = get_mechanism("gaussian-analytic").calibrate(QUERY, budget, "exact")
        check_exact(mechanism)
        missed = replace(mechanism, noise=mechanism.noise.scaled(factor))
        with pytest.raises(
            Inconsistent, match=f"must have delta 1e-05 at epsilon {epsilon:g}, got"
        ):
            check_exact(missed)


def test_rounding_meets_the_budget():
    mechanism = get_mechanism("gaussian-analytic").calibrate(QUERY, BUDGET, "exact")
    check_exact(replace(mechanism, noise=mechanism.noise.scaled(1 + 1e-9)))
