"""The template of a data set works as it is, in one file."""

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import datasets.loaders
from datasets import DataError
from datasets.__main__ import main

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
