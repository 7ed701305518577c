"""Tables of text with declared columns."""

import contextlib
import csv
import math
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from datasets.fetching.data_error import reading, wrong_file
from datasets.formats.columns import Columns, read_columns


def read_table(
    content: bytes,
    columns: Columns,
    place: Path | str,
    *,
    delimiter: str | None = ",",
    header: Sequence[str] = (),
) -> dict[str, NDArray]:
    """The columns of a small table (n,) by their names.

    Args:
        content: the bytes of the file.
        columns: what the cells of each column may be, in the order of the file.
        place: the file, in words.
        delimiter: between two cells; any blanks if None.
        header: what the first line must say; the file has none if this is empty.

    Raises:
        DataError: another header, a record with another number of cells, or a cell that is not
            allowed.
    """
    with reading(place, "not a text"):
        lines = content.decode("utf-8-sig").splitlines()
    if header:
        require_header(lines[0].split(delimiter) if lines else [], header, place)
        lines = lines[1:]
    rows = [line.split(delimiter) for line in lines if line.strip()]
    for record, row in enumerate(rows, start=1):
        if len(row) != len(columns):
            found = f"record {record} has {len(row)} columns, expected {len(columns)}"
            raise wrong_file(place, found)
    # Fixed-width texts would lose trailing NULs, and each would take the memory of the longest.
    cells = np.array(rows, object).reshape(-1, len(columns)).T
    return read_columns(dict(zip(columns, cells, strict=True)), columns, place)


def read_frame(
    source: Path | IO[bytes],
    columns: Columns,
    place: Path | str,
    *,
    missing: Collection[str] = (),
    header: Sequence[str] = (),
    comment: str | None = None,
) -> dict[str, NDArray]:
    """As `read_table`, for a table that is large or holds texts; `missing` cells become NaN.

    Quotes may stand around a whole cell that has no comma; any others are part of the cell.

    Raises:
        DataError: as `read_table`.
    """
    # Imported here: it takes half a second, and other loaders do not need it.
    import pandas as pd

    # pandas would read 0.99999999999999999999 as 1, and "1"9 as 19.
    whole = [i for i, column in enumerate(columns.values()) if getattr(column, "whole", False)]
    with reading(place, "not a table"), contextlib.ExitStack() as opened:
        stream = opened.enter_context(source.open("rb")) if isinstance(source, Path) else source
        if header:
            require_header(stream.readline().decode("utf-8-sig").split(","), header, place)
        # If pandas is given the names, it drops the extra cells of longer records.
        frame = pd.read_csv(
            stream,
            header=None,
            dtype=dict.fromkeys(whole, object),
            quoting=csv.QUOTE_NONE,
            comment=comment,
            na_values=list(missing),
            keep_default_na=False,
            skipinitialspace=True,
            low_memory=False,
        )
    if frame.shape[1] != len(columns):
        raise wrong_file(place, f"{frame.shape[1]} columns, expected {len(columns)}")
    cells = {
        name: _unquoted(frame[number].to_numpy(), missing) for number, name in enumerate(columns)
    }
    return read_columns(cells, columns, place)


def require_header(cells: Sequence[object], names: Sequence[str], place: Path | str) -> None:
    """Require these column names; quotes, blanks around them, `#` and case do not count.

    The cells alone may not show that two columns have changed places.

    Raises:
        DataError: the header differs; the message has the first difference.
    """
    found = [unquoted(str(cell).strip()).lstrip("#").strip() for cell in cells]
    if len(found) != len(names):
        raise wrong_file(place, f"its header has {len(found)} columns, expected {len(names)}")
    for column, (said, name) in enumerate(zip(found, names, strict=True), start=1):
        if said.casefold() != name.casefold():
            raise wrong_file(place, f"its header has {said!r:.80} in column {column}, not {name!r}")


def _unquoted(column: NDArray, missing: Collection[str]) -> NDArray:
    cells = column.tolist()
    if not any(isinstance(cell, str) and '"' in cell for cell in cells):
        return column
    bare = [unquoted(cell) if isinstance(cell, str) else cell for cell in cells]
    return np.array([math.nan if cell in [*missing] else cell for cell in bare], object)


def unquoted(cell: str) -> str:
    """A cell without the pair of quotes that encloses it; other quotes are part of it."""
    inside = cell[1:-1]
    return inside if cell == f'"{inside}"' and '"' not in inside else cell


def matrix(table: dict[str, NDArray], names: Collection[str]) -> NDArray[np.float64]:
    """Columns of a table side by side (n, names)."""
    return np.column_stack([table[name] for name in names])
