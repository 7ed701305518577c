"""Searched factorisations against CVXPY, other solvers, differences and each other."""

import cvxpy
import numpy as np
import pytest
from scipy import linalg, optimize, signal

from mechanisms.query.query import Unsupported
from mechanisms.strategies.optimal_strategy import optimal_strategy, sdp_strategy
from mechanisms.strategies.streams import optimal_stream
from mechanisms.strategies.streams.closed_forms import banded_inverse_root, square_root
from mechanisms.strategies.streams.designs import FAMILIES, Design, factorisation
from mechanisms.strategies.streams.factorisation import ToeplitzFactorisation
from mechanisms.strategies.streams.optimal_stream import TOLERANCE, optimal_factorisation
from mechanisms.strategies.streams.optimised_toeplitz import banded, buffered, log_error
from mechanisms.strategies.streams.participation import Participation
from mechanisms.strategies.streams.stream_workload import StreamWorkload, impulse

ONCE = Participation()
FOUR_TIMES = Participation(times=4, separation=8)


@pytest.mark.parametrize(
    "workload",
    [
        StreamWorkload(steps=16),
        StreamWorkload(steps=16, decay=0.9),
        StreamWorkload(steps=16, decay=0.99, momentum=0.5),
    ],
)
def test_the_optimum_is_that_of_a_general_convex_solver(workload):
    found = optimal_factorisation(workload)
    solver = sdp_strategy(workload.gram())
    assert found.least_error == pytest.approx(solver.error / workload.steps, rel=1e-6)
    assert found.lower_bound <= found.least_error
    assert found.gap <= 1e-6


@pytest.mark.parametrize("steps", [1, 2, 64, 300])
def test_the_tridiagonal_search_agrees_with_the_dense_one(steps):
    workload = StreamWorkload(steps=steps)
    found = optimal_factorisation(workload)
    dense = optimal_strategy(workload.gram())
    assert found.gap <= TOLERANCE
    assert found.lower_bound <= dense.error / steps * (1 + 1e-12)
    assert found.least_error >= dense.lower_bound / steps * (1 - 1e-12)
    assert found.least_error == pytest.approx(found.error(workload, ONCE).mean, rel=1e-12)


@pytest.mark.parametrize(("decay", "momentum"), [(1.0, 0.9), (1.0, 0.5), (0.999, 0.95)])
def test_long_streams_with_momentum_have_a_wider_gap_that_holds(monkeypatch, decay, momentum):
    workload = StreamWorkload(steps=300, decay=decay, momentum=momentum)
    tight = optimal_factorisation(workload)
    monkeypatch.setattr(optimal_stream, "SMALL", 256)
    found = optimal_factorisation(workload)
    assert tight.gap < 1e-6 < found.gap <= optimal_stream.MOMENTUM_TOLERANCE
    assert found.lower_bound <= tight.least_error and tight.lower_bound <= found.least_error
    assert found.least_error == pytest.approx(found.error(workload, ONCE).mean, rel=1e-12)


def test_no_other_factorisation_goes_below_the_bound():
    workload = StreamWorkload(steps=128)
    bound = optimal_factorisation(workload).lower_bound
    for family in FAMILIES:
        design = Design(family=family, workload=workload, participation=ONCE, bands=None, buffers=3)
        assert factorisation(design).error(workload, ONCE).mean >= bound


@pytest.mark.parametrize("participation", [ONCE, FOUR_TIMES, Participation(times=3, separation=2)])
@pytest.mark.parametrize("momentum", [0.0, 0.8])
def test_the_gradient_is_that_of_differences(participation, momentum):
    workload = StreamWorkload(steps=30, momentum=momentum)
    answer, column, bands = workload.coefficients(), workload.root(), 12
    _, gradient = log_error(column, answer, participation, bands)
    differences = optimize.approx_fprime(
        column, lambda c: log_error(c, answer, participation, bands)[0], 1e-7
    )
    assert gradient == pytest.approx(differences[:bands], abs=2e-6)


def test_the_objective_is_the_error():
    workload = StreamWorkload(steps=30)
    for found in (square_root(workload), banded(workload, 8, FOUR_TIMES)):
        value, _ = log_error(found.column, workload.coefficients(), FOUR_TIMES, 30)
        assert np.exp(value) == pytest.approx(found.error(workload, FOUR_TIMES).mean, rel=1e-12)


@pytest.mark.parametrize("participation", [ONCE, FOUR_TIMES])
def test_bandmf_is_a_minimum_that_another_search_finds(participation):
    workload, bands = StreamWorkload(steps=32), 5
    found = banded(workload, bands, participation)
    answer = workload.coefficients()

    def error(free):
        column = np.concatenate([[1.0], free, np.zeros(32 - bands)])
        return log_error(column, answer, participation, bands)[0]

    other = optimize.minimize(
        error, np.full(bands - 1, 0.1), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 0}
    )
    assert found.error(workload, participation).mean == pytest.approx(np.exp(other.fun), rel=1e-9)
    assert found.sensitivity(participation).exact


def test_toeplitz_costs_little_more_than_any_banded_strategy():
    """The optimal X with 4 bands, by CVXPY: BandMF without the restriction to Toeplitz."""
    workload, bands = StreamWorkload(steps=16), 4
    gram = cvxpy.Variable((16, 16), PSD=True)
    outside = np.abs(np.subtract.outer(np.arange(16), np.arange(16))) >= bands
    constraints = [cvxpy.diag(gram) <= 1, cvxpy.multiply(outside, gram) == 0]
    values, vectors = linalg.eigh(workload.gram())
    error = cvxpy.matrix_frac(vectors * np.sqrt(values), gram)
    problem = cvxpy.Problem(cvxpy.Minimize(error), constraints)
    problem.solve(solver=cvxpy.CLARABEL)
    ratio = banded(workload, bands, ONCE).error(workload, ONCE).mean / (problem.value / 16)
    assert 1 - 1e-6 <= ratio <= 1.1


def test_more_buffers_and_bands_cost_no_more():
    workload = StreamWorkload(steps=256)
    least = banded(workload, 256, ONCE).error(workload, ONCE).mean
    errors = [buffered(workload, count, ONCE).error(workload, ONCE).mean for count in (1, 2, 4)]
    assert errors == sorted(errors, reverse=True)
    assert least * (1 - 1e-9) <= errors[-1] <= least * 1.002
    wider = [banded(workload, bands, ONCE).error(workload, ONCE).mean for bands in (4, 16, 64)]
    assert wider == sorted(wider, reverse=True)


def test_the_published_blt_has_the_least_error():
    """jax_privacy's test suite states the best two buffers at n = 100000, for the maximal error."""
    steps = 100_000
    workload = StreamWorkload(steps=steps)
    published = np.array([0.0122853238, 0.1878393665, 0.9999528892, 0.9857068667])

    def log_error_of(free):
        weights, rates = np.exp(free[:2]), 1 - np.exp(free[2:])
        poles = np.polymul([1, -rates[0]], [1, -rates[1]])
        parts = weights[0] * np.array([1, -rates[1]]) + weights[1] * np.array([1, -rates[0]])
        zeros = np.polyadd(poles, np.append(0, parts))
        unit = impulse(steps)
        found = ToeplitzFactorisation(
            column=signal.lfilter(zeros, poles, unit), inverse=signal.lfilter(poles, zeros, unit)
        )
        return np.log(found.error(workload, ONCE).maximal)

    least = np.concatenate([np.log(published[:2]), np.log(1 - published[2:])])
    value = log_error_of(least)
    for axis in np.eye(4):
        above, below = (log_error_of(least + step * axis) - value for step in (1e-3, -1e-3))
        # A Newton step from the published numbers is at most 1e-5 of them.
        assert above > 0 and below > 0
        assert abs(above - below) / 2 <= 1e-2 * (above + below)


def test_bisr_with_all_bands_is_the_square_root():
    workload = StreamWorkload(steps=100)
    full, root = banded_inverse_root(workload, 100), square_root(workload)
    assert full.column == pytest.approx(root.column, rel=1e-10)


def test_bands_that_are_left_to_the_search_are_the_best_of_those_tried():
    workload = StreamWorkload(steps=100)
    for family in ("bandmf", "bisr"):
        design = {"family": family, "workload": workload, "participation": FOUR_TIMES, "buffers": 1}
        free = factorisation(Design(bands=None, **design)).error(workload, FOUR_TIMES).mean
        for bands in (1, 4, 8, 64, 128):
            fixed = factorisation(Design(bands=bands, **design)).error(workload, FOUR_TIMES).mean
            assert free <= fixed * (1 + 1e-12)


def test_too_large_or_too_short_streams_are_refused():
    with pytest.raises(Unsupported, match="at most 4096 steps, got 4097"):
        optimal_factorisation(StreamWorkload(steps=4097))
    with pytest.raises(Unsupported, match="at least 9 steps for 4 buffers"):
        buffered(StreamWorkload(steps=8), 4, ONCE)
