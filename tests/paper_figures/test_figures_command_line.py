"""The command line of the figures, and its errors for unknown runs and commands."""

import re
import shutil
from pathlib import Path

import pytest

from paper_figures.__main__ import main
from site_builder.__main__ import main as site

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def in_the_project(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("run", ["refrence", "../reference", ""])
def test_an_unknown_run_lists_those_with_results(run, capsys):
    assert main(["draw", run]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "results has no run with tables" in line and "it has reference" in line
    assert ("did you mean 'reference'?" in line) == bool(run)


@pytest.mark.parametrize("command", [main, site])
def test_a_damaged_table_is_told_in_one_line(tmp_path, monkeypatch, capsys, command):
    monkeypatch.chdir(tmp_path)
    table = tmp_path / "results/quick/studies/guarantee.parquet"
    table.parent.mkdir(parents=True)
    table.write_bytes(b"PAR1")
    shutil.copy(ROOT / "results/reference/claims.csv", table.parents[1])
    shutil.copy(ROOT / "CITATION.cff", tmp_path)
    assert command(["draw" if command is main else "build", "quick"]) == 2
    assert "guarantee.parquet is damaged: " in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(
    ("claim", "number"),
    [
        ("r1-thm5", "true delta 0.2166 at (1e-05, 1e-07) and 89x89 elements"),
        ("tldp-thm1", "claimed 1-LDP: true delta(1) at least 0.999999 with 784 components"),
        ("mgm-thm2-udn", "with 1.15e+04 to 1.16e+04 times the variance"),
        ("r1-f4-max", "in every box with SoHo and LaGuardia: at least 51 (stated 27): contrad"),
    ],
)
def test_show_prints_the_numbers_of_a_claim(claim, number, capsys):
    assert main(["show", "reference", claim]) == 0
    assert number in " ".join(capsys.readouterr().out.split())


def test_show_prints_all_numbers_and_with_all_the_method_too(capsys):
    assert main(["show", "reference", "tldp-f3-order"]) == 0
    short, _, origin = capsys.readouterr().out.partition("Rows of ")
    assert re.search(r": \d+ cells by commit [0-9a-f]{12} on a [CG]PU", " ".join(origin.split()))
    assert max(map(len, short.splitlines())) < 100 and "\nComputed: " not in short
    number = "CIFAR-10, TLDP-G above the baselines: Laplace: 0.02309 [95%: \N{MINUS SIGN}0.0"
    assert number in " ".join(short.split())
    assert main(["show", "reference", "tldp-f3-order", "--all"]) == 0
    assert "\nComputed: " in capsys.readouterr().out


def test_an_unknown_claim_is_told_in_one_line(capsys):
    for name in ("r1-thm55", "R1-THM5"):
        assert main(["show", "reference", name]) == 2
        assert capsys.readouterr().err == (
            f"error: there is no claim {name!r}; did you mean 'r1-thm5'? "
            "results/reference/claims.md lists them all\n"
        )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("drow reference", "invalid choice: 'drow' (choose from 'draw', 'judge', 'show')"),
        ("show reference", "the following arguments are required: claim; see"),
        ("judge reference r1-thm5", "unrecognized arguments: r1-thm5; see"),
        ("judge reference --all", "unrecognized arguments: --all"),
    ],
)
def test_an_unknown_command_or_argument_is_told_in_one_line(given, words, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(given.split())
    told = capsys.readouterr().err
    assert words in told and told.count("\n") == 1


def test_a_drawing_that_a_run_does_not_have_is_told_in_one_line(capsys):
    assert main(["draw", "reference", "suite_headlin"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("error: results/reference has no figure or table 'suite_headlin'; did")
    assert "you mean 'suite_headline'? it has imgm2022_fig1, " in told and told.count("\n") == 1
    assert main(["draw", "reference", "x"]) == 2
    assert "no figure or table 'x'; it has imgm2022_fig1, " in capsys.readouterr().err
