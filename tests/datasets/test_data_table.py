"""The table of data sets, and the command line that shows it."""

import importlib
import re
import subprocess
import sys

import pytest

from datasets import DATASETS, DataError, load
from datasets.__main__ import main

OFFICIAL = [entry for entry in DATASETS.values() if entry.source == "official"]


def remote_files():
    for entry in OFFICIAL:
        yield from ((entry, file) for file in entry.files)
        yield from ((entry, file) for file in (entry.archive, entry.repack) if file is not None)


def test_every_planned_data_set_is_declared():
    planned = "mnist cifar10 imdb adult uber swarm liver_disorders movement_aal cardiotocography"
    planned += " cora location30 purchase100 texas100 svhn darknet2020 mobilenet_v2"
    assert {entry.name for entry in OFFICIAL} == set(planned.split())
    assert DATASETS["city"].source == "simulated"


@pytest.mark.parametrize("name", DATASETS)
def test_every_data_set_has_a_loader(name):
    module = importlib.import_module(f"datasets.loaders.{name}")
    assert callable(module.load)
    assert module.__doc__


@pytest.mark.parametrize("entry", OFFICIAL, ids=lambda entry: entry.name)
def test_entries_are_complete(entry):
    assert entry.title and entry.licence and entry.citation and entry.rows and entry.files
    assert all(count > 0 for count in entry.rows.values())
    served = all(file.urls for file in entry.files) or (entry.archive and entry.archive.urls)
    assert served or entry.manual
    if entry.archive is not None:
        # What comes out of an archive is checked file by file.
        assert all(file.sha256 for file in entry.files)
    if entry.repack is not None:
        assert entry.repack.sha256 and not entry.repack.urls


def test_checksums_and_addresses_are_well_formed():
    for _, file in remote_files():
        assert "/" not in file.name
        assert file.sha256 is None or re.fullmatch("[0-9a-f]{64}|[0-9a-f]{8}", file.sha256)
        assert file.md5 is None or re.fullmatch("[0-9a-f]{32}", file.md5)
        assert all(re.match("https?://", url) for url in file.urls)


def test_no_checksum_is_listed_twice():
    known = [file.sha256 for _, file in remote_files() if file.sha256]
    assert len(known) == len(set(known))


def test_load_of_an_unknown_name():
    with pytest.raises(DataError, match="did you mean mnist"):
        load("minst", "data")


def test_list(tmp_path, capsys):
    (tmp_path / "uber").mkdir()
    (tmp_path / "uber" / "uber-raw-data-apr14.csv").write_text("")
    assert main(["list", "--folder", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert all(re.search(rf"^{name} ", shown, re.MULTILINE) for name in DATASETS)
    assert re.search(r"^uber +official +yes .*pickups 564,516$", shown, re.MULTILINE)
    assert re.search(r"^mnist +official +no ", shown, re.MULTILINE)
    assert re.search(r"^city +simulated +- .*pickups$", shown, re.MULTILINE)


def test_fetch_that_fails_exits_with_1_and_goes_on(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("DATA_MIRROR", str(tmp_path))
    assert main(["fetch", "city", "darknet2020", "--folder", str(tmp_path / "data")]) == 1
    errors = capsys.readouterr().err
    assert "error: city is simulated" in errors
    assert f"{tmp_path}/darknet2020/Darknet.CSV: no such file" in errors
    assert "https://www.unb.ca/cic/datasets/darknet2020.html" in errors


def test_fetch_from_a_mirror(tmp_path, capsys):
    (tmp_path / "mirror" / "darknet2020").mkdir(parents=True)
    (tmp_path / "mirror" / "darknet2020" / "Darknet.CSV").write_text("a,b\n")
    folder, mirror = str(tmp_path / "data"), str(tmp_path / "mirror")
    assert main(["fetch", "darknet2020", "--folder", folder, "--mirror", mirror]) == 0
    assert capsys.readouterr().out == f"darknet2020: verified in {folder}/darknet2020\n"


def test_the_module_runs_and_imports_little():
    """To read the table and to fetch needs no numerical library."""
    program = (
        "import sys; from datasets.__main__ import main; main(['list']);"
        "print([name for name in ('numpy', 'pandas', 'torch', 'scipy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("[]\n")
