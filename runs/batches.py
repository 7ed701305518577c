"""Batches: the cells that one job of the workflow runs, one after the other in one warm process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runs.cells import Cell, cells_of
from runs.runner import is_current


@dataclass(frozen=True)
class Batch:
    """Cells of one study on one data set.

    Args:
        number: Its place among the batches of that study and data set, from 0.
        cells: At most as many as the study's `cells_per_job` says.
    """

    number: int
    cells: tuple[Cell, ...]

    @property
    def experiment(self) -> str:
        """The study."""
        return self.cells[0].experiment

    @property
    def stem(self) -> str:
        """Path of its files below results/<run>/batches/, without an ending."""
        return f"{self.experiment}/{self.cells[0].dataset}--{self.number}"

    def downloads(self, config: dict) -> list[str]:
        """Entries of `datasets` that have to be fetched before it."""
        return sorted({name for cell in self.cells for name in cell.downloads(config)})

    def sources(self, config: dict) -> frozenset[str]:
        """The files of code that the numbers of its cells depend on."""
        return frozenset().union(*{cell.sources(config) for cell in self.cells})

    def planned(self, config: dict) -> list[dict[str, Any]]:
        """Its cells as JSON data, for `runner.run_batch`."""
        return [cell.planned(config) for cell in self.cells]


def batches_of(config: dict) -> list[Batch]:
    """Every batch of a checked config, in the order of its cells."""
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells_of(config):
        groups.setdefault((cell.experiment, cell.dataset), []).append(cell)
    batches = []
    for (experiment, _), cells in groups.items():
        size = _size(config, experiment)
        for number, start in enumerate(range(0, len(cells), size)):
            batches.append(Batch(number, tuple(cells[start : start + size])))
    return batches


def _size(config: dict, experiment: str) -> int:
    settings = config["experiments"][experiment]
    return settings["cells_per_job"] or (1 if settings["split_trials"] else config["cells_per_job"])


def cells_to_run(config: dict, run: Path) -> list[Cell]:
    """The cells without a current result in the folder of a run."""
    return [cell for cell in cells_of(config) if not is_current(cell.planned(config), run)]
