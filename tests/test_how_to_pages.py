"""The pages and the notebook in docs/ do what they say."""

import contextlib
import importlib
import io
import re
import shlex
from pathlib import Path

import nbformat
import pytest

from site_builder import notebook as tour

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"

PAGES = sorted(path.name for path in DOCS.glob("*.md"))


def blocks(page: str) -> list[tuple[str, str]]:
    """(language, text) of each fenced block, in order."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", (DOCS / page).read_text(), flags=re.M | re.S)


def output_of(command: str) -> str:
    words = shlex.split(command)
    assert words[:2] == ["python", "-m"], command
    main = importlib.import_module(f"{words[2]}.__main__").main
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        assert main(words[3:]) == 0
    return shown.getvalue()


def is_shown(line: str, printed: str) -> bool:
    """Whether a page shows a printed line, possibly cut at "..."."""
    beginning = line.removesuffix("...")
    return printed == line or (beginning != line and printed.startswith(beginning))


def texts(notebook: nbformat.NotebookNode) -> list[str]:
    """Each output as text."""
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", []))
    return [output.text if "text" in output else output.data["text/plain"] for output in outputs]


@pytest.fixture
def in_a_project(tmp_path, monkeypatch):
    """Run commands in a copy of the project without the results of local runs."""
    for path in ROOT.iterdir():
        if path.name != "results":
            (tmp_path / path.name).symlink_to(path)
    (tmp_path / "results").mkdir()
    (tmp_path / "results/reference").symlink_to(ROOT / "results/reference")
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.usefixtures("in_a_project")
def test_a_page_runs_from_top_to_bottom(page):
    """Text blocks are printed lines, cut at "...". Python blocks run in an empty folder."""
    printed = ""
    for language, text in blocks(page):
        if language == "sh":
            printed = output_of(text)
        elif language == "text":
            for line in filter(None, text.splitlines()):
                assert any(is_shown(line, shown) for shown in printed.splitlines()), line


def test_pages_have_blocks_that_are_checked():
    kinds = [language for page in PAGES for language, _ in blocks(page)]
    assert kinds.count("python") >= 6
    assert kinds.count("text") >= 3


@pytest.mark.parametrize("page", [*ROOT.glob("*.md"), *DOCS.glob("*.md")], ids=lambda p: p.stem)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / link).exists(), link


@pytest.mark.slow
def test_the_notebook_shows_what_its_cells_print():
    notebook = nbformat.read(DOCS / "tour.ipynb", as_version=4)
    nbformat.validate(notebook)
    shown = texts(notebook)
    assert len(shown) >= 6
    assert texts(tour.execute(notebook)) == shown
