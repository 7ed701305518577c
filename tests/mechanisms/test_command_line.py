"""The command line, as a person and as a program see it."""

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
    assert main(["list"]) == 0
    assert "R1SMG" in capsys.readouterr().out


def test_describe_shows_options_and_their_ranges(capsys):
    assert main(["describe", "mvg"]) == 0
    shown = capsys.readouterr().out
    assert "published or sqrt" in shown
    assert "Theorem 3" in shown


def test_calibrate_as_json(capsys):
    assert main(["calibrate", "gaussian-analytic", *UBER, "--delta", "1e-7", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["noise"]["sigma"] == pytest.approx(12.7218, rel=1e-5)
    assert answer["expected_loss"] == pytest.approx(1.28197e6, rel=1e-5)


def test_calibrate_tells_out_of_range_use(capsys):
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
        (["calibrate", "mvg", *UBER, "--delta", "1e-7"], 3, "frobenius_bound"),
        (["calibrate", "gaussian", *UBER, "--delta", "1e-7", "--option", "x=1"], 2, "no options"),
    ],
)
def test_bad_input_is_told_without_a_traceback(arguments, status, words, capsys):
    assert main(arguments) == status
    assert words in capsys.readouterr().err


def test_bad_shape_is_told(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(
            ["calibrate", "gaussian", "--shape", "8by8", "--l2-sensitivity", "1", "--epsilon", "1"]
        )
    assert stopped.value.code == 2
    assert "89x89" in capsys.readouterr().err


def test_runs_as_a_module():
    shown = subprocess.run(
        [sys.executable, "-m", "mechanisms", "list"], capture_output=True, text=True, check=True
    )
    assert "imgm2022" in shown.stdout
