"""`python -m runs` from end to end, in its own working directory."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from datasets import DataError
from runs.__main__ import main
from runs.cells import cells_of
from runs.config import read_config
from runs.results import frame_of
from runs.store import read_cell
from studies.base.study import all_studies

ROOT = Path(__file__).resolve().parents[2]
TINY = str(ROOT / "config/tiny.yaml")
CITY = ["run", "count_query", "--dataset", "city", "--config", TINY]


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Results go to the working directory."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
def test_a_cell_from_the_command_line_and_again(tmp_path):
    arguments = [*CITY, "--mechanism", "mvg-sqrt", "--calibration", "exact"]
    ended = subprocess.run(
        [sys.executable, "-m", "runs", *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert re.search(
        r"^ *12x12 +0.5 +expected_loss +\d+(e\+\d+)? +0 +pickups²$", ended.stdout, re.M
    )
    stem = "results/tiny/cells/count_query/city/mvg-sqrt--exact"
    one = tmp_path / f"{stem}.parquet"
    assert f"rows, seconds and memory in {stem}.parquet" in ended.stdout
    first, _ = read_cell(one)
    one.unlink()
    assert main(arguments) == 0
    rows, timings = read_cell(one)
    assert rows.equals(first)
    assert len(timings) > 0
    frame = frame_of(rows)
    names = frame[["status", "mechanism", "calibration", "data_source"]].drop_duplicates()
    assert names.values.tolist() == [["ok", "mvg-sqrt", "exact", "simulated"]]
    assert frame["epsilon"].nunique() == 2
    assert not list(tmp_path.rglob(".*.partial"))


def test_a_damaged_cell_is_told_in_one_line(capsys):
    arguments = [*CITY, "--mechanism", "gaussian"]
    assert main(arguments) == 0
    path = Path("results/tiny/cells/count_query/city/gaussian--published.parquet")
    # The damage leaves the footer with the digest intact.
    changed = bytearray(path.read_bytes())
    changed[60] ^= 0x55
    path.write_bytes(changed)
    capsys.readouterr()
    assert main(arguments) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: {path} is damaged: ")
    assert line.endswith("; restore it, or remove it and run again")


def test_what_is_unsupported_is_told_and_no_failure(capsys):
    assert main([*CITY, "--mechanism", "idn"]) == 0
    shown = capsys.readouterr().out
    assert "unsupported: 12x12, epsilon 0.5: needs element_range" in shown
    assert main([*CITY, "--mechanism", "gaussian"]) == 0
    meaning = all_studies()["count_query"].metric("expected_loss").meaning
    assert f"\nexpected_loss: {meaning}\n" in capsys.readouterr().out


def test_a_mechanism_that_fails_ends_with_status_1(tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(tmp_path)
    Path("broken.py").write_text(
        "from mechanisms.catalogue.laplace import Laplace\n"
        "class Broken(Laplace):\n"
        "    key = 'broken'\n"
        "    @classmethod\n"
        "    def noise_for(cls, query, budget):\n"
        "        raise RuntimeError('no noise today')\n"
    )
    Path("broken.yaml").write_text(Path(TINY).read_text() + "\nalso: ['broken:Broken']\n")
    arguments = ["run", "count_query", "--dataset", "city", "--config", "broken.yaml"]
    assert main([*arguments, "--mechanism", "broken"]) == 1
    shown = capsys.readouterr().out
    assert "no numbers:\nerror: 12x12, epsilon 0.5: RuntimeError: no noise today" in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["--mechanism", "gausian"],
            "tiny.yaml, study count_query, dataset city has no mechanism 'gausian'; did you mean "
            "'gaussian'? it has ",
        ),
        (
            ["--mechanism", "non-private", "--calibration", "exact"],
            "dataset city, mechanism non-private has no calibration 'exact'; it has published",
        ),
        (["--dataset", "citty", "--mechanism", "mvg"], "count_query has no dataset 'citty'; did"),
        (["--mechanism", "mvg", "--config", "nowhere.yaml"], "cannot read nowhere.yaml"),
    ],
)
def test_a_cell_that_the_config_does_not_have(capsys, arguments, words):
    assert main([*CITY, *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("error: ")
    assert words in captured.err
    assert not Path("results").exists()


def test_missing_data_are_told_in_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DATA_MIRROR", str(tmp_path / "empty"))
    config = Path(TINY).read_text().replace("datasets: [city]", "datasets: [uber]")
    assert "uber" in config

    def refuse(name, folder, *, mirror):
        assert (name, mirror) == ("uber", str(tmp_path / "empty"))
        raise DataError("uber: no mirror has its files")

    # Replaces the download, because this test must not depend on a network.
    monkeypatch.setattr("runs.__main__.fetch", refuse)
    Path("uber.yaml").write_text(config)
    arguments = ["run", "count_query", "--dataset", "uber", "--mechanism", "gaussian"]
    assert main([*arguments, "--config", "uber.yaml"]) == 1
    assert capsys.readouterr().err == "error: uber: no mirror has its files\n"


def test_a_config_is_checked(capsys):
    assert main(["check", TINY]) == 0
    cells = len(cells_of(read_config(TINY)))
    assert f"tiny.yaml: {cells} cells, " in capsys.readouterr().out
    Path("bad.yaml").write_text("run: bad\n  seed: 1\n")
    assert main(["check", "bad.yaml"]) == 2
    assert capsys.readouterr().err.startswith(
        'error: bad YAML: mapping values are not allowed here in "bad.yaml", line 2'
    )


def test_a_variant_whose_module_is_no_python_is_told_with_its_line(tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(tmp_path)
    Path("no_python.py").write_text("def release(:\n    pass\n")
    variants = "\nvariants:\n  mine: {use: 'no_python:Mine'}\n"
    Path("mine.yaml").write_text(Path(TINY).read_text() + variants)
    assert main(["check", "mine.yaml"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "key variants.mine.use: cannot load mechanism 'no_python:Mine'" in line
    assert line.endswith("no_python.py, line 1): invalid syntax")
