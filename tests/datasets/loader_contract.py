"""The contract of every loader of official data, on a small data set in the official format."""

import dataclasses
import hashlib
import importlib

import pytest

import datasets
from datasets import DATASETS, DataError
from datasets.entry import RemoteFile


def loader(name):
    return importlib.import_module(f"datasets.loaders.{name}")


def declare(monkeypatch, name, data, rows):
    """State the files of `data/<name>/` and these numbers of rows in the loader's entry."""
    files = []
    for file in DATASETS[name].files:
        content = (data / name / file.name).read_bytes()
        files.append(RemoteFile(name=file.name, sha256=hashlib.sha256(content).hexdigest()))
    entry = dataclasses.replace(DATASETS[name], files=tuple(files), rows=rows)
    monkeypatch.setattr(loader(name), "ENTRY", entry)


class LoaderContract:
    """A subclass defines `cases`, from a name to a writer that returns row counts and a check."""

    cases = {}

    @pytest.fixture
    def small(self, name, tmp_path, monkeypatch):
        """The name, the data folder and the numbers of rows of a small data set."""
        (tmp_path / name).mkdir()
        write, _ = self.cases[name]
        rows = write(tmp_path / name)
        declare(monkeypatch, name, tmp_path, rows)
        return name, tmp_path, rows

    def test_reads_the_official_format(self, small):
        name, data, _ = small
        _, check = self.cases[name]
        check(datasets.load(name, data))

    def test_refuses_another_number_of_rows(self, small, monkeypatch):
        name, data, rows = small
        for part, count in rows.items():
            other = dataclasses.replace(DATASETS[name], rows=rows | {part: count + 1})
            with monkeypatch.context() as patch:
                patch.setattr(loader(name), "ENTRY", other)
                found = f"{part}: found {count}, expected {count + 1}"
                missing = f"it has no MovementAAL_RSS_{count + 1}.csv"
                with pytest.raises(DataError, match=f"records .*{found}|{missing}"):
                    datasets.load(name, data)

    def test_refuses_a_changed_file(self, small):
        name, data, _ = small
        path = data / name / DATASETS[name].files[0].name
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"sha256 \w{64}, expected sha256 \w{64}"):
            datasets.load(name, data)

    def test_refuses_an_empty_folder(self, small, tmp_path):
        name, _, _ = small
        with pytest.raises(DataError, match=f"python -m datasets fetch {name}"):
            datasets.load(name, tmp_path / "elsewhere")
