"""The files of a run that the site reads: rows, drawings with captions, and claims."""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd
from PIL import Image

from claims.ledger import read_ledger
from claims.verdicts import count_of
from paper_figures.drawings import NARROW, Drawing, all_drawings, words_of
from runs.result_table import OK, DamagedTable
from runs.results import read_results
from studies.base.settings import ConfigError

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


@dataclass(frozen=True)
class RunFolder:
    """A run: results/<name>.

    Raises:
        ConfigError: The claims of the run have not been judged.
    """

    folder: Path

    def __post_init__(self) -> None:
        if not (self.folder / "claims.csv").exists():
            raise ConfigError(
                f"{self.folder} holds no claims.csv; run `python -m paper_figures judge "
                f"{self.name}` first"
            )

    @property
    def name(self) -> str:
        """The name of the run."""
        return self.folder.name

    @cached_property
    def studies(self) -> list[str]:
        """The studies of the run, by name."""
        files = (self.folder / "studies").glob("*.parquet")
        return sorted(path.stem for path in files if path.name.count(".") == 1)

    @cached_property
    def rows(self) -> dict[str, pd.DataFrame]:
        """The rows of every study, without maps and timings."""
        folder = self.folder / "studies"
        return {study: read_results([folder / f"{study}.parquet"]).rows for study in self.studies}

    @cached_property
    def missing(self) -> pd.DataFrame:
        """The rows without a value, of all studies."""
        return pd.concat(rows[rows["status"] != OK] for rows in self.rows.values())

    @cached_property
    def claims(self) -> pd.DataFrame:
        """The ledger."""
        return read_ledger(self.folder)

    @cached_property
    def verdict_counts(self) -> dict[str, int]:
        """How many claims have each verdict."""
        return dict(count_of(self.claims["verdict"]))

    @cached_property
    def drawings(self) -> dict[str, DrawnFile]:
        """The figures and tables that the run has, by name."""
        found = {}
        for name, drawing in all_drawings().items():
            folder = self.folder / drawing.kind
            words = words_of(folder / f"{name}.md")
            if words and not words[0].startswith(EXPLAINED):
                found[name] = DrawnFile(drawing, folder, words[0], " ".join(words[1:]))
        return found
