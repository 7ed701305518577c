"""What a cell is told: all that its numbers depend on besides the code."""

import json
from dataclasses import asdict, dataclass
from typing import Any, Self

from studies.base.case import Point


@dataclass(frozen=True, kw_only=True)
class CellSpec:
    """One cell, as it goes from the plan of a run to the process that measures it.

    Args:
        stem: Path of its files below cells/ and logs/cells/, without an ending.
        code: Hash of the syntax trees of all modules that its numbers depend on.
        asked: Hash of what it is asked to measure: grid, options, seed, and its own settings.
        packages: The installed distributions that these modules import.
        reads: Entries of `datasets` whose files it reads.
        paper, study, dataset, data_source, mechanism, calibration: As in its rows.
        use: The mechanism as "module:class", so that a process loads this family only.
        options: Those of the mechanism.
        columns: Columns that the study declares, by name with their type in words.
        points: Its grid, in order.
        settings: Those of the study that numbers depend on, as JSON data.
        trial: The only one that it runs, where trials have cells of their own.
        seed: The base seed of the run.
        data_folder: Where the official files lie.
    """

    stem: str
    code: str
    asked: str
    packages: tuple[str, ...]
    reads: tuple[str, ...]
    paper: str
    study: str
    dataset: str
    data_source: str
    mechanism: str
    calibration: str
    use: str
    options: dict[str, Any]
    columns: dict[str, str]
    points: tuple[Point, ...]
    settings: dict[str, Any]
    seed: int
    data_folder: str
    trial: int | None = None

    def to_json(self) -> str:
        """As text that keeps the order of columns and settings, as rows follow it."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The cell that `to_json` wrote."""
        fields = json.loads(text)
        points = fields.pop("points")
        named = {name: tuple(fields.pop(name)) for name in ("packages", "reads")}
        return cls(
            **fields,
            **named,
            points=tuple(Point(**point | {"shape": tuple(point["shape"])}) for point in points),
        )

    @property
    def digest(self) -> str:
        """What it is measured with, but for its data, which are fetched later."""
        return f"{self.code}-{self.asked}"

    @property
    def problem(self) -> tuple:
        """What the problem of the cell depends on: cells that are equal in this share it."""
        return self.dataset, self.settings, self.seed, self.data_folder
