"""The oracles that judge claims on matrix factorisations, by hand."""

import math

import numpy as np
import pytest

from mechanisms.strategies.streams.participation import Participation
from mechanisms.strategies.streams.stream_workload import StreamWorkload
from paper_figures.bifr2026.theorems import least_error_of_two_bands
from paper_figures.suite.stream_sensitivity import enumerated, step_sets


def test_the_sets_of_steps_of_one_person():
    found = {tuple(steps) for steps in step_sets(5, Participation(times=2, separation=3))}
    assert found == {(0,), (1,), (2,), (3,), (4,), (0, 3), (0, 4), (1, 4)}


def test_enumeration_finds_the_signs_that_add_most():
    # Two columns at an angle of 120 degrees: moved oppositely they add to sqrt(3).
    strategy = np.array([[1.0, -0.5], [0.0, math.sqrt(0.75)]])
    twice = Participation(times=2, separation=1)
    assert enumerated(strategy, twice) == pytest.approx(math.sqrt(3))
    assert enumerated(strategy, Participation()) == pytest.approx(1.0)


def test_the_best_inverse_with_two_bands_of_two_steps():
    # sens^2 = 1 + x^2 and the mean error (1 + 1 + (1 - x)^2) / 2: x^3 - 1.5 x^2 + 2 x - 0.5 = 0.
    roots = np.roots([2.0, -3.0, 4.0, -1.0])
    share = float(roots[np.isreal(roots)].real[0])
    found = least_error_of_two_bands(StreamWorkload(steps=2), Participation())
    error = (1 + share**2) * (2 + (1 - share) ** 2) / 2
    assert found == (pytest.approx(error), pytest.approx(share, abs=1e-4))
