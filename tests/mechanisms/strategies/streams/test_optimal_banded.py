"""The best banded factorisations against CVXPY, the optimum for one participation, and others."""

import itertools

import cvxpy
import numpy as np
import pytest
from scipy import linalg

from mechanisms.query.query import Unsupported
from mechanisms.strategies.streams.designs import FAMILIES, Design, factorisation
from mechanisms.strategies.streams.optimal_banded import optimal_banded
from mechanisms.strategies.streams.optimal_stream import optimal_factorisation
from mechanisms.strategies.streams.optimised_toeplitz import banded
from mechanisms.strategies.streams.participation import Participation, gram_sensitivity
from mechanisms.strategies.streams.stream_workload import StreamWorkload


def patterns(steps, participation):
    """All sets of steps of one person, as indicators, one per row."""
    rows = []
    for count in range(1, participation.most(steps) + 1):
        for taken in itertools.combinations(range(steps), count):
            gaps = [late - early for early, late in itertools.pairwise(taken)]
            if all(gap >= participation.separation for gap in gaps):
                rows.append(np.isin(np.arange(steps), taken).astype(float))
    return np.array(rows)


def solved(workload, participation, bands):
    """The least mean error by CVXPY, where sum |X_ij| over a pattern is its squared sensitivity."""
    steps = workload.steps
    gram = cvxpy.Variable((steps, steps), PSD=True)
    index = np.arange(steps)
    outside = np.abs(index[:, None] - index) >= bands
    rows = patterns(steps, participation)
    pairs = np.einsum("ri,rj->rij", rows, rows).reshape(len(rows), -1)
    values, vectors = linalg.eigh(workload.gram())
    problem = cvxpy.Problem(
        cvxpy.Minimize(cvxpy.matrix_frac(vectors * np.sqrt(values), gram)),
        [pairs @ cvxpy.vec(cvxpy.abs(gram), order="C") <= 1, cvxpy.multiply(outside, gram) == 0],
    )
    tolerances = dict.fromkeys(("tol_gap_rel", "tol_gap_abs", "tol_feas"), 1e-11)
    problem.solve(solver=cvxpy.CLARABEL, **tolerances)
    return problem.value / steps


@pytest.mark.parametrize(
    ("steps", "times", "separation", "bands", "momentum"),
    [(12, 3, 4, 4, 0.0), (12, 3, 4, 8, 0.0), (10, 2, 5, 10, 0.0), (12, 4, 3, 6, 0.7)],
)
def test_the_least_error_is_that_of_a_general_convex_solver(
    steps, times, separation, bands, momentum
):
    workload = StreamWorkload(steps=steps, momentum=momentum)
    participation = Participation(times=times, separation=separation)
    found = optimal_banded(workload, bands, participation)
    expected = solved(workload, participation, bands)
    assert found.least_error == pytest.approx(expected, rel=1e-6)
    assert found.lower_bound <= expected * (1 + 1e-7)


def test_twice_in_a_stream_the_best_of_all_is_found():
    """With n <= 2b no entry of X is left out: the gap is that of the search alone."""
    found = optimal_banded(StreamWorkload(steps=12), None, Participation(times=2, separation=6))
    assert 0 <= found.gap <= 2e-6


def test_the_bound_is_below_the_best_of_all_and_near_it():
    workload, participation = StreamWorkload(steps=12), Participation(times=4, separation=3)
    found = optimal_banded(workload, None, participation)
    best = solved(workload, participation, 12)
    assert found.lower_bound <= best * (1 + 1e-7)
    assert best * (1 - 1e-7) <= found.least_error <= best * 1.001
    assert found.gap <= 2e-3


def test_one_participation_is_the_limit():
    workload, once = StreamWorkload(steps=16), Participation()
    found, optimum = optimal_banded(workload, None, once), optimal_factorisation(workload)
    assert found.least_error == pytest.approx(optimum.least_error, rel=2e-6)
    assert found.lower_bound == pytest.approx(optimum.lower_bound, rel=2e-6)
    design = Design(family="banded", workload=workload, participation=once, bands=None, buffers=1)
    assert factorisation(design).gram == pytest.approx(optimum.gram)


def test_no_other_factorisation_is_better():
    workload, participation = StreamWorkload(steps=16), Participation(times=4, separation=4)
    found = optimal_banded(workload, None, participation)
    for family in FAMILIES:
        design = Design(
            family=family, workload=workload, participation=participation, bands=None, buffers=3
        )
        error = factorisation(design).error(workload, participation).mean
        assert error >= found.least_error * (1 - 1e-6)
        assert error >= found.lower_bound
    narrow = optimal_banded(workload, 4, participation)
    assert narrow.gap <= 0.01
    assert found.least_error < narrow.least_error
    toeplitz = banded(workload, 4, participation).error(workload, participation).mean
    assert narrow.least_error < toeplitz


def test_the_sensitivity_is_that_of_the_worst_pattern():
    workload, participation = StreamWorkload(steps=12), Participation(times=4, separation=3)
    found = optimal_banded(workload, None, participation)
    rows = patterns(12, participation)
    worst = np.einsum("ri,ij,rj->r", rows, np.abs(found.gram), rows).max()
    assert found.sensitivity(participation).upper ** 2 == pytest.approx(worst, rel=1e-12)
    assert found.sensitivity(participation).exact
    assert found.error(workload, participation).mean == pytest.approx(found.least_error, rel=1e-9)
    # Of other participations it is bounded as that of any factorisation.
    other = Participation(times=3, separation=2)
    assert found.sensitivity(other) == gram_sensitivity(found.gram, other)
    assert found.certified(participation)
    assert not found.certified(other)


@pytest.mark.parametrize(
    ("steps", "bands", "times", "separation", "message"),
    [
        (16, 9, 4, 4, "at most 2 x separation = 8 bands, got 9"),
        (17, None, 4, 4, "participations x separation >= 17 steps, got 4 x 4"),
        (513, None, 3, 171, "at most 512 steps, got 513"),
    ],
)
def test_what_has_no_exact_sensitivity_or_takes_long_is_refused(
    steps, bands, times, separation, message
):
    participation = Participation(times=times, separation=separation)
    with pytest.raises(Unsupported, match=message):
        optimal_banded(StreamWorkload(steps=steps), bands, participation)
