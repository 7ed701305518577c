"""The files of finished grid points ("parts"), which a cell's parent and child processes share.

A part carries a hash of its rows and of its file name. A part that was truncated, changed or
renamed counts as missing, so that its grid point is measured again.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from runs.cell_spec import CellSpec
from runs.result_table import OK

# The longest message that the store keeps.
MOST_CHARACTERS = 2000
_LEFT_OUT = " [...] "


class LostPart(Exception):
    """A finished grid point no longer has an intact file."""


def part_path(folder: str | Path, index: int) -> Path:
    """Return the file of grid point `index`."""
    return Path(folder, f"{index:04d}.json")


def write_part(folder: str | Path, index: int, values: list[dict]) -> None:
    """Write the rows of one grid point atomically."""
    rows = json.dumps(values)
    path = part_path(folder, index)
    write_at_once(path, f"{_hash(path, rows)}\n{rows}")


def read_part(folder: str | Path, index: int) -> list[dict] | None:
    """Read the rows of grid point `index`; return None if they are missing or damaged."""
    path = part_path(folder, index)
    try:
        stated, _, rows = path.read_text().partition("\n")
    except (FileNotFoundError, UnicodeDecodeError):
        return None
    return json.loads(rows) if stated == _hash(path, rows) else None


def set_current_point(folder: str | Path, index: int) -> None:
    """Note that grid point `index` is being measured, so that a crash is blamed on it."""
    write_at_once(Path(folder, "current"), str(index))


def current_point(folder: str | Path) -> int | None:
    """Return the grid point that the last process was measuring, or None if it noted none."""
    try:
        return int(Path(folder, "current").read_text())
    except (FileNotFoundError, ValueError):
        return None


def clear_current_point(folder: str | Path) -> None:
    """Remove the note of the current grid point; call this before a new process starts."""
    Path(folder, "current").unlink(missing_ok=True)


def failure(status: str, message: object) -> list[dict]:
    """Return the one row of a point that could not be measured, with its message cleaned."""
    said = {"status": status, "message": clean(message)}
    return [{"metric": "", "value": None, **said, "timing": False}]


def clean(message: object) -> str:
    """Convert a message of a mechanism or a library to text that every file format can hold.

    A text longer than `MOST_CHARACTERS` loses its middle. Characters that cannot be printed (a line
    break, half a surrogate pair, NUL, a mark that reverses the direction of text) are escaped. An
    object that cannot be converted to text is replaced by the name of its class.
    """
    try:
        text = str(message)
    except Exception:
        text = f"a message that cannot be read, of the class {type(message).__name__}"
    text = text[:MOST_CHARACTERS] + text[MOST_CHARACTERS:][-MOST_CHARACTERS:]
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    if len(text) > MOST_CHARACTERS:
        half = (MOST_CHARACTERS - len(_LEFT_OUT)) // 2
        text = text[:half] + _LEFT_OUT + text[-half:]
    return text


def write_at_once(path: Path, content: str | bytes) -> None:
    """Write a file atomically, so that nobody reads half of it; an OSError names it."""
    temporary = path.with_suffix(".tmp")
    try:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        error.filename = str(path)
        raise
    temporary.replace(path)


def rows_of(cell: CellSpec, folder: Path) -> list[dict[str, Any]]:
    """Read the rows of a cell whose grid points are all finished.

    Raises:
        LostPart: A point has no intact file.
    """
    names = ("paper", "study", "dataset", "data_source", "mechanism", "calibration")
    fixed = {name: getattr(cell, name) for name in names}
    rows = []
    for index, point in enumerate(cell.points):
        values = read_part(folder, index)
        if values is None:
            raise LostPart(f"{part_path(folder, index)} was lost while its cell ran; run again")
        here = {"shape": point.shape_name, "epsilon": point.epsilon, "delta": point.delta}
        rows += [fixed | here | value for value in _select_trial(cell.trial, values)]
    return rows


def _select_trial(trial: int | None, values: list[dict]) -> list[dict]:
    """Return the values that a cell contributes, which are all of them if `trial` is None.

    A cell of one trial adds its trial to its failures and timings. Only the cell of trial 0 keeps
    numbers that belong to no trial.
    """
    if trial is None:
        return values
    owned = [value["timing"] or value["status"] != OK for value in values]
    return [
        value | {"trial": trial} if own else value
        for value, own in zip(values, owned, strict=True)
        if own or trial == 0 or value["trial"] is not None
    ]


def _hash(path: Path, rows: str) -> str:
    """Hash the rows together with the names of the cell's folder and of the file."""
    return hashlib.sha256("\n".join([*path.parts[-2:], rows]).encode()).hexdigest()
