"""Every loader has a complete entry in the catalogue."""

import re
import sys

import pytest
from test_loaders import OFFICIAL as CASES

import datasets.loaders
from datasets import DATASETS, DataError, load
from datasets.catalogue import loader
from mechanisms.query import extensions

OFFICIAL = [entry for entry in DATASETS.values() if entry.source == "official"]


def remote_files(entry):
    others = (entry.archive, entry.repack)
    return [*entry.files, *(file for file in others if file is not None)]


def test_every_official_data_set_is_tried_in_its_own_format():
    assert {entry.name for entry in OFFICIAL} == set(CASES)


@pytest.mark.parametrize("name", DATASETS)
def test_entries_are_complete(name):
    entry = DATASETS[name]
    assert loader(name).__doc__
    assert entry.title and entry.licence and entry.citation and entry.record
    assert all(count > 0 for count in entry.rows.values())


@pytest.mark.parametrize("entry", OFFICIAL, ids=lambda entry: entry.name)
def test_official_entries_say_what_to_fetch(entry):
    assert entry.rows and entry.files
    served = all(file.urls for file in entry.files) or (entry.archive and entry.archive.urls)
    assert served or entry.manual
    if entry.archive is not None:
        # Files from an archive are checked one by one.
        assert all(file.sha256 for file in entry.files)
    if entry.repack is not None:
        assert entry.repack.sha256 and not entry.repack.urls
    for file in remote_files(entry):
        assert "/" not in file.name
        assert file.sha256 is None or re.fullmatch("[0-9a-f]{64}|[0-9a-f]{8}", file.sha256)
        assert all(re.match("https?://", url) for url in file.urls)


def test_unknown_names():
    with pytest.raises(DataError, match="unknown data set 'cifra10'; did you mean cifar10"):
        load("cifra10")
    with pytest.raises(DataError, match="did you mean mnist"):
        load("minst", "data")
    with pytest.raises(DataError, match="'zzz'; known are adult, boids"):
        load("zzz")
    assert "zzz" not in DATASETS


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("def load(): ...", r"must define ENTRY = Dataset\(name='extra', \.\.\.\)"),
        ("from datasets.loaders.wine import ENTRY, load", r"must define ENTRY = Dataset\(name="),
        (
            "import dataclasses\nfrom datasets.loaders import wine\n"
            "ENTRY = dataclasses.replace(wine.ENTRY, name='extra')",
            "must define the function load",
        ),
    ],
)
def test_a_module_that_is_no_loader(tmp_path, monkeypatch, code, message):
    (tmp_path / "extra.py").write_text(code)
    monkeypatch.setattr(datasets.loaders, "__path__", [*datasets.loaders.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "datasets.loaders.extra", raising=False)
    monkeypatch.setattr(extensions, "_left_out", {})
    with pytest.raises(DataError, match=rf"datasets\.loaders\.extra is left out: it {message}"):
        loader("extra")
    assert "extra" not in DATASETS and "extra" not in list(DATASETS)
    sys.modules.pop("datasets.loaders.extra")


def test_finding_one_data_set_imports_no_other(run_python):
    shown = run_python(
        "import sys, datasets; datasets.DATASETS['mnist']; "
        "print([name for name in ('pandas', 'scipy', 'torch', 'requests') if name in sys.modules])"
    )
    assert shown == "[]\n"
