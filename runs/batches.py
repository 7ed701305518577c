"""Batches: the cells that one job of the workflow runs, one after the other in one warm process."""

import textwrap
from collections import Counter
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from runs.cell_spec import CellSpec
from runs.cells import Cell, cells_of
from runs.sources import digest_of_text
from runs.store import is_current


@dataclass(frozen=True)
class Batch:
    """Cells of one study that need the same official files.

    So data that cannot be fetched hold up no cell that does not read them.

    Args:
        number: Its place among the batches of that study, from 0.
        cells: At most as many as the study's `cells_per_job` says.
    """

    number: int
    cells: tuple[Cell, ...]

    @property
    def study(self) -> str:
        """The study."""
        return self.cells[0].study

    @property
    def stem(self) -> str:
        """Path of its files below results/<run>/batches/, without an ending."""
        return f"{self.study}/{self.number}"

    def downloads(self, config: dict) -> list[str]:
        """Entries of `datasets` that have to be fetched before it."""
        return sorted({name for cell in self.cells for name in cell.downloads(config)})

    def sources(self, config: dict) -> frozenset[str]:
        """The files of code that the numbers of its cells depend on."""
        return frozenset().union(*{cell.sources(config) for cell in self.cells})

    def specs(self, config: dict) -> list[CellSpec]:
        """What each of its cells needs."""
        return [cell.spec(config) for cell in self.cells]

    def digest(self, config: dict) -> str:
        """What its cells are measured with, but for their data."""
        return digest_of_text("".join(f"{each.stem} {each.digest}" for each in self.specs(config)))


def batches_of(config: dict) -> list[Batch]:
    """Every batch of a checked config, in the order of its cells."""
    groups: dict[tuple[str, tuple[str, ...]], list[Cell]] = {}
    for cell in cells_of(config):
        needs = tuple(cell.downloads(config))
        groups.setdefault((cell.study, needs), []).append(cell)
    batches: dict[str, list[Batch]] = {}
    for (study, _), cells in groups.items():
        of_study = batches.setdefault(study, [])
        jobs = ceil(len(cells) / _size(config, study))
        # As equal as they can be: to start a job for a last cell costs more than the cell.
        for job in range(jobs):
            part = cells[len(cells) * job // jobs : len(cells) * (job + 1) // jobs]
            of_study.append(Batch(len(of_study), tuple(part)))
    return [batch for of_study in batches.values() for batch in of_study]


def _size(config: dict, study: str) -> int:
    settings = config["studies"][study]
    return settings.cells_per_job or (1 if settings.split_trials else config["cells_per_job"])


def cells_to_run(config: dict, run: Path) -> list[Cell]:
    """The cells without a current result in the folder of a run."""
    return [cell for cell in cells_of(config) if not is_current(cell.spec(config), run)]


def cells_in_words(config: dict, run: Path) -> str:
    """How many cells of each study have no current result, in lines of 100 characters."""
    todo = cells_to_run(config, run)
    counted = Counter(cell.study for cell in todo)
    named = ", ".join(f"{study} {count}" for study, count in counted.most_common())
    words = f"{config['run']}: {len(todo)} of {len(cells_of(config))} cells to measure"
    return textwrap.fill(f"{words}: {named}" if named else words, 100)
