"""The files of finished grid points, which a cell's parent and child processes share.

A part carries a hash of its rows and of its place. One that was cut short, changed or renamed
counts as missing, so that its grid point is measured again.
"""

import hashlib
import json
from pathlib import Path


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


def failure(status: str, message: str) -> list[dict]:
    """The one row of a point that could not be measured."""
    return [{"metric": "", "value": None, "status": status, "message": message, "timing": False}]


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


def _hash(path: Path, rows: str) -> str:
    """A hash of the rows and of the names of the cell's folder and of the file."""
    return hashlib.sha256("\n".join([*path.parts[-2:], rows]).encode()).hexdigest()
