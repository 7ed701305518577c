"""The paper of the reference run: every number has a row, and the same rows give the same bytes."""

import re
import sys
from pathlib import Path

import pytest

from site_builder.__main__ import main
from site_builder.paper import NoPaper, write_paper

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = ROOT / "site_builder/templates"
# What the text may call: each looks up rows of the run.
BOUND = "number|word|least|most|count|kinds|verdict|says|picture"
# Words that are no numbers.
NAMES = {"R1SMG", "l2"}
NUMBER = re.compile(
    r"\b(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|half|twice|dozen"
    r"|hundred|thousand|million)\b"
)


def unsourced(text: str) -> list[str]:
    """Words of the prose that state a number which no row gives."""
    # Code that is no prose: definitions, and the arguments of tables up to their caption.
    text = re.sub(r"^#(let|import|show) .*$", "", text, flags=re.M)
    text = re.sub(r"^  listed\(\n.*?^  \),$", "", text, flags=re.M | re.S)
    text = re.sub(rf"#?\b({BOUND})\([^()\[\]]*\)", "", text)
    words = re.findall(r"[\w.,^-]*\d[\w.,^-]*", text)
    return [word for word in words if word.strip(".,") not in NAMES] + NUMBER.findall(text.lower())


def test_every_number_of_the_text_has_a_row():
    text = (TEMPLATES / "paper.typ").read_text()
    assert len(re.findall(rf"#({BOUND})\(", text)) > 40
    assert unsourced(text) == []


@pytest.mark.parametrize(
    ("added", "found"),
    [
        ("It is false at 3 settings.", ["3"]),
        ("A caption [of 0.5].", ["0.5"]),
        ("Of five papers", ["five"]),
        ('Twice (#number("a.csv", "b", c: "1")), 1e-5.', ["1e-5.", "twice"]),
        ('#text("7 claims")', ["7"]),
        ('R1SMG and l2 have #count("claims.csv", kind: "1")', []),
    ],
)
def test_a_number_without_a_row_is_found(added, found):
    assert unsourced(added) == found


def test_two_papers_of_a_run_are_equal(tmp_path, monkeypatch):
    pytest.importorskip("typst", reason="the paper needs typst")
    monkeypatch.chdir(ROOT)
    papers = [tmp_path / "1.pdf", tmp_path / "2.pdf"]
    for paper in papers:
        assert main(["paper", "reference", "--out", str(paper)]) == 0
    first, second = (paper.read_bytes() for paper in papers)
    assert first == second
    assert 4 <= len(re.findall(rb"/Type /Page\b|/Type/Page\b", first)) <= 6


def test_a_run_without_the_rows_has_no_paper(tmp_path, monkeypatch):
    pytest.importorskip("typst", reason="the paper needs typst")
    monkeypatch.chdir(ROOT)
    with pytest.raises(NoPaper, match=r"the run other lacks what it states: .*claims.csv"):
        write_paper("other", tmp_path / "paper.pdf")


def test_a_paper_that_cannot_be_written_is_named(monkeypatch):
    pytest.importorskip("typst", reason="the paper needs typst")
    monkeypatch.chdir(ROOT)
    with pytest.raises(OSError, match=r"/proc/paper\.pdf"):
        write_paper("reference", Path("/proc/paper.pdf"))


def test_the_package_that_the_paper_needs_is_named(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    monkeypatch.setitem(sys.modules, "typst", None)
    assert main(["paper", "reference"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == "error: the paper needs the package typst, which envs/requirements.txt pins"
