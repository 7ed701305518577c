"""Tables of text with declared columns: every cell is checked before its column is cast."""

import io
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from datasets.fetching.data_error import reading, wrong_file


@dataclass(frozen=True, kw_only=True)
class Records:
    """Numeric records, each with a target: a number or a class to predict from its features.

    Attributes:
        features: float64 (n, d).
        targets: (n,), float64 numbers or int64 classes.
    """

    features: NDArray[np.float64]
    targets: NDArray


def require(good: ArrayLike, cells: ArrayLike, place: Path | str, allowed: object) -> None:
    """Require that every cell of a column is allowed.

    Args:
        good: bool (n,), whether each cell is allowed.
        cells: the cells (n,) as they are in the file.
        place: the file and the column.
        allowed: what is allowed, in words.

    Raises:
        DataError: a cell is not allowed; the message has the first such cell and its record,
            counted from 1.
    """
    if not np.all(good):
        record = int(np.argmin(good))
        (cell,) = np.asarray(cells)[record : record + 1].tolist()
        raise wrong_file(place, f"record {record + 1} has {cell!r:.80}, allowed are {allowed}")


@dataclass(frozen=True)
class Numbers:
    """A column of numbers from low to high, int64 if `whole`, else float64.

    `missing`: whether a cell may be empty, that is NaN. Text that spells a number counts as one.
    """

    low: float
    high: float
    whole: bool = False
    missing: bool = False

    def __str__(self) -> str:
        kind = f"{'whole ' * self.whole}numbers {self.low}..{self.high}"
        return f"{kind}{' or nothing' * self.missing}"

    def read(self, cells: ArrayLike, place: Path | str) -> NDArray:
        """Return the numbers in the cells (n,); raise DataError as `require` does."""
        import pandas as pd

        given = pd.Series(cells).infer_objects()
        numbers = given
        if given.dtype.kind not in "iuf":  # one text turns a whole column into texts
            numbers = pd.to_numeric(given.astype(str), errors="coerce")
        good = numbers.between(self.low, self.high)
        if self.whole:
            good &= numbers % 1 == 0
        if self.missing:
            good |= given.isna()
        require(good, given, place, self)
        return numbers.to_numpy(np.int64 if self.whole else np.float64, copy=True)


@dataclass(frozen=True)
class Words:
    """A column of certain words, given with blanks between them, or else of any nonempty text.

    `missing`: whether a cell may be NaN.
    """

    words: str = ""
    missing: bool = False

    def __str__(self) -> str:
        return f"{self.words or 'texts'}{' or nothing' * self.missing}"

    def read(self, cells: ArrayLike, place: Path | str) -> NDArray[np.object_]:
        """Return the cells (n,) as they are; raise DataError as `require` does."""
        import pandas as pd

        given = pd.Series(cells, dtype=object)
        good = given.isin(self.words.split()) if self.words else given.notna() & (given != "")
        if self.missing:
            good |= given.isna()
        require(good, given, place, self)
        return given.to_numpy(copy=True)


Columns = Mapping[str, Numbers | Words]


def read_table(
    content: bytes,
    columns: Columns,
    place: Path | str,
    *,
    header: Sequence[str] = (),
    missing: Collection[str] = (),
    comment: str | None = None,
) -> dict[str, NDArray]:
    """Read a table, and map the name of each column to its cells (n,).

    Args:
        content: the bytes of the file.
        columns: what the cells of each column may be, in the order of the file.
        place: the file, as errors name it.
        header: the names in the first line; empty if the file has no header.
        missing: cells that become NaN.
        comment: the character that begins a comment, which is left out.

    Raises:
        DataError: the header or the number of columns is wrong, a record is longer than the first,
            or a cell is not allowed (the cells that a shorter record lacks are empty).
    """
    # Imported here because it takes half a second and other loaders do not need it.
    import pandas as pd

    texts = [i for i, column in enumerate(columns.values()) if isinstance(column, Words)]
    with reading(place, "not a table"):
        if header:
            require_header(header_of(content, place), header, place)
        # If pandas is given the names, it drops the extra cells of longer records.
        frame = pd.read_csv(
            io.BytesIO(content),
            header=None,
            skiprows=1 if header else 0,
            dtype=dict.fromkeys(texts, object),
            comment=comment,
            na_values=list(missing),
            keep_default_na=False,
            skipinitialspace=True,
            low_memory=False,
        )
    if frame.shape[1] != len(columns):
        raise wrong_file(place, f"{frame.shape[1]} columns, expected {len(columns)}")
    frame.columns = list(columns)
    return read_columns(frame, columns, place)


def read_columns(cells: Mapping[str, ArrayLike], columns: Columns, place: Path | str) -> dict:
    """Map the names of `columns` to checked arrays (n,); raise DataError as `require` does."""
    return {name: column.read(cells[name], f"{place}: {name}") for name, column in columns.items()}


def require_header(cells: Sequence[str], names: Sequence[str], place: Path | str) -> None:
    """Require these column names; case, and the quotes, blanks and `#` around them, do not count.

    Without this check, two columns that have changed places may go unnoticed.

    Raises:
        DataError: the header differs; the message has the first difference.
    """
    if len(cells) != len(names):
        raise wrong_file(place, f"its header has {len(cells)} columns, expected {len(names)}")
    for column, (cell, name) in enumerate(zip(cells, names, strict=True), start=1):
        said = bare(cell)
        if said.casefold() != bare(name).casefold():
            raise wrong_file(place, f"its header has {said!r:.80} in column {column}, not {name!r}")


def header_of(content: bytes, place: Path | str) -> list[str]:
    """Return the bare names in a table's first line; raise DataError if it cannot be read."""
    with reading(place, "no header"):
        line = io.BytesIO(content).readline().decode("utf-8-sig")
    return [bare(name) for name in line.split(",")]


def bare(name: str) -> str:
    """Return the name of a column without the quotes, the blanks and the `#` around it."""
    return name.strip(' "#\r\n')


def matrix(table: dict[str, NDArray], names: Collection[str]) -> NDArray[np.float64]:
    """Return the named columns of a table side by side, as an array (n, len(names))."""
    return np.column_stack([table[name] for name in names])
