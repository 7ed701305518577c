"""Texts of CSV files, which spreadsheets must not compute.

A spreadsheet takes a cell that starts with =, +, -, @ (full-width ones too), a tab or the end of a
line for a formula. An apostrophe before it makes it a text. Numbers stay as they are, with
their signs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mechanisms.query.written_numbers import reads_as_float

if TYPE_CHECKING:
    import pandas as pd

# Apostrophes that are part of the text count too, so that the mark can be taken off again.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


def marked(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with an apostrophe before each text and heading that would be a formula."""
    return _with_texts(frame, _mark).rename(columns=_mark)


def unmarked(frame: pd.DataFrame) -> pd.DataFrame:
    """The table that `marked` was given, from what it gave."""
    return _with_texts(frame, _unmark).rename(columns=_unmark)


def _with_texts(frame: pd.DataFrame, change) -> pd.DataFrame:
    """Columns without a text to change keep their type; those of numbers have none."""
    frame = frame.copy()
    for place, column in enumerate(frame.columns):
        if frame.dtypes.iloc[place].kind in "biuf":
            continue
        cells = frame.iloc[:, place].tolist()
        changed = [change(cell) for cell in cells]
        if any(new is not old for new, old in zip(changed, cells, strict=True)):
            frame[column] = changed
    return frame


def _mark(cell: object) -> object:
    if isinstance(cell, str) and _FORMULA.match(cell) and not reads_as_float(cell):
        return f"'{cell}"
    return cell


def _unmark(cell: object) -> object:
    if isinstance(cell, str) and cell.startswith("'") and _FORMULA.match(cell):
        return cell[1:]
    return cell
