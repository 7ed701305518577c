"""Tables of numbers that users give: .npy and .csv files, every cell read exactly or refused."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import numpy as np

from mechanisms.base.guard import check_whole_numbers
from mechanisms.query.written_numbers import is_number, number_in, reads_as_float

# Characters of a line: a device may have no end.
_LONGEST = 1 << 27


def read_numbers(path: Path | str) -> np.ndarray:
    """The numbers of a .npy file, or (rows, columns) of a .csv file; one column may have a name.

    Several named columns may hold other things beside the numbers, such as the ages of counts.

    Raises:
        OSError: The file cannot be read.
        ValueError: It holds no real numbers, or one that float64 would change; the message says
            where it is.
    """
    return _from_npy(path) if str(path).endswith(".npy") else _from_csv(path)


def _from_npy(path: Path | str) -> np.ndarray:
    numbers = np.load(path, allow_pickle=False)
    if not isinstance(numbers, np.ndarray) or numbers.dtype.kind not in "biuf":
        kind = getattr(numbers, "dtype", "an archive of arrays")
        raise ValueError(f"it must hold real numbers, got {kind}")
    if numbers.dtype.kind in "iu":
        check_whole_numbers(numbers, "it")
    return numbers.astype(float)


def _from_csv(path: Path | str) -> np.ndarray:
    rows: list[list[float]] = []
    width = 0
    with open(path, encoding="utf-8-sig", newline="") as file:
        lines = csv.reader(_lines(file), strict=True)
        try:
            for cells in lines:
                if "".join(cells).strip():
                    width = width or len(cells)
                    rows += _row(cells, lines.line_num, width)
        except csv.Error as error:
            told = f"line {lines.line_num} is not CSV ({error})"
            raise ValueError(f"{told}; put quotes around whole cells only, or leave them") from None
    if not rows:
        raise ValueError("it has no line of numbers")
    return np.array(rows)


def _row(cells: list[str], line: int, width: int) -> list[list[float]]:
    """The numbers of a line of `width` cells; none where the first line names its one column."""
    place, row = f"line {line}", []
    # A line with a float, nan included, is no line of names.
    if line > 1 or any(map(reads_as_float, cells)):
        row = [[_read(cell, place) for cell in cells]]
    elif len(cells) > 1:
        raise ValueError(
            f"{place} names {len(cells)} columns ({', '.join(cells):.60}); give "
            "one column, or leave out the names if every column is meant"
        )
    if len(cells) != width:
        wide = f"{len(cells)} cells, and the lines before it {width}"
        raise ValueError(f"{place} has {wide}; give every line as many")
    return row


def _lines(file: TextIO) -> Iterator[str]:
    while line := file.readline(_LONGEST + 1):
        if len(line) > _LONGEST:
            raise ValueError(f"it has a line of more than {_LONGEST:,} characters")
        yield line


def _read(cell: str, place: str) -> float:
    if (parts := re.split(r"[;\t]", cell))[1:] and all(map(is_number, parts)):
        mark = "a tab" if "\t" in cell else "';'"
        raise ValueError(f"{place} has {mark} between its cells; write commas, as in 3,0.5")
    if not is_number(cell):
        raise ValueError(f"{place} has {cell!r:.60}; write a number such as 3 or 0.5")
    try:
        return number_in(cell)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None
