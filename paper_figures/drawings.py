"""Declare, discover and write the figures and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from claims.discovery import declared, paper_modules
from claims.markdown import markdown_table
from claims.paper import differences
from paper_figures import pyplot as plt
from paper_figures.narrow import stack_panels
from runs.results import Results, read_results
from runs.sources import source_files

# The resolution of the PNG files, in dots per inch.
DPI = 200
# The file ending of the version for narrow screens, with the panels stacked.
NARROW = "narrow.png"
# The most rows of a table on a page; a page links to the CSV file of a longer table.
LONGEST_TABLE = 40


class DrawingError(Exception):
    """Raised if a figure or table cannot be drawn from the results at hand.

    The message is a clause that names what is missing: "the results hold no rows of pca".
    """


@dataclass(frozen=True)
class Drawn:
    """A drawing that was made.

    Args:
        caption: The caption, which says in at most 70 words what is shown, on which data, at which
            calibration and over how many trials.
        data: The numbers behind the drawing.
        figure: The figure, or None for a table.
        note: Anything else that a reader needs to judge the drawing. The note follows the caption
            in the .md file.
    """

    caption: str
    data: pd.DataFrame
    figure: plt.Figure | None = None
    note: str = ""


@dataclass(frozen=True)
class Drawing:
    """The declaration of a figure or table.

    Args:
        name: The file name and Snakemake target, "<paper>_<figure>".
        paper: The key of the paper, which is the folder of `function`'s module.
        kind: "figures" or "tables".
        needs: The studies whose rows the drawing reads, or "study/dataset" if it needs only one
            data set.
        timings: The studies whose timings the drawing reads.
        maps: The studies whose maps the drawing reads.
        function: The function that makes a Drawn from Results. It omits whatever the results lack,
            and raises DrawingError if nothing is left to draw.
    """

    name: str
    paper: str
    kind: str
    needs: tuple[str, ...]
    timings: tuple[str, ...]
    maps: tuple[str, ...]
    function: Callable[[Results], Drawn]

    @property
    def studies(self) -> tuple[str, ...]:
        """The studies whose rows the drawing reads."""
        return tuple(dict.fromkeys(need.split("/")[0] for need in self.needs))

    @property
    def files(self) -> list[str]:
        """The files that the drawing reads, relative to results/<run>/studies/."""
        rows = [f"{name}.parquet" for name in self.studies]
        timings = [f"{name}.timings.parquet" for name in self.timings]
        return rows + timings + [f"{name}.maps.parquet" for name in self.maps]

    @property
    def module(self) -> str:
        """The module that declares the drawing."""
        return self.function.__module__

    def sources(self) -> frozenset[str]:
        """Return the source files of the drawing's module and of the modules that it imports."""
        return source_files(self.module)


def drawing(
    name: str,
    *,
    kind: str,
    needs: tuple[str, ...],
    timings: tuple[str, ...] = (),
    maps: tuple[str, ...] = (),
):
    """Return a decorator that declares a function of `Results` as a figure or table.

    The decorator raises ValueError for another kind, and for a name without the paper's prefix.
    """

    def declare(function):
        paper = function.__module__.split(".")[1]
        if kind not in ("figures", "tables"):
            raise ValueError(f"the kind of {name} must be 'figures' or 'tables', got {kind!r}")
        if not name.startswith(f"{paper}_"):
            raise ValueError(f"the name of the drawing {name} must begin with {paper}_")
        # A list that is derived from several figures can name a study twice.
        read = (tuple(dict.fromkeys(names)) for names in (needs, timings, maps))
        function.drawing = Drawing(name, paper, kind, *read, function)
        return function

    return declare


def all_drawings() -> dict[str, Drawing]:
    """Return every drawing that a module in paper_figures/<paper>/ declares, by name."""
    return dict(sorted(declared(paper_modules(), "drawing").items()))


def drawings_for(available: set[str]) -> dict[str, Drawing]:
    """Return the drawings that need only available rows, named "study" and "study/dataset"."""
    return {
        name: drawing
        for name, drawing in all_drawings().items()
        if available.issuperset((*drawing.needs, *drawing.timings, *drawing.maps))
    }


def by_studies(drawings: Iterable[Drawing]) -> dict[str, list[Drawing]]:
    """Group drawings by the studies whose rows they read.

    A group has the name of its only study, or of its first drawing if it reads several studies. One
    process draws a whole group, because starting a process takes longer than drawing.
    """
    groups: dict[tuple[str, ...], list[Drawing]] = {}
    for each in drawings:
        groups.setdefault(each.studies, []).append(each)
    return {
        studies[0] if len(studies) == 1 else group[0].name: group
        for studies, group in groups.items()
    }


def draw(drawing: Drawing, studies: Path, folder: Path) -> None:
    """Make a drawing from the result files in the folder `studies`, and write it to `folder`.

    A figure becomes a PDF, a PNG, a CSV of its numbers, an MD with the caption and, if its panels
    can be stacked, a second PNG for narrow screens. A table becomes a CSV, a TEX and an MD with the
    caption and, up to LONGEST_TABLE rows, the table. The files have no timestamps, so that the same
    results give the same bytes.

    Raises:
        DrawingError: The results lack what the drawing needs.
    """
    missing = [file for file in drawing.files if not (studies / file).exists()]
    if missing:
        raise DrawingError(f"the run has no {', '.join(missing)}")
    results = read_results(studies / file for file in drawing.files)
    drawn = drawing.function(results)
    if differs := differences(drawing.paper, drawing.studies):
        note = f"Not the paper's method: {differs} {drawn.note}"
        drawn = replace(drawn, note=note.strip())
    write_drawn(drawing.name, drawn, folder)


def draw_or_explain(drawing: Drawing, studies: Path, folder: Path) -> str | None:
    """Draw as `draw` does, or write files that say why the drawing is missing.

    So a run of only a few mechanisms has every file that its targets promise.

    Returns:
        The reason why the drawing is missing, or None if it was made.
    """
    try:
        draw(drawing, studies, folder)
    except DrawingError as error:
        write_drawn(drawing.name, _explanation(drawing, str(error)), folder)
        return str(error)
    return None


def words_of(page: Path) -> list[str]:
    """Return the caption and the paragraphs of the note in a drawing's `.md`; [] without a file."""
    if not page.exists():
        return []
    paragraphs = page.read_text(encoding="utf-8").split("\n\n")
    # Skip the picture, the table and the link to its CSV.
    words = [" ".join(each.split()) for each in paragraphs if not each.startswith(("!", "|", "["))]
    return [each for each in words if each]


def _explanation(drawing: Drawing, reason: str) -> Drawn:
    words = f"Not drawn: {reason}."
    data = pd.DataFrame({"not drawn": [reason]})
    if drawing.kind == "tables":
        return Drawn(words, data)
    figure = plt.figure(figsize=(7.0, 1.0))
    figure.text(0.5, 0.5, words, ha="center", va="center", wrap=True)
    return Drawn(words, data, figure)


def write_drawn(name: str, drawn: Drawn, folder: Path) -> None:
    """Write the files of one drawing; see `draw`."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn.data.to_csv(folder / f"{name}.csv", index=False, float_format="%.10g")
    words = "\n\n".join(filter(None, (drawn.caption, drawn.note)))
    if drawn.figure is None:
        table = drawn.data.map(_format_cell)
        shown = markdown_table(table)
        if len(table) > LONGEST_TABLE:
            shown = f"[All {len(table)} rows]({name}.csv)"
        (folder / f"{name}.md").write_text(f"{words}\n\n{shown}\n", encoding="utf-8")
        (folder / f"{name}.tex").write_text(latex_table(table, drawn.caption), encoding="utf-8")
        return
    (folder / f"{name}.md").write_text(f"![{name}]({name}.png)\n\n{words}\n", encoding="utf-8")
    _lay_out(drawn.figure)
    # With a layout engine the figure would be drawn twice for every file.
    with plt.rc_context({"figure.constrained_layout.use": False}):
        drawn.figure.set_layout_engine(None)
        # Dates and versions would make files of the same figure differ.
        dates = {"CreationDate": None, "ModDate": None}
        drawn.figure.savefig(folder / f"{name}.pdf", metadata=dates)
        picture = {"dpi": DPI, "metadata": {"Software": None}}
        drawn.figure.savefig(folder / f"{name}.png", **picture)
        if stack_panels(drawn.figure):
            drawn.figure.savefig(folder / f"{name}.{NARROW}", **picture)
    plt.close(drawn.figure)


def _lay_out(figure: plt.Figure) -> None:
    """Lay out a figure once for all of its files.

    The axes of a figure without a layout engine are already placed.
    """
    engine = figure.get_layout_engine()
    if engine is not None and figure.axes:
        engine.execute(figure)
        if any(axes.get_box_aspect() is not None for axes in figure.axes):
            engine.execute(figure)


def _format_cell(value: object) -> str:
    if pd.isna(value):
        return ""
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def latex_table(table: pd.DataFrame, caption: str) -> str:
    """Format a table of text as LaTeX for the package booktabs, with special characters escaped."""
    styler = table.style.hide(axis="index").format(escape="latex")
    styler = styler.format_index(escape="latex", axis="columns")
    return styler.to_latex(
        caption=_latex_text(caption), hrules=True, column_format="l" * len(table.columns)
    )


def _latex_text(text: str) -> str:
    # Styler escapes cells but not captions, so the caption is formatted as a cell.
    cell = pd.DataFrame([[text]]).style.hide(axis="index").hide(axis="columns")
    return cell.format(escape="latex").to_string().strip()
