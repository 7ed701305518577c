"""The files of finished grid points, which a cell's parent and child processes share."""

from __future__ import annotations

import json
from pathlib import Path

SPECIFICATION = "specification.json"


def part_path(folder: str | Path, index: int) -> Path:
    """The file of grid point `index`."""
    return Path(folder, f"{index:04d}.json")


def write_part(folder: str | Path, index: int, values: list[dict]) -> None:
    """Write the rows of one grid point atomically."""
    path = part_path(folder, index)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(values))
    temporary.replace(path)


def failure(status: str, message: str) -> list[dict]:
    """The one row of a point that could not be measured."""
    return [{"metric": "", "value": None, "status": status, "message": message, "timing": False}]
