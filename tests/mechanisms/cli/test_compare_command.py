"""The command `compare`, as people and programs use it."""

import json

import numpy as np
import pytest

from mechanisms.__main__ import main
from mechanisms.cli.compare_command import is_identity, read_workload
from mechanisms.comparison import advisor
from mechanisms.comparison.assessment import assessed_rows

QUERY = ["compare", "--shape", "6", "--l2-sensitivity", "1", "--l1-sensitivity", "1"]
FEW = ["--mechanisms", "laplace,gaussian-analytic,dawa,imgm,idn,mgm"]


@pytest.fixture(autouse=True)
def assessed_here(monkeypatch):
    """Compare in this process; test_misbehaving_mechanisms.py tests the separate processes."""
    monkeypatch.setattr(
        advisor, "rows_in_time", lambda task, key, seconds: assessed_rows(task, key)
    )


def test_the_text_has_ranks_reasons_and_a_conclusion(capsys):
    arguments = [*QUERY, *FEW, "--epsilon", "1", "--delta", "1e-5", "--workload", "prefix"]
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    lines = shown.splitlines()
    head = "Answer of shape 6, M = 6, l2 sensitivity 1, l1 1, add-remove. RMSE per query."
    assert lines[0] == head
    # The error is below its published value, the root of 2 b^2 (n + 1) / 2 = 7.
    laplace = next(line.split() for line in lines if line.startswith("1 "))
    assert laplace[:3] == ["1", "laplace", "exact"]
    assert laplace[3] == "2.6457"
    assert sum(line.startswith("2 ") for line in lines) == 2
    assert "  idn, mgm: each is defined for matrix-valued queries" in shown
    assert "  dawa: it has only a bound on its true privacy: " in shown
    assert "\nAt (1, 1e-05) use Laplace, as published (b 1), for the least" in shown


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_public_answer_ranks_mechanisms_whose_error_depends_on_it(tmp_path, capsys, mark):
    """With two levels of counts, DAWA pools equal cells, and its error is far below the noise."""
    file = tmp_path / "counts.csv"
    file.write_text(mark + "\n".join(["20"] * 16 + ["3"] * 16), encoding="utf-8")
    arguments = ["compare", "--structure", "histogram", "--answer", str(file), "--epsilon", "1"]
    assert main([*arguments, "--mechanisms", "laplace,dawa", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["rows"][:2]
    assert (first["mechanism"], first["rank"], first["of_limit"]) == ("dawa", 1, None)
    assert first["rmse"] < 0.5 < second["rmse"]
    assert main([*arguments, "--shape", "5"]) == 2
    assert "must have the query's shape (5,), got (32,)" in capsys.readouterr().err
    file.write_text("nan\n1\n")
    assert main(arguments) == 2
    assert "the value must be finite, got nan at index (0,)" in capsys.readouterr().err
    file.write_text("pickups\n1\n")
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert "could not convert string 'pickups' to float64 at row 0" in capsys.readouterr().err


def test_json_has_the_rows_of_every_budget(capsys):
    assert main([*QUERY, *FEW, "--epsilon", "1,2", "--delta", "1e-5", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert len(answer["rows"]) == 2 * 2 * 6
    assert len(answer["conclusion"]) == 2
    assert {row["rmse"] is None for row in answer["rows"]} == {True, False}


def test_the_best_is_printed_with_code_that_runs(capsys):
    few = ["--mechanisms", "matrix-mechanism-l1,gaussian", "--workload", "prefix"]
    assert main([*QUERY, *few, "--epsilon", "1.00000001", "--best"]) == 0
    _, told, code = capsys.readouterr().out.split("\n\n", 2)
    assert told.startswith("At (1, 0) use Matrix mechanism (Laplace), as published (b 1), ")
    assert 'calibrate(query, budget, "published", workload=' in code
    names = {}
    exec(code, names)
    assert names["budget"].epsilon == 1.00000001
    assert names["mechanism"].settings["workload"] is not None
    assert names["released"].shape == (6,)
    assert main([*QUERY, "--mechanisms", "idn", "--epsilon", "1", "--best"]) == 3
    assert "no mechanism supports this query" in capsys.readouterr().out


def test_where_nothing_is_ranked_there_are_reasons_a_status_and_no_empty_table(capsys):
    for epsilons in ("1", "1,2"):
        assert main([*QUERY, "--mechanisms", "idn", "--epsilon", epsilons]) == 3
        head, reasons, end = capsys.readouterr().out.split("\n\n")
        assert head.startswith("Answer of shape")
        assert reasons.startswith("Not ranked:\n  idn: it needs")
        assert " ".join(end.split()).startswith("At (1, 0) no mechanism supports this query")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--epsilon", "1", "--mechanisms", "laplac"], "did you mean 'laplace'"),
        (["--epsilon", "-1"], "epsilon must be a number from"),
        (["--epsilon", "1,1", "--delta", "0"], "each of them once"),
        (["--epsilon", "1,2", "--best"], "--best takes one --epsilon, got 2"),
        (["--epsilon", "1", "--workload", "prefix,prefix"], "one workload per axis"),
    ],
)
def test_bad_input_is_reported_in_one_line(more, words, capsys):
    assert main([*QUERY, *more]) == 2
    printed = capsys.readouterr().err
    assert words in printed
    assert printed.count("\n") == 1


def test_every_budget_has_a_table_that_says_where_claims_are_refuted(capsys):
    mechanisms = ["--mechanisms", "gaussian,r1smg"]
    assert main([*QUERY, *mechanisms, "--epsilon", "1,30", "--delta", "1e-5"]) == 0
    _, first, second, *_ = capsys.readouterr().out.split("\n\n")
    assert first.startswith("At (1, 1e-05):\n") and second.startswith("At (30, 1e-05):\n")
    for table, verdict in ((first, "loose"), (second, "refuted")):
        gaussian, r1smg = table.splitlines()[-2:]
        assert gaussian.split()[1] == "gaussian" and gaussian.endswith(verdict)
        assert r1smg.split()[1] == "r1smg" and r1smg.endswith("refuted")


def test_an_unreadable_workload_is_reported(capsys, tmp_path):
    for name, rows in (("rows.csv", "1,2\n3\n"), ("empty.csv", "")):
        (tmp_path / name).write_text(rows)
    for given, words in (
        ("prefx", "must be one of identity"),
        (str(tmp_path / "none.npy"), "No such file"),
        (str(tmp_path / "rows.csv"), "cannot read the matrix"),
        (str(tmp_path / "empty.csv"), "no data"),
    ):
        with pytest.raises(SystemExit) as stopped:
            main([*QUERY, "--epsilon", "1", "--workload", given])
        assert stopped.value.code == 2 and words in capsys.readouterr().err


def test_workloads_are_names_or_matrices(tmp_path):
    rows = np.array([[1.0, 0.0], [1.0, 1.0]])
    np.save(tmp_path / "rows.npy", rows)
    np.savetxt(tmp_path / "rows.csv", rows, delimiter=",")
    for name in ("rows.npy", "rows.csv"):
        assert np.array_equal(read_workload(str(tmp_path / name)), rows)
    assert read_workload("prefix,identity") == ["prefix", "identity"]
    assert is_identity("identity")
    assert is_identity(read_workload("identity,identity"))
    assert not is_identity(read_workload("prefix,identity"))
    assert not is_identity(np.eye(2))
