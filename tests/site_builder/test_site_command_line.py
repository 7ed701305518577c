"""The command line of the site reports errors in one line."""

import pytest

from site_builder import notebook, readme
from site_builder.__main__ import main


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["built", "tiny"],
            "argument command: invalid choice: 'built' (choose from 'build')",
        ),
        (["build"], "the following arguments are required: run"),
    ],
)
def test_a_usage_error_is_one_line(arguments, words, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert capsys.readouterr().err == (f"error: {words}; see python -m site_builder --help\n")


@pytest.mark.parametrize("script", [notebook, readme])
@pytest.mark.parametrize(("arguments", "status"), [(["--help"], 0), (["--nope"], 2)])
def test_a_script_that_rewrites_files_asked_for_help_rewrites_none(
    script, arguments, status, capsys
):
    with pytest.raises(SystemExit) as stopped:
        script.main(arguments)
    assert stopped.value.code == status
    told = capsys.readouterr()
    assert f"{script.__name__} [-h]" in told.out or told.err.count("\n") == 1


def test_a_run_without_results_is_an_error_of_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["build", "tiny"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: results/tiny holds no results; runs with results: none")
