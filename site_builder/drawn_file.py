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
    """A figure or table of a run.

    Args:
        drawing: The declaration of the drawing.
        folder: The folder of the drawing's files.
        caption: The first paragraph of its `.md` file.
        note: The other paragraphs of text in that file.
    """

    drawing: Drawing
    folder: Path
    caption: str
    note: str

    @property
    def name(self) -> str:
        """The name of the drawing, which is that of its files and of its Snakemake target."""
        return self.drawing.name

    @property
    def title(self) -> str:
        """The first clause of the caption, without the paper's key."""
        words = self.caption.removeprefix(f"{self.drawing.paper} ")
        words = words.replace(self.drawing.paper, "the paper")
        clause = re.split(r"(?<=\?) |[.:;] ", words, maxsplit=1)[0].removesuffix(".")
        return clause[0].upper() + clause[1:]

    @property
    def place(self) -> str:
        """The place of the original in its paper, such as "Figure 4"; "" if there is none."""
        found = re.search(r"_(fig|table)(\d+)$", self.name)
        return f"{'Figure' if found[1] == 'fig' else 'Table'} {found[2]}" if found else ""

    @property
    def is_figure(self) -> bool:
        """Whether this is a figure and not a table."""
        return self.drawing.kind == "figures"

    def file(self, ending: str) -> Path:
        """Return the path of one of its files, by the file ending: "csv", or "png" of a figure."""
        return self.folder / f"{self.name}.{ending}"

    @property
    def pictures(self) -> dict[str, Path]:
        """The existing pictures by file ending, for wide and for narrow screens."""
        found = {ending: self.file(ending) for ending in ("png", NARROW)}
        return {ending: path for ending, path in found.items() if path.exists()}

    def size(self, ending: str = "png") -> tuple[int, int]:
        """Return the width and the height of a picture in pixels."""
        with Image.open(self.file(ending)) as picture:
            return picture.size

    @cached_property
    def data(self) -> pd.DataFrame:
        """The numbers that are drawn. The frame is cached, so callers must not change it.

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
