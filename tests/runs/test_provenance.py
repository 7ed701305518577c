"""The provenance that keeps a cell current, and the manifest that records it."""

import importlib.metadata
import subprocess
from dataclasses import replace

import pytest

from datasets.catalogue import loader
from runs import provenance
from runs.cells import cells_of
from runs.provenance import (
    UNKNOWN,
    Entry,
    Provenance,
    commit_of_tree,
    data_of,
    origins_in,
    provenance_now,
    read_manifest,
    write_manifest,
)
from runs.result_table import DamagedTable
from runs.sources import syntax_digest_of


@pytest.fixture
def spec(make_config):
    return cells_of(make_config(mechanisms=["gaussian"]))[0]


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        ("x = 1  # a comment", True),
        ('"""Another module."""\nx = 1', True),
        ("x = (\n    1\n)", True),
        ("x = 1.0", False),
        ("x = True", False),
        ("x = None", False),
        ("y = 1", False),
        ("x = -1", False),
        ("x = 1\nx", False),
    ],
)
def test_the_meaning_of_code_is_its_syntax_tree(tmp_path, changed, same):
    (tmp_path / "before.py").write_text('"""A module."""\n\nx = 1\n')
    (tmp_path / "after.py").write_text(changed)
    before, after = (syntax_digest_of([str(tmp_path / name)]) for name in ("before.py", "after.py"))
    assert (before == after) is same


def test_what_names_or_draws_a_class_has_no_meaning_elsewhere_it_has(tmp_path):
    shown = 'class A:\n    """{0}."""\n    title: str = "{0}"\n    look = ("{0}", "o", 1)\n'
    texts = {
        "one": shown.format("One") + '    key = "a"\n',
        "renamed": shown.format("Two") + '    key = "a"\n',
        "other key": shown.format("Two") + '    key = "b"\n',
        "module": 'title = "One"\n',
        "other module": 'title = "Two"\n',
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
    meaning = {name: syntax_digest_of([str(tmp_path / f"{name}.py")]) for name in texts}
    assert meaning["one"] == meaning["renamed"]
    assert meaning["one"] != meaning["other key"]
    assert meaning["module"] != meaning["other module"]


def test_a_file_that_is_no_python_means_its_bytes(tmp_path):
    (tmp_path / "law.so").write_bytes(b"\x7fELF 1")
    before = syntax_digest_of([str(tmp_path / "law.so")])
    (tmp_path / "other.so").write_bytes(b"\x7fELF 2")
    assert syntax_digest_of([str(tmp_path / "other.so")]) != before


def test_data_without_a_published_checksum_are_those_that_were_recorded(spec, tmp_path):
    reading = replace(spec, reads=("movement_aal",), data_folder=str(tmp_path))
    assert data_of(spec) == ""
    assert data_of(reading) == UNKNOWN
    folder = tmp_path / "movement_aal"
    folder.mkdir()
    names = [file.name for file in loader("movement_aal").ENTRY.files]
    digests = []
    for digit in "ab":
        lines = [f"{digit * 64}  {name}\n" for name in names]
        (folder / "SHA256SUMS").write_text("".join(lines))
        digests.append(data_of(reading))
    assert len({*digests, UNKNOWN, ""}) == 4
    measured = replace(provenance_now(reading, "here"), data=digests[0])
    assert measured.differs(reading) == ["data"]
    (folder / "SHA256SUMS").unlink()
    assert measured.differs(reading) == [], "what is not at hand is compared by what reads it"


def test_each_change_has_a_name(spec):
    measured = provenance_now(spec, "here")
    assert measured.differs(spec) == []
    assert measured.differs(replace(spec, code="other")) == ["code"]
    assert measured.differs(replace(spec, asked="other")) == ["settings"]
    assert measured.differs(replace(spec, code="other", asked="other")) == ["code", "settings"]


def test_the_commit_is_that_of_a_clean_tree_of_the_project(tmp_path, monkeypatch):
    def shell(line):
        return subprocess.run(line, shell=True, capture_output=True, text=True, check=True).stdout

    monkeypatch.chdir(tmp_path)
    assert commit_of_tree() == ""
    # An unpacked copy inside another repository has no commit of its own.
    shell("git init && touch Snakefile")
    assert commit_of_tree() == ""
    shell("git add Snakefile && git -c user.name=a -c user.email=a@b.org commit -m first")
    commit = shell("mkdir results && touch results/rows && git rev-parse HEAD").strip()
    assert commit_of_tree() == commit
    (tmp_path / "new.py").touch()
    assert commit_of_tree() == f"{commit}-dirty"


def test_other_versions_are_named_and_make_nothing_stale(spec, monkeypatch):
    measured = provenance_now(spec, "")
    assert "numpy" in dict(each.split(" ") for each in measured.packages.split(", "))
    assert measured.other_packages() == []
    right = importlib.metadata.version
    monkeypatch.setattr(
        provenance, "_version", lambda name: "99" if name == "numpy" else right(name)
    )
    assert measured.other_packages() == [f"numpy {right('numpy')} -> 99"]
    assert measured.differs(spec) == []


def test_a_manifest_is_a_line_for_each_cell(spec, tmp_path):
    path = tmp_path / "study.manifest.csv"
    first = Provenance(
        code="c", asked="a", data="", commit="f" * 40, packages="numpy 2, scipy 1", machine="CPU"
    )
    entries = {
        "study/d/one--exact": Entry(first, "r", 12.5),
        "study/d/two--exact": Entry(
            replace(first, adopted="e" * 40, sample="1 of 2 agree"), "r", None
        ),
        "study/d/three--exact": Entry(first, "r", 1.0),
    }
    write_manifest(path, entries)
    assert len(path.read_text().splitlines()) == 1 + len(entries)
    assert read_manifest(path) == entries
    assert origins_in(path) == [
        "2 cells by commit ffffffffffff on a CPU",
        "1 cell by commit ffffffffffff on a CPU, adopted by eeeeeeeeeeee",
    ]
    assert read_manifest(tmp_path / "none") == {}
    right = path.read_text()
    path.write_text(right + "\n")
    assert read_manifest(path) == entries
    for wrong in (
        right.replace("12.5", "twelve"),
        right + right.splitlines()[1] + "\n",
        "",
        "a,b\n",
    ):
        path.write_text(wrong)
        with pytest.raises(DamagedTable, match=r"study\.manifest\.csv is damaged"):
            read_manifest(path)
