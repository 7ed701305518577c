"""The cells that a column may have: every cell is checked before any is cast."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from datasets.fetching.data_error import wrong_file
from mechanisms.query.written_numbers import is_number, whole_number_in


def require(good: ArrayLike, cells: ArrayLike, place: Path | str, allowed: object) -> None:
    """Compare the cells of one column with what is allowed.

    Args:
        good: bool (n,), whether each cell is allowed.
        cells: (n,), as they are in the file.
        place: the file and the column.
        allowed: what is allowed, in words.

    Raises:
        DataError: a cell is not allowed; the message has the first one and its record, from 1.
    """
    if not np.all(good):
        record = int(np.argmin(good))
        (cell,) = np.asarray(cells)[record : record + 1].tolist()
        raise wrong_file(place, f"record {record + 1} has {cell!r:.80}, allowed are {allowed}")


@dataclass(frozen=True)
class Numbers:
    """Numbers from low to high; whole ones become int64, others float64.

    `missing`: whether a cell may be empty, that is NaN. Text that spells a number counts.
    """

    low: float
    high: float
    whole: bool = False
    missing: bool = False

    def __str__(self) -> str:
        kind = f"{'whole ' * self.whole}numbers {self.low}..{self.high}"
        return f"{kind} or nothing" if self.missing else kind

    def read(self, cells: ArrayLike, place: Path | str) -> NDArray:
        """The numbers in the cells (n,); DataError as `require`."""
        cells = np.asarray(cells)
        numbers = cells
        if cells.dtype.kind not in "iuf":
            texts = cells.tolist()
            require([self._spells(cell) for cell in texts], cells, place, self)
            numbers = np.array([float(cell) for cell in texts])
        good = (self.low <= numbers) & (numbers <= self.high)
        if self.whole:
            good &= numbers == np.floor(numbers)
        if self.missing:
            good |= np.isnan(numbers)
        require(good, cells, place, self)
        return numbers.astype(np.int64 if self.whole else np.float64)

    def _spells(self, cell: object) -> bool:
        if isinstance(cell, str):
            if cell.isdigit() and cell.isascii():
                return True
            return is_number(cell) and (not self.whole or _is_whole(cell))
        # A table may hold a whole number of hundreds of digits, which no float64 can be.
        return type(cell) is float or (type(cell) is int and abs(cell) <= sys.float_info.max)


@dataclass(frozen=True)
class Words:
    """Words, given with blanks between them; any text if none are. `missing`: NaN is allowed."""

    words: str = ""
    missing: bool = False

    def __str__(self) -> str:
        return f"{self.words or 'texts'}{' or nothing' * self.missing}"

    def read(self, cells: ArrayLike, place: Path | str) -> NDArray[np.object_]:
        """The cells (n,) as they are; DataError as `require`."""
        cells = np.asarray(cells, object)
        allowed = set(self.words.split())
        good = [
            (cell in allowed or (not allowed and cell != ""))
            if isinstance(cell, str)
            else self.missing and cell != cell
            for cell in cells.tolist()
        ]
        require(good, cells, place, self)
        return cells


Columns = Mapping[str, Numbers | Words]


def read_columns(cells: Mapping[str, ArrayLike], columns: Columns, place: Path | str) -> dict:
    """Each column of `columns` as an array (n,) by its name; DataError as `require`."""
    return {name: column.read(cells[name], f"{place}: {name}") for name, column in columns.items()}


def _is_whole(text: str) -> bool:
    try:
        whole_number_in(text)
    except ValueError:
        return False
    return True
