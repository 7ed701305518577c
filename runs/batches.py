"""Batches: the cells that one job of the workflow runs in sequence in one warm process."""

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

    A failed download therefore holds up only the cells that read those files.

    Args:
        number: The position among the batches of that study, from 0.
        cells: The cells, at most as many as `cells_per_job` allows the study.
    """

    number: int
    cells: tuple[Cell, ...]

    @property
    def study(self) -> str:
        """The name of the study."""
        return self.cells[0].study

    @property
    def stem(self) -> str:
        """The path of its files below results/<run>/batches/, without a suffix."""
        return f"{self.study}/{self.number}"

    def downloads(self, config: dict) -> list[str]:
        """Return the entries of `datasets` that have to be fetched first."""
        return sorted({name for cell in self.cells for name in cell.downloads(config)})

    def specs(self, config: dict) -> list[CellSpec]:
        """Return the specification of each cell."""
        return [cell.spec(config) for cell in self.cells]

    def digest(self, config: dict) -> str:
        """Return one hash of the code and settings of all its cells; data are not part of it."""
        return digest_of_text("".join(f"{each.stem} {each.digest}" for each in self.specs(config)))


def batches_of(config: dict) -> list[Batch]:
    """Return every batch of a checked config, by study, then by files, in order of the cells."""
    groups: dict[tuple[str, tuple[str, ...]], list[Cell]] = {}
    for cell in cells_of(config):
        needs = tuple(cell.downloads(config))
        groups.setdefault((cell.study, needs), []).append(cell)
    batches: dict[str, list[Batch]] = {}
    for (study, _), cells in groups.items():
        of_study = batches.setdefault(study, [])
        settings = config["studies"][study]
        usual = 1 if settings.split_trials else config["cells_per_job"]
        jobs = ceil(len(cells) / (settings.cells_per_job or usual))
        # Sizes differ by at most one: starting a job for a leftover cell costs more than the cell.
        for job in range(jobs):
            part = cells[len(cells) * job // jobs : len(cells) * (job + 1) // jobs]
            of_study.append(Batch(len(of_study), tuple(part)))
    return [batch for of_study in batches.values() for batch in of_study]


def cells_to_run(config: dict, run: Path) -> list[Cell]:
    """Return the cells without a current result in the folder of a run."""
    return [cell for cell in cells_of(config) if not is_current(cell.spec(config), run)]


def cells_in_words(config: dict, run: Path) -> str:
    """Say how many cells of each study have no current result, in lines of up to 100 characters."""
    todo = cells_to_run(config, run)
    counted = Counter(cell.study for cell in todo)
    named = ", ".join(f"{study} {count}" for study, count in counted.most_common())
    words = (
        f"{config['run']}: {len(todo)} of {len(cells_of(config))} cells to measure in the whole run"
    )
    return textwrap.fill(f"{words}: {named}" if named else words, 100)
