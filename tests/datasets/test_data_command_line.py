"""`python -m datasets` lists, fetches and parses data sets, also one made from the template."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import datasets.loaders
from datasets import DATASETS, DataError
from datasets.__main__ import main
from mechanisms.cli.arguments import CLOSED_PIPE


def test_list(tmp_path, capsys):
    (tmp_path / "uber").mkdir()
    (tmp_path / "uber" / "uber-raw-data-apr14.csv").write_text("")
    assert main(["list", "--folder", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert all(re.search(rf"^{name} ", shown, re.MULTILINE) for name in DATASETS)
    assert re.search(r"^uber +official +yes .*pickups 564,516$", shown, re.MULTILINE)
    assert re.search(r"^mnist +official +no ", shown, re.MULTILINE)
    assert re.search(r"^city +simulated +- .*pickups$", shown, re.MULTILINE)


def test_list_into_a_pipe_that_is_closed():
    command = f"{sys.executable} -m datasets list | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (CLOSED_PIPE, "")


def test_an_unknown_name_stops_before_anything_is_fetched(tmp_path, capsys):
    assert main(["fetch", "adult", "minst", "--folder", str(tmp_path / "data")]) == 2
    told = capsys.readouterr().err
    assert told.startswith("error: unknown data set 'minst'; did you mean mnist? known are adult")
    assert told.count("\n") == 1 and not (tmp_path / "data").exists()


def test_fetch_that_fails_exits_with_1_and_goes_on(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("DATA_MIRROR", str(tmp_path))
    assert main(["fetch", "city", "darknet2020", "--folder", str(tmp_path / "data")]) == 1
    errors = capsys.readouterr().err
    assert "error: city is simulated" in errors
    assert f"{tmp_path}/darknet2020/Darknet.CSV: no such file" in errors
    assert "https://www.unb.ca/cic/datasets/darknet2020.html" in errors
    assert len(errors.splitlines()) == 2


TEMPLATE = Path(__file__).parents[2] / "extend" / "dataset.py"
CONTENT = "1.5,2,0\n3,4.5,1\n5,6,0\n"


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """Install the template as another loader, with a mirror that has its file."""
    shutil.copy(TEMPLATE, tmp_path / "my_data.py")
    monkeypatch.setattr(datasets.loaders, "__path__", [*datasets.loaders.__path__, str(tmp_path)])
    mirror = tmp_path / "mirror"
    (mirror / "my_data").mkdir(parents=True)
    (mirror / "my_data" / "my_data.csv").write_text(CONTENT)
    yield mirror
    sys.modules.pop("datasets.loaders.my_data", None)


def test_it_is_listed_fetched_and_loaded(copied, tmp_path, capsys):
    data = tmp_path / "data"
    assert main(["fetch", "my_data", "--folder", str(data), "--mirror", str(copied)]) == 0
    assert main(["list", "--folder", str(data)]) == 0
    assert "my_data           official   yes        My data" in capsys.readouterr().out
    loaded = datasets.load("my_data", data)
    assert loaded.features.tolist() == [[1.5, 2.0], [3.0, 4.5], [5.0, 6.0]]
    assert loaded.targets.tolist() == [0, 1, 0]
    assert loaded.targets.dtype == np.int64


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1,2\n", "2 columns, expected 3"),
        ("1,2,x\n", "label: record 1 has 'x', allowed are whole numbers 0..1"),
        ("1,2,0.5\n", "record 1 has 0.5"),
    ],
)
def test_a_file_of_another_form_is_refused(copied, tmp_path, content, message):
    path = tmp_path / "other.csv"
    path.write_text(content)
    module = datasets.catalogue.loader("my_data")
    with pytest.raises(DataError, match=message):
        module.parse(path)
