"""Calibrating warns where the claim is false, and checks that the exact noise meets the budget."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from mechanisms import Budget, Inconsistent, Query, RefutedWarning, get_mechanism, verify
from mechanisms.__main__ import main
from mechanisms.base.claim import refutes
from mechanisms.base.exact_calibration import check_exact
from mechanisms.privacy.profile import Bounds
from studies.base import Variant

COUNTS = Query(shape=(89, 89), l2_sensitivity=2**0.5)
SMALL = Query(shape=(3,), l2_sensitivity=1.0)
CELLS = Query(shape=(2, 3), element_range=(0.0, 1.0), adjacency="local")
GRAM = Query(shape=(3, 3), structure="gram", record_bound=1.0)


def warning_text(key, query, budget, calibration="published"):
    """The text of the warning about the claim, or an empty string."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        get_mechanism(key).calibrate(query, budget, calibration)
    return "".join(str(each.message) for each in caught if each.category is RefutedWarning)


@pytest.mark.parametrize(
    ("key", "query", "budget", "words"),
    [
        # 0.21664 comes from an independent integration.
        ("r1smg", COUNTS, Budget(epsilon=1e-5, delta=1e-7), "the true delta is at least 0.2166 at"),
        # sigma = sqrt(2 ln(1.25 / delta)) / epsilon is too small for a large epsilon.
        ("gaussian", SMALL, Budget(epsilon=20, delta=1e-5), "noise is not (20, 1e-05)-private"),
        # Each of six elements spends the whole epsilon, and a kept element reveals the value.
        ("tldp-l", CELLS, Budget(epsilon=1), "the true epsilon infinite at that delta"),
        # An event of probability 1 - e^(-epsilon / 3) is impossible on the other side.
        ("wishart", GRAM, Budget(epsilon=1), "the true delta is at least 0.2834 at"),
    ],
)
def test_a_refuted_claim_warns_with_the_truth_and_the_remedy(key, query, budget, words):
    told = warning_text(key, query, budget)
    assert told.startswith(f"{key}: its noise is not (") and words in told
    assert 'calibration="exact" rescales the noise to the budget' in told
    assert verify(get_mechanism(key).calibrate(query, budget)).verdict == "refuted"


@pytest.mark.parametrize(
    ("key", "query", "budget", "calibration"),
    [
        ("r1smg", SMALL, Budget(epsilon=0.3, delta=1e-5), "published"),
        ("r1smg", COUNTS, Budget(epsilon=1e-5, delta=1e-7), "exact"),
        ("gaussian", SMALL, Budget(epsilon=1, delta=1e-5), "published"),
        ("gaussian-analytic", COUNTS, Budget(epsilon=1, delta=1e-5), "published"),
        ("random-answer", CELLS, Budget(epsilon=1), "published"),
        ("non-private", SMALL, Budget(epsilon=1, delta=1e-5), "published"),
    ],
)
def test_a_true_claim_does_not_warn(key, query, budget, calibration):
    assert warning_text(key, query, budget, calibration) == ""


def test_the_warning_can_be_an_error_and_is_absent_in_studies():
    budget, cls = Budget(epsilon=1e-5, delta=1e-7), get_mechanism("r1smg")
    small = Query(shape=(3, 3), l2_sensitivity=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RefutedWarning, match="-private for this query"):
            cls.calibrate(small, budget)
        mechanism = Variant(name="r1smg", mechanism=cls).calibrate(small, budget)
    assert np.isfinite(mechanism.release(np.zeros((3, 3)), 0)).all()


def test_both_truths_must_be_beyond_rounding():
    """At delta 0, epsilon alone decides, because the true delta may underflow."""
    delta, epsilon = Bounds(2e-5, 2e-5, 2e-5), Bounds(1.5, 1.5, 1.5)
    assert refutes(delta, epsilon, 1.0, 1e-5)
    assert not refutes(delta, Bounds(0.0, 1.5, 2.0), 1.0, 1e-5)
    assert not refutes(Bounds(1.0000001e-5, 2e-5, 2e-5), epsilon, 1.0, 1e-5)
    assert refutes(Bounds(0.0, 0.0, 0.0), epsilon, 1.0, 0.0)


def test_commands_warn_unless_they_report_the_verdict_themselves(capsys):
    query = [
        "r1smg",
        "--shape",
        "89x89",
        "--l2-sensitivity",
        "1.4142",
        "--epsilon",
        "1e-5",
        "--delta",
        "1e-7",
    ]
    assert main(["calibrate", *query]) == 0
    told = capsys.readouterr().err
    assert told.startswith("warning: r1smg: its noise is not (1e-05, 1e-07)-private")
    assert "--calibration exact rescales the noise" in told
    assert main(["verify", *query]) == 0
    shown = capsys.readouterr()
    assert "refuted: the claim is false" in shown.out and "RefutedWarning" not in shown.err
    assert "-private for this query" not in shown.err


@pytest.mark.parametrize("factor", [1 + 1e-5, 1 - 1e-5, 1.001])
def test_noise_that_misses_the_budget_by_little_is_inconsistent(factor):
    """A scale that is off by 1e-5 moves epsilon by about as much, and delta by a few times more."""
    for epsilon in (1e-3, 1.0, 50.0):
        budget = Budget(epsilon=epsilon, delta=1e-5)
        mechanism = get_mechanism("gaussian-analytic").calibrate(SMALL, budget, "exact")
        # Rounding meets the budget.
        check_exact(replace(mechanism, noise=mechanism.noise.scaled(1 + 1e-9)))
        missed = replace(mechanism, noise=mechanism.noise.scaled(factor))
        words = f"must have delta 1e-05 at epsilon {epsilon:g}, got"
        with pytest.raises(Inconsistent, match=words):
            check_exact(missed)
