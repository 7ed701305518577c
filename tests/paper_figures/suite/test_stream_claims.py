"""Judges of the claims on matrix factorisations, on rows and formulas that are right or wrong."""

import math
from dataclasses import replace

import numpy as np
import pytest

from claims.ledger import CannotJudge
from claims.verdicts import CONFIRMED, CONTRADICTED, INCONCLUSIVE, PARTLY
from mechanisms.privacy.gaussian_profile import mu_for
from mechanisms.strategies.streams.participation import Participation
from mechanisms.strategies.streams.stream_workload import StreamWorkload
from paper_figures.bandmf2023.theorems import amplified_bands
from paper_figures.bifr2026.theorems import least_error_of_two_bands
from paper_figures.bisr2025.theorems import bounded_ratio, error_on_par
from paper_figures.counting2023.theorems import binary_mechanism, root_max_error, root_mean_error
from paper_figures.nsr2025.theorems import least_root_error
from paper_figures.suite import stream_sensitivity
from paper_figures.suite.stream_sensitivity import enumerated, enumerated_sensitivity, step_sets

CELL = {
    "study": "continual_release",
    "dataset": "prefix-sums",
    "epsilon": 1.0,
    "delta": 1e-6,
}


def rows_of(mechanism, errors, gap=None):
    """Rows from {(n, k): mean error}."""
    rows = []
    for (steps, times), error in errors.items():
        place = {"participations": times, "separation": steps // times}
        values = {"mean_error": error, "max_error": error, "sensitivity_slack": 0.0}
        if gap is not None:
            values["optimality_gap"] = gap
        rows += [
            CELL | place | {"mechanism": mechanism, "shape": f"1x{steps}", "metric": m, "value": v}
            for m, v in values.items()
        ]
    return rows


def test_the_sets_of_steps_of_one_person():
    found = {tuple(steps) for steps in step_sets(5, Participation(times=2, separation=3))}
    assert found == {(0,), (1,), (2,), (3,), (4,), (0, 3), (0, 4), (1, 4)}


def test_enumeration_finds_the_signs_that_add_most():
    # Two columns at an angle of 120 degrees: moved oppositely they add to sqrt(3).
    strategy = np.array([[1.0, -0.5], [0.0, math.sqrt(0.75)]])
    twice = Participation(times=2, separation=1)
    assert enumerated(strategy, twice) == pytest.approx(math.sqrt(3))
    assert enumerated(strategy, Participation()) == pytest.approx(1.0)


@pytest.mark.parametrize("formula", ["columns", "earliest"])
def test_a_wrong_formula_is_contradicted(formula, make_claim, monkeypatch):
    arguments = {"formula": formula, "steps": 6, "participations": [[2, 2]], "matrices": 5}
    assert enumerated_sensitivity(make_claim(**arguments), None).verdict == CONFIRMED
    right = stream_sensitivity.FORMULAS[formula]
    # Exact for b bands; of more than b bands the columns overlap.
    wrong = right._replace(draw=stream_sensitivity.any_matrix)
    monkeypatch.setitem(stream_sensitivity.FORMULAS, formula, wrong)
    assert enumerated_sensitivity(make_claim(**arguments), None).verdict == CONTRADICTED


def test_the_best_inverse_with_two_bands_of_two_steps():
    # sens^2 = 1 + x^2 and the mean error (1 + 1 + (1 - x)^2) / 2: x^3 - 1.5 x^2 + 2 x - 0.5 = 0.
    roots = np.roots([2.0, -3.0, 4.0, -1.0])
    share = float(roots[np.isreal(roots)].real[0])
    found = least_error_of_two_bands(StreamWorkload(steps=2), Participation())
    error = (1 + share**2) * (2 + (1 - share) ** 2) / 2
    assert found == (pytest.approx(error), pytest.approx(share, abs=1e-4))


def test_a_distance_that_is_too_small_is_contradicted(make_claim):
    assert root_max_error(make_claim(largest_power=8, most=0.35), None).verdict == CONTRADICTED
    assert root_max_error(make_claim(largest_power=8, most=0.36), None).verdict == CONFIRMED


@pytest.mark.parametrize(("margin", "verdict"), [(0.01, CONFIRMED), (0.3, CONTRADICTED)])
def test_bands_against_amplification_at_one_rate(margin, verdict, make_claim):
    arguments = {"steps": 64, "rates": [1 / 64], "delta": 1e-6, "epsilons": [8.0], "bands": [1, 2]}
    claim = replace(make_claim(**arguments), margin=margin)
    finding = amplified_bands(claim, None)
    assert finding.outcomes[0].verdict == verdict


def test_no_finite_stream_decides_a_limit(make_claim):
    finding = bounded_ratio(make_claim(steps=[16, 32], participations=[1, 4]), None)
    assert finding.verdict == INCONCLUSIVE
    assert all(float(part.found.split(",")[0]) >= 1 for part in finding.parts)


def test_slopes_of_short_streams_are_not_the_limit(make_claim):
    claim = make_claim(tolerance=0.001, largest_power=5, optimal_at=[4])
    assert root_mean_error(claim, None).verdict != CONFIRMED


def test_the_binary_mechanism_of_four_steps(make_claim):
    # Nodes per prefix sum 1, 1, 2, 1; a person is in 3. Square root: columns 1, 1/2, 3/8, 5/16.
    squares = np.cumsum([1, 1 / 4, 9 / 64, 25 / 256])
    ratio = 3 * 5 / 4 / (squares[-1] * squares.mean())
    claim = make_claim(tolerance=1e-12, factor=ratio, powers=[2])
    finding = binary_mechanism(claim, None)
    assert [outcome.verdict for outcome in finding.outcomes] == [CONTRADICTED, CONFIRMED]


def test_on_par_is_judged_in_every_place(make_claim, make_results):
    claim = make_claim(tolerance=0.1, mechanism="own", others=["near", "far"], least_separation=4)
    rows = [
        # 32 participations in 64 steps are closer than four.
        *rows_of("own", {(64, 1): 1.2, (64, 2): 4.0, (64, 32): 9.0}),
        *rows_of("near", {(64, 1): 1.0, (64, 2): 3.9, (64, 32): 1.0}, gap=0.25),
        *rows_of("far", {(64, 1): 1.0, (64, 2): 3.0}),
    ]
    finding = error_on_par(claim, make_results(rows))
    assert [part.verdict for part in finding.parts] == [CONFIRMED, CONTRADICTED]
    assert finding.verdict == PARTLY
    # sqrt(4 x 1.25 / 3.9) is less than sqrt(1.2 x 1.25).
    assert "(2 places), it is at most 1.225 times" in finding.detail
    with pytest.raises(CannotJudge, match="far"):
        error_on_par(claim, make_results(rows_of("own", {(64, 1): 1.0})))


@pytest.mark.parametrize(("excess", "verdict"), [(0.72, CONFIRMED), (0.76, PARTLY)])
def test_the_least_error_lies_between_two_constants(excess, verdict, make_claim, make_results):
    claim = make_claim(mechanism="own", lower=0.701, upper=0.748, least_steps=2048)
    mu = float(mu_for(1.0, 1e-6))
    errors = {
        (steps, 1): ((math.log(steps) / math.pi + above) / mu) ** 2
        for steps, above in {64: 0.9, 2048: excess + 0.01, 4096: excess}.items()
    }
    results = make_results(rows_of("own", errors, gap=1e-6))
    assert least_root_error(claim, results).verdict == verdict


def test_the_least_error_needs_long_streams(make_claim, make_results):
    claim = make_claim(mechanism="own", lower=0.701, upper=0.748, least_steps=2048)
    with pytest.raises(CannotJudge, match="2048"):
        least_root_error(claim, make_results(rows_of("own", {(64, 1): 1.0}, gap=0.0)))
