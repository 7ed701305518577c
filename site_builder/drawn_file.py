"""The figures and tables of a run, with their captions and numbers."""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd
from PIL import Image

from paper_figures.drawings import NARROW, Drawing, all_drawings, words_of
from runs.result_table import DamagedTable

EXPLAINED = "Not drawn: "


@dataclass(frozen=True)
class DrawnFile:
    """One figure or table as the run has it.

    Args:
        drawing: The declaration of the drawing.
        folder: The folder of its files.
        caption: The first paragraph of its `.md`.
        note: The other paragraphs of text.
    """

    drawing: Drawing
    folder: Path
    caption: str
    note: str

    @property
    def name(self) -> str:
        """The file name and Snakemake target."""
        return self.drawing.name

    @property
    def title(self) -> str:
        """The first clause of the caption, without the paper's key."""
        words = self.caption.removeprefix(f"{self.drawing.paper} ")
        words = words.replace(self.drawing.paper, "the paper")
        clause = re.split(r"(?<=\?) |[.:;] ", words, maxsplit=1)[0].removesuffix(".")
        return clause[0].upper() + clause[1:]

    @property
    def is_figure(self) -> bool:
        """Whether this is a figure and not a table."""
        return self.drawing.kind == "figures"

    def file(self, ending: str) -> Path:
        """Return the path of one of its files: the csv, or the png of a figure."""
        return self.folder / f"{self.name}.{ending}"

    @property
    def pictures(self) -> dict[str, Path]:
        """The pictures of a figure by file ending: for wide screens and, if drawn, narrow ones."""
        found = {ending: self.file(ending) for ending in ("png", NARROW)}
        return {ending: path for ending, path in found.items() if path.exists()}

    def size(self, ending: str = "png") -> tuple[int, int]:
        """Return width and height of a picture in pixels."""
        with Image.open(self.file(ending)) as picture:
            return picture.size

    @cached_property
    def data(self) -> pd.DataFrame:
        """The numbers that are drawn. Do not change them: they are cached.

        Raises:
            DamagedTable: The file is not a table.
        """
        try:
            return pd.read_csv(self.file("csv"))
        except ValueError as error:
            raise DamagedTable(self.file("csv"), str(error), "draw it again") from None


def drawn_in(run: Path) -> dict[str, DrawnFile]:
    """Return the figures and tables that the folder of a run has, by name."""
    found = {}
    for name, drawing in all_drawings().items():
        folder = run / drawing.kind
        words = words_of(folder / f"{name}.md")
        if words and not words[0].startswith(EXPLAINED):
            found[name] = DrawnFile(drawing, folder, words[0], " ".join(words[1:]))
    return found
