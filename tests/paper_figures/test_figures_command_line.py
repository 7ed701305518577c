"""The command line of the figures: a run that is not there, a command that is none."""

from pathlib import Path

import pytest

from paper_figures.__main__ import main

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def in_the_project(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("run", ["refrence", "../reference", ""])
def test_an_unknown_run_lists_those_with_results(run, capsys):
    assert main(["where", run]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "holds no results" in line and "runs with results: " in line and "reference" in line


def test_the_nearest_run_is_named(capsys):
    assert main(["where", "refrence"]) == 2
    assert "did you mean 'reference'?" in capsys.readouterr().err


def test_without_any_results(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["draw", "quick"]) == 2
    assert "runs with results: none, so start one with `make run`" in capsys.readouterr().err


def test_where(capsys):
    assert main(["where", "reference"]) == 0
    assert "ledger   results/reference/claims.md" in capsys.readouterr().out


def test_an_unknown_command_is_told_in_one_line(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["drow", "reference"])
    assert stopped.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "invalid choice: 'drow' (choose from 'draw', 'judge', 'where')" in line
