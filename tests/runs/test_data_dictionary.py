"""The data dictionary describes the tables that are stored, and its example runs."""

import re
import sys
from pathlib import Path

import pytest

from runs.config import read_config
from runs.data_dictionary import data_dictionary
from runs.result_table import AFTER, BEFORE, METRICS_OF_EVERY_STUDY
from runs.results import read_frame
from studies.base.study import all_studies

ROOT = Path(__file__).resolve().parents[2]
STORED = ROOT / "results" / "reference" / "studies"


def test_a_study_without_docstrings_has_its_name_for_a_title(monkeypatch):
    """Python removes docstrings with -OO."""
    study = all_studies()["pca"]
    assert study.title != "pca"
    monkeypatch.setattr(sys.modules[type(study).__module__], "__doc__", None)
    assert study.title == "pca"


@pytest.mark.parametrize("name", read_config(ROOT / "config" / "reference.yaml")["studies"])
def test_stored_columns_and_metrics_are_described(name):
    study = all_studies()[name]
    section = data_dictionary().split(f"## {study.name}\n")[1].split("\n## ")[0]
    everywhere = {column.name for column in (*BEFORE, *AFTER)} | set(METRICS_OF_EVERY_STUDY)
    files = [f"{study.name}.parquet", f"{study.name}.timings.parquet"]
    files += [f"{study.name}.maps.parquet"] if study.maps else []
    for file in files:
        frame = read_frame(STORED / file)
        names = {*frame.columns, *frame.loc[frame["status"] == "ok", "metric"]} - everywhere
        assert {name for name in names if f"| `{name}` |" not in section} == set(), file


def test_the_example_runs(monkeypatch):
    monkeypatch.chdir(ROOT)
    code = re.search(r"```python\n(.*?)```", data_dictionary(), re.DOTALL)[1]
    *lines, last = code.strip().splitlines()
    names = {}
    exec("import pandas as pd\n" + "\n".join(lines), names)
    means = eval(last, names)
    assert means.index.names == ["mechanism", "calibration", "epsilon"]
    assert means.notna().all()
    assert len(means) > 3
