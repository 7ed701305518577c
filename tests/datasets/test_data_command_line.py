"""`python -m datasets` lists and fetches data sets."""

import re
import subprocess
import sys

from datasets import DATASETS
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


def test_fetch_that_fails_exits_with_1_and_goes_on(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("DATA_MIRROR", str(tmp_path))
    assert main(["fetch", "minst", "city", "darknet2020", "--folder", str(tmp_path / "data")]) == 1
    errors = capsys.readouterr().err
    assert "error: unknown data set 'minst'; did you mean mnist? known are adult, " in errors
    assert "error: city is simulated" in errors
    assert f"{tmp_path}/darknet2020/Darknet.CSV: no such file" in errors
    assert "https://www.unb.ca/cic/datasets/darknet2020.html" in errors
    assert len(errors.splitlines()) == 3
