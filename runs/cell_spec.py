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
        digest: Hash of the other fields and of the code; see `Cell.spec`.
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
    digest: str
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
        return cls(
            **fields,
            points=tuple(Point(**point | {"shape": tuple(point["shape"])}) for point in points),
        )

    @property
    def problem(self) -> tuple:
        """What the problem of the cell depends on: cells that are equal in this share it."""
        return self.dataset, self.settings, self.seed, self.data_folder
