"""The command line, as people and programs use it."""

import json
import subprocess
import sys

import pytest

from mechanisms.__main__ import main

UBER = ["--shape", "89x89", "--l2-sensitivity", "1.4142135623730951", "--epsilon", "0.5"]


def test_list_shows_every_mechanism(capsys):
    assert main(["list", "--json"]) == 0
    keys = {row["key"] for row in json.loads(capsys.readouterr().out)}
    assert {"r1smg", "mvg", "gaussian-analytic"} <= keys


def test_calibrate_as_json(capsys):
    assert main(["calibrate", "gaussian-analytic", *UBER, "--delta", "1e-7", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["l2_sensitivity"], answer["adjacency"]) == (2**0.5, "add-remove")
    assert "l1_sensitivity" not in answer
    assert answer["noise"]["sigma"] == pytest.approx(12.7218, rel=1e-5)
    assert answer["expected_loss"] == pytest.approx(1.28197e6, rel=1e-5)


def test_calibrate_reports_use_out_of_range(capsys):
    assert main(["calibrate", "r1smg", *UBER, "--delta", "1e-7"]) == 0
    captured = capsys.readouterr()
    assert "epsilon < 1/M" in captured.err
    assert "sigma_star" in captured.out


def test_options_reach_the_mechanism(capsys):
    arguments = ["calibrate", "mvg", *UBER, "--delta", "1e-7", "--frobenius-bound", "27", "--json"]
    losses = []
    for zeta in ("published", "sqrt"):
        assert main([*arguments, "--option", f"zeta={zeta}"]) == 0
        losses.append(json.loads(capsys.readouterr().out)["expected_loss"])
    assert losses[0] > 100 * losses[1]


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["calibrate", "r1smgg", *UBER], 2, "did you mean 'r1smg'"),
        (["calibrate", "gaussian", *UBER, "--delta", "2"], 2, "0 <= delta < 1"),
        (["calibrate", "mvg", *UBER, "--delta", "1e-7"], 3, "needs --frobenius-bound ="),
        (["calibrate", "gaussian", *UBER, "--delta", "1e-7", "--option", "x=1"], 2, "no options"),
        (
            ["calibrate", "mvg", *UBER, "--frobenius-bound", "27", "--option", "zetta=sqrt"],
            2,
            "mvg has no option 'zetta', allowed are directions, mode, precision, zeta; did you",
        ),
    ],
)
def test_bad_input_is_reported_without_a_traceback(arguments, status, words, capsys):
    assert main(arguments) == status
    assert words in capsys.readouterr().err


# A later value of an option replaces the one in UBER.
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--delta", "-1e-5"], "delta must be a number with 0 <= delta < 1, got -1e-05"),
        (["--epsilon", "-2e-3"], "epsilon must be a number from 1e-15 to 1e15, got -0.002"),
        (["--epsilon", "1e-320"], "epsilon must be a number from 1e-15 to 1e15, got 1e-320"),
        (["--epsilon", "1e300"], "epsilon must be a number from 1e-15 to 1e15, got 1e+300"),
        (["--l2-sensitivity", "-1"], "--l2-sensitivity must be a number from 1e-12 to 1e12, got"),
        (["--l2-sensitivity", "nan"], "must be a number from 1e-12 to 1e12, got nan"),
        (["--structure", "gram"], "--structure gram needs --record-bound, the largest l2 norm"),
        (["--shape", "1000000000x2"], "at most 200,000,000 elements, got 2,000,000,000 in 1000"),
        (["--shape", "8by8"], "--shape: must be positive sizes such as 89x89 or 1000"),
        (["--shape", "-3x3"], "--shape: must be positive sizes such as 89x89 or 1000"),
        (["--shape", "0x3"], "--shape: must be positive sizes such as 89x89 or 1000"),
        (["--element-range", "0,1,2"], "must be two numbers such as 0,1, got '0,1,2'"),
        (["--confidence", "7"], "--confidence: must be a number in (0, 1), got '7'"),
        (["--seed", "-4"], "--seed: must be a whole number from 0 to 18446744073709551615, got"),
        (["--samples", "-4"], "--samples: must be a whole number from 0 to 1000000000, got '-4'"),
        (["--samples", "1e14"], "--samples: must be a whole number from 0 to 1000000000, got"),
        (["--shape", "32, 32"], "sizes such as 89x89 or 1000, got '32, 32'"),
        (
            ["--adjacency", "replaced"],
            "adjacency must be one of add-remove, replace, local, got 'replaced'; did you mean "
            "'replace'?",
        ),
        (
            ["--structure", "mean"],
            "structure must be one of records, gram, histogram, got 'mean'; for a sum or mean "
            "of records state no structure, but its --l2-sensitivity",
        ),
    ],
)
def test_a_bad_value_is_reported_in_one_line(arguments, words, capsys):
    try:
        status = main(["verify", "mgm", *UBER, "--delta", "1e-7", *arguments])
    except SystemExit as stopped:
        status = stopped.code
    assert status == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ") and words in line


RAISING = """
from mechanisms import AdditiveMechanism
from mechanisms.noise.gaussian_noise import IndependentGaussian


class Raising(AdditiveMechanism):
    key, title, paper, theorem, guarantee = "mine", "Mine", "test", "none", "approximate"
    only_adds_noise = False

    @classmethod
    def noise_for(cls, query, budget):
        return IndependentGaussian(shape=query.shape, sigma=budget.epsilon)

    def _release(self, value, rng):
        raise {error}("on purpose")
"""


@pytest.mark.parametrize("error", ["ZeroDivisionError", "ValueError"])
def test_an_exception_of_a_release_is_no_verdict(tmp_path, monkeypatch, capsys, error):
    path = tmp_path / f"raises_{error.lower()}.py"
    path.write_text(RAISING.format(error=error))
    monkeypatch.syspath_prepend(tmp_path)
    name = f"{path.stem}:Raising"
    assert main(["verify", name, *UBER, "--delta", "1e-7"]) == 2
    assert capsys.readouterr().err == (
        f"error: {error} ({path}, line 15, in _release): on purpose\n"
    )


def test_an_exception_that_is_not_the_input_s_fault_has_its_place(monkeypatch, capsys):
    def fail(options):
        raise ZeroDivisionError("a mistake of ours")

    monkeypatch.setattr("mechanisms.__main__.mechanism_of", fail)
    assert main(["verify", "mgm", *UBER]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: ZeroDivisionError ({__file__}, line ")
    assert line.endswith(", in fail): a mistake of ours")


def test_describe_runs_as_a_module_and_does_without_docstrings():
    """`python -OO` removes them."""
    command = [sys.executable, "-OO", "-m", "mechanisms", "describe", "gaussian"]
    assert "guarantee" in subprocess.run(command, capture_output=True, text=True, check=True).stdout
