"""The limit in the command `limit`, in the column of `compare` and in the output of `verify`."""

import dataclasses
import json
import math

import pytest

from mechanisms import Budget, Query, get_mechanism
from mechanisms.__main__ import main
from mechanisms.comparison.advisor import compare
from mechanisms.limit.limit import limit
from mechanisms.verification.explanation import explain
from mechanisms.verification.verification import verify

BUDGET = Budget(epsilon=1.0, delta=1e-5)


def test_the_command_as_json(capsys):
    arguments = ["limit", "--shape", "40x50", "--l2-sensitivity", "2", "--epsilon", "1"]
    assert main([*arguments, "--delta", "1e-5", "--fast", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    query = Query(shape=(40, 50), l2_sensitivity=2.0)
    assert found["limit_rmse"] == limit(query, BUDGET, fast=True).rmse
    assert found["best"] == "spherical-gamma"
    assert found["limit_rmse"] < found["best_rmse"] < 2 * 3.7306317
    assert found["of_limit"] == found["best_rmse"] / found["limit_rmse"]
    assert found["simplest"] == "spherical-gamma"


def test_the_command_names_the_choice_of_compare_among_ties(capsys):
    arguments = ["limit", "--shape", "1000000", "--l2-sensitivity", "1", "--epsilon", "1"]
    assert main([*arguments, "--delta", "1e-5", "--fast"]) == 0
    shown = capsys.readouterr().out
    assert "best   3.73062: spherical-gamma" in shown
    assert "use    3.73063: gaussian-analytic, the simplest within 0.1%" in shown


def test_the_command_in_words(capsys):
    arguments = ["limit", "--shape", "1", "--l2-sensitivity", "1", "--epsilon", "1"]
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    # sqrt(1.9181), rounded down, and sqrt(2) for Laplace noise; their ratio 1.02113 is rounded up.
    assert "limit  1.38495: " in shown and "best   1.41421: hb, 1.0212 times the limit" in shown
    assert shown.startswith(
        "Answer of shape 1, M = 1, l2 sensitivity 1, l1 1, linf 1, add-remove, "
    )
    assert max(map(len, shown.splitlines())) <= 100
    norms = ["--l2-sensitivity", "0.5", "--l1-sensitivity", "1", "--linf-sensitivity", "0.5"]
    assert main(["limit", "--shape", "4", *norms, "--epsilon", "1", "--fast"]) == 0
    assert "l2 sensitivity 0.5, l1 1, linf 0.5, add-remove, (1, 0)-DP" in capsys.readouterr().out
    assert main([*arguments, "--element-range", "0,1"]) == 0
    shown = capsys.readouterr().out
    assert "no bound known: the bound is for answers of unrestricted range" in shown
    assert "The limit is for answers" not in shown


def test_compare_says_how_far_from_the_limit():
    query = Query(shape=(2000,), l2_sensitivity=1.0)
    frame = compare(query, BUDGET, mechanisms=["gaussian-analytic"])
    row = frame.iloc[0]
    assert row["of_limit"] == row["rmse"] / limit(query, BUDGET, fast=True).rmse
    assert 1 < row["of_limit"] < 1.02
    asked = compare(query, BUDGET, workload="prefix", mechanisms=["gaussian-analytic"])
    assert math.isnan(asked["of_limit"].iloc[0])


def test_verify_names_the_limit_that_a_claim_breaks_and_no_other():
    query = Query(shape=(5000,), l2_sensitivity=1.0)
    claim = verify(get_mechanism("r1smg").calibrate(query, BUDGET), effort=None)
    stated, least = claim.limit_broken
    assert stated == pytest.approx(math.sqrt(claim.expected_loss / 5000))
    assert least == limit(query, BUDGET, fast=True).rmse > 100 * stated
    assert claim.to_dict()["limit_rmse_broken"] == least
    assert "no mechanism of this error can be (1, 1e-05)-DP: the limit is" in explain(claim)
    assert dataclasses.replace(claim, expected_loss=5000 * (0.99 * least) ** 2).limit_broken
    honest = verify(get_mechanism("gaussian-analytic").calibrate(query, BUDGET), effort=None)
    assert honest.limit_broken is None and "the limit" not in explain(honest)
