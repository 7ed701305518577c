"""Reading the comma-separated tables of zeros and ones that Shokri et al. publish."""

import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from datasets.entry import Dataset, require_rows
from datasets.fetching.archives import read_members
from datasets.fetching.data_error import reading, wrong_file
from datasets.formats.arrays import BinaryRecords
from datasets.formats.tables import require


def small_numbers(content: bytes, columns: int, place: str) -> NDArray[np.uint8]:
    """Read a table (n, columns) of whole numbers 0..255, which may stand in quotes.

    Raises:
        DataError: a cell is not such a number, or a line has another number of columns.
    """
    with reading(place, "not rows of small numbers"):
        table = np.loadtxt(
            io.BytesIO(content), np.uint8, comments=None, delimiter=",", quotechar='"', ndmin=2
        )
    if table.shape[1] != columns:
        raise wrong_file(place, f"{table.shape[1]:,} columns, expected {columns:,}")
    return table


def binary_records(
    features: NDArray[np.uint8], labels: NDArray[np.uint8], classes: int, place: str
) -> BinaryRecords:
    """Return records of features (n, d) and of labels (n,), which count from 1 to `classes`.

    Raises:
        DataError: a feature or a label is not allowed (the message names the first such record),
            or the numbers of records and labels differ.
    """
    largest = features.max(axis=1)
    require(largest <= 1, largest, f"{place}: features", "0 and 1")
    require((labels >= 1) & (labels <= classes), labels, f"{place}: labels", f"1..{classes}")
    if len(labels) != len(features):
        raise wrong_file(place, f"{len(features):,} records and {len(labels):,} labels")
    return BinaryRecords(
        features=np.ascontiguousarray(features), labels=labels.astype(np.int64) - 1
    )


def read_labelled(
    entry: Dataset, archive: Path, name: str, columns: int, classes: int
) -> BinaryRecords:
    """Read the records of a table in an archive, from lines `label,0,1,...`.

    Args:
        entry: the data set, which states the number of records.
        archive: the data set's file.
        name: the name of the table.
        columns, classes: the numbers of features and of classes.

    Raises:
        DataError: for the reasons of `read_members`, `small_numbers` and `binary_records`, or the
            number of records is wrong.
    """
    most = entry.rows["records"] * (2 * columns + 8)
    place = f"{archive}: {name}"
    table = small_numbers(read_members(archive, {name: most})[name], 1 + columns, place)
    records = binary_records(table[:, 1:], table[:, 0], classes, place)
    require_rows(entry, records=len(table))
    return records
