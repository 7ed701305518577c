"""The specification of a cell: all that its numbers depend on, with the code as a hash."""

import json
from dataclasses import asdict, dataclass
from typing import Any, Self

from studies.base.case import Point


@dataclass(frozen=True, kw_only=True)
class CellSpec:
    """One cell, as it goes from the plan of a run to the process that measures it.

    Args:
        stem: The path of its files below cells/ and logs/cells/, without a suffix.
        code: A hash of the syntax trees of all modules that its numbers depend on.
        asked: A hash of the grid, options, seed and settings of this cell.
        packages: The installed distributions that these modules import.
        reads: The entries of `datasets` whose files it reads.
        paper, study, dataset, data_source, mechanism, calibration: The same as in its rows.
        use: The mechanism as "module:class", so that a process imports its module only.
        options: The options of the mechanism.
        columns: The type, in words, of each column that the study declares, by name.
        points: The grid points, in order.
        settings: The settings of the study that numbers depend on, as JSON data.
        trial: The trial that it runs if each trial has a cell of its own, else None.
        seed: The base seed of the run.
        data_folder: The folder of the official files.
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
        """Serialise to text; the order of columns and settings is kept, because rows follow it."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Parse the text that `to_json` wrote."""
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
        """The hashes of code and settings, but not of the data, which are fetched later."""
        return f"{self.code}-{self.asked}"

    @property
    def problem(self) -> tuple:
        """The key of the cell's problem; cells with equal keys share one loaded problem."""
        return self.dataset, self.settings, self.seed, self.data_folder
