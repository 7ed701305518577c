"""The files of finished grid points, which a cell's parent and child processes share.

A part carries a hash of its rows and of its place. One that was cut short, changed or renamed
counts as missing, so that its grid point is measured again.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from runs.cell_spec import CellSpec
from runs.result_table import OK

# Of a message in the store.
MOST_CHARACTERS = 2000
_LEFT_OUT = " [...] "


class LostPart(Exception):
    """A finished grid point has no intact file any more."""


def part_path(folder: str | Path, index: int) -> Path:
    """The file of grid point `index`."""
    return Path(folder, f"{index:04d}.json")


def write_part(folder: str | Path, index: int, values: list[dict]) -> None:
    """Write the rows of one grid point atomically."""
    rows = json.dumps(values)
    path = part_path(folder, index)
    write_at_once(path, f"{_hash(path, rows)}\n{rows}")


def read_part(folder: str | Path, index: int) -> list[dict] | None:
    """The rows of grid point `index`, or None where they are missing or damaged."""
    path = part_path(folder, index)
    try:
        stated, _, rows = path.read_text().partition("\n")
    except (FileNotFoundError, UnicodeDecodeError):
        return None
    return json.loads(rows) if stated == _hash(path, rows) else None


def begin(folder: str | Path, index: int) -> None:
    """Note that grid point `index` is being measured, so that a crash is blamed on it."""
    write_at_once(Path(folder, "current"), str(index))


def begun(folder: str | Path) -> int | None:
    """The grid point that the last process was measuring, or None if it reached or named none."""
    try:
        return int(Path(folder, "current").read_text())
    except (FileNotFoundError, ValueError):
        return None


def forget_begun(folder: str | Path) -> None:
    """Remove that note; called before a new process starts."""
    Path(folder, "current").unlink(missing_ok=True)


def failure(status: str, message: object) -> list[dict]:
    """The one row of a point that could not be measured; its message as in `clean`."""
    said = {"status": status, "message": clean(message)}
    return [{"metric": "", "value": None, **said, "timing": False}]


def clean(message: object) -> str:
    """What a mechanism or a library says, as text that every format can hold.

    At most `MOST_CHARACTERS`, of which the middle is left out. What cannot be printed (half a
    surrogate pair, NUL, a mark that turns the direction of the text) is escaped. An object that
    cannot be turned into text is named by its class.
    """
    try:
        text = str(message)
    except Exception:
        text = f"a message that cannot be read, of the class {type(message).__name__}"
    text = text[:MOST_CHARACTERS] + text[MOST_CHARACTERS:][-MOST_CHARACTERS:]
    text = "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)
    if len(text) > MOST_CHARACTERS:
        half = (MOST_CHARACTERS - len(_LEFT_OUT)) // 2
        text = text[:half] + _LEFT_OUT + text[-half:]
    return text


def write_at_once(path: Path, content: str | bytes) -> None:
    """Write a file that is whole or not there; an OSError names it."""
    temporary = path.with_suffix(".tmp")
    try:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        error.filename = str(path)
        raise
    temporary.replace(path)


def rows_of(cell: CellSpec, folder: Path) -> list[dict[str, Any]]:
    """The rows of a cell whose grid points are all finished.

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
        rows += [fixed | here | value for value in _of_trial(cell.trial, values)]
    return rows


def _of_trial(trial: int | None, values: list[dict]) -> list[dict]:
    """The values that a cell contributes: all of them, unless it is for one trial only.

    Then numbers that belong to no trial are kept by the cell of trial 0 alone; failures and seconds
    are kept by every cell and get its trial.
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
    """A hash of the rows and of the names of the cell's folder and of the file."""
    return hashlib.sha256("\n".join([*path.parts[-2:], rows]).encode()).hexdigest()
