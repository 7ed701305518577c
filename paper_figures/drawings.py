"""Which figures and tables there are, and how one of them is written to files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pandas as pd

from paper_figures.discovery import paper_modules
from paper_figures.results import Results, read_results
from runs.sources import source_files


class DrawingError(Exception):
    """A figure or table cannot be drawn from the results at hand; the message says why."""


@dataclass(frozen=True)
class Drawn:
    """One drawing.

    Args:
        caption: At most 70 words: what is shown, on which data, at which calibration, trials.
        data: Exactly the numbers that are drawn.
        figure: None for a table.
        note: What else a reader needs to judge it, written below the caption in the .md file.
    """

    caption: str
    data: pd.DataFrame
    figure: plt.Figure | None = None
    note: str = ""


@dataclass(frozen=True)
class Drawing:
    """A figure or table by name.

    Args:
        name: File name and Snakemake target, "<paper>_<figure>".
        paper: Key of the paper.
        kind: "figures" or "tables".
        needs: What it reads rows of: experiments, or one data set of an experiment as
            "experiment/dataset".
        timings: The experiments whose seconds it reads.
        maps: The experiments whose maps it reads.
        function: Results to Drawn.
    """

    name: str
    paper: str
    kind: str
    needs: tuple[str, ...]
    timings: tuple[str, ...]
    maps: tuple[str, ...]
    function: Callable[[Results], Drawn]

    @property
    def experiments(self) -> tuple[str, ...]:
        """The experiments whose rows it reads."""
        return tuple(dict.fromkeys(need.split("/")[0] for need in self.needs))

    @property
    def files(self) -> list[str]:
        """The files that it reads, below results/<run>/experiments/."""
        rows = [f"{name}.parquet" for name in self.experiments]
        timings = [f"{name}.timings.parquet" for name in self.timings]
        return rows + timings + [f"{name}.maps.parquet" for name in self.maps]

    def sources(self) -> list[str]:
        """Code that the drawing depends on: its module and what that imports from the project."""
        return sorted(source_files(self.function.__module__))


def drawing(
    name: str,
    *,
    kind: str,
    needs: tuple[str, ...],
    timings: tuple[str, ...] = (),
    maps: tuple[str, ...] = (),
):
    """Declare a function of `Results` as a figure or table."""

    def declare(function):
        paper = function.__module__.split(".")[1]
        function.drawing = Drawing(
            name, paper, kind, tuple(needs), tuple(timings), tuple(maps), function
        )
        return function

    return declare


def all_drawings() -> dict[str, Drawing]:
    """Every drawing by name, from the modules of this folder."""
    found = {}
    for module in paper_modules():
        for value in vars(module).values():
            if isinstance(getattr(value, "drawing", None), Drawing):
                found[value.drawing.name] = value.drawing
    return dict(sorted(found.items()))


def drawings_for(available: set[str]) -> dict[str, Drawing]:
    """The drawings that can be made of results: "experiment" and "experiment/dataset" names."""
    return {
        name: drawing
        for name, drawing in all_drawings().items()
        if available.issuperset((*drawing.needs, *drawing.timings, *drawing.maps))
    }


def draw(name: str, files: list[str], folder: Path) -> None:
    """Draw `name` from result files, see `read_results`, into `folder`.

    Figures become PDF, PNG, CSV of what is drawn, and MD with the caption; tables become CSV,
    MD and TEX. Files carry no timestamps, so the same results give the same bytes.
    """
    results = read_results(files)
    drawn = all_drawings()[name].function(results)
    folder.mkdir(parents=True, exist_ok=True)
    drawn.data.to_csv(folder / f"{name}.csv", index=False, float_format="%.10g")
    words = "\n\n".join(filter(None, (drawn.caption, drawn.note)))
    if drawn.figure is None:
        table = drawn.data.map(_shown)
        (folder / f"{name}.md").write_text(f"{words}\n\n{_markdown(table)}\n")
        (folder / f"{name}.tex").write_text(_latex(table, drawn.caption))
        return
    (folder / f"{name}.md").write_text(f"![{name}]({name}.png)\n\n{words}\n")
    # A fixed salt and no dates: the same figure is the same file.
    with matplotlib.rc_context({"svg.hashsalt": name}):
        drawn.figure.savefig(
            folder / f"{name}.pdf", metadata={"CreationDate": None, "ModDate": None}
        )
        drawn.figure.savefig(folder / f"{name}.png", dpi=200, metadata={"Software": None})
    plt.close(drawn.figure)


def _shown(value) -> str:
    if isinstance(value, float):
        return "" if pd.isna(value) else f"{value:.5g}"
    return "" if value is None or value is pd.NA else str(value)


def _markdown(table: pd.DataFrame) -> str:
    header = "| " + " | ".join(table.columns) + " |"
    rule = "|" + "|".join(" --- " for _ in table.columns) + "|"
    lines = ["| " + " | ".join(row) + " |" for row in table.itertuples(index=False)]
    return "\n".join([header, rule, *lines])


def _latex(table: pd.DataFrame, caption: str) -> str:
    escaped = table.map(_escaped)
    lines = [" & ".join(row) + r" \\" for row in escaped.itertuples(index=False)]
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{_escaped(caption)}}}",
            rf"\begin{{tabular}}{{{'l' * len(table.columns)}}}",
            r"\hline",
            " & ".join(_escaped(name) for name in table.columns) + r" \\",
            r"\hline",
            *lines,
            r"\hline",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _escaped(text: str) -> str:
    for character in "&%$#_{}":
        text = text.replace(character, "\\" + character)
    return text.replace("^", r"\textasciicircum{}").replace("~", r"\textasciitilde{}")
