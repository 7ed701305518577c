"""Which mutants are drawn: told apart by their place, and the same as the project grows."""

import pytest

from tests.benchmarks import measure_mutants
from tests.benchmarks.measure_mutants import drawn, key, mutants

CODE = "def f(x):\n    return x + 1 + 1\n"


@pytest.fixture
def room(tmp_path, monkeypatch):
    """A project of one room and one file."""
    monkeypatch.setattr(measure_mutants, "ROOT", tmp_path)
    monkeypatch.setattr(measure_mutants, "ROOMS", {"room": ("*.py",)})
    (tmp_path / "one.py").write_text(CODE)
    return tmp_path


def test_mutants_of_one_line_are_told_apart(room):
    """Two sums that begin in one place, and two ones; also those of a second line that is equal."""
    once = [each.row for each in mutants("room", room / "one.py")]
    assert [(row["column"], row["before"]) for row in once] == [
        ("7", "x + 1 + 1"),
        ("7", "x + 1"),
        ("11", "1"),
        ("15", "1"),
    ]
    (room / "one.py").write_text("# Further down.\n" + CODE + CODE)
    twice = [each.row for each in mutants("room", room / "one.py")]
    keys = [key(row) for row in twice]
    assert len(set(keys)) == 8 and keys[:4] == [key(row) for row in once]


def test_a_mutant_changes_its_own_place(room):
    sources = [each.source() for each in mutants("room", room / "one.py")]
    assert [source.splitlines()[1].strip() for source in sources] == [
        "return x + 1 - 1",
        "return x - 1 + 1",
        "return x + 3 + 1",
        "return x + 1 + 3",
    ]


def test_a_larger_sample_has_the_smaller_one_and_what_was_measured(room):
    _, first = drawn(2, [])
    _, more = drawn(3, [])
    assert more[:2] == first and len(more) == 3
    _, last = drawn(4, [])
    kept, missing = drawn(3, [key(last[3].row)])
    assert kept == last[3:] and missing == first
    (room / "two.py").write_text("y = 2\n")
    _, beside = drawn(5, [])
    assert [each for each in beside if each.file == "one.py"] == last
