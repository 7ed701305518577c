"""The comma-separated tables of zeros and ones in which Shokri et al. publish their data."""

import io
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from datasets.entry import Dataset, require_rows
from datasets.fetching.archives import read_members
from datasets.fetching.data_error import wrong_file
from datasets.formats.arrays import BinaryRecords
from datasets.formats.columns import Numbers
from datasets.formats.tables import unquoted

_LINES_AT_ONCE = 4096


def read_labelled(
    entry: Dataset, archive: Path, name: str, *, columns: int, classes: int
) -> BinaryRecords:
    """Lines `label,0,1,...`, the label perhaps in quotes and counted from 1.

    Args:
        entry: the data set, which states the number of records.
        archive: its file.
        name: the table in the archive.
        columns, classes: the numbers of features and of labels.

    Raises:
        DataError: a line has another form (the message names the first one), or the file is not the
            published one.
    """
    most = entry.rows["records"] * (2 * columns + 8)
    content, place = read_members(archive, {name: most})[name], f"{archive}: {name}"
    labels: list[bytes] = []

    def features() -> Iterator[bytes]:
        for line in io.BytesIO(content):
            label, _, rest = line.partition(b",")
            labels.append(label)
            yield rest

    records = _records(_table(features(), columns, place), labels, classes, place)
    require_rows(entry, records=len(labels))
    return records


def read_separate(
    features: bytes, labels: bytes, *, columns: int, classes: int, place: str
) -> BinaryRecords:
    """Lines `0,1,...` and, in a separate file, one label per line, counted from 1.

    Raises:
        DataError: a line has another form (the message names the first one), or the numbers of
            records and labels differ.
    """
    table = _table(io.BytesIO(features), columns, place)
    return _records(table, labels.splitlines(), classes, place)


def _table(lines: Iterator[bytes], columns: int, place: str) -> NDArray[np.uint8]:
    """Single digits between commas are at every other byte, so whole blocks are sliced."""
    width = 2 * columns - 1
    blocks = []
    first = 0
    while block := [line.strip() for line in islice(lines, _LINES_AT_ONCE)]:
        lengths = np.array([len(line) for line in block])
        if (lengths != width).any():
            bad = int((lengths != width).argmax())
            raise wrong_file(
                place,
                f"line {first + bad + 1} has {block[bad].count(b',') + 1:,} features in "
                f"{lengths[bad]:,} bytes, expected {columns:,} single digits",
            )
        bytes_ = np.frombuffer(b"".join(block), np.uint8).reshape(len(block), width)
        digits = bytes_[:, ::2] - ord("0")
        wrong = (digits > 1).any(axis=1) | (bytes_[:, 1::2] != ord(",")).any(axis=1)
        if wrong.any():
            bad = first + int(wrong.argmax()) + 1
            raise wrong_file(place, f"line {bad} has other features than 0 and 1")
        blocks.append(digits)
        first += len(block)
    return np.concatenate(blocks) if blocks else np.empty((0, columns), np.uint8)


def _records(
    table: NDArray[np.uint8], labels: list[bytes], classes: int, place: str
) -> BinaryRecords:
    cells = [unquoted(label.strip().decode("latin1")) for label in labels]
    numbers = Numbers(1, classes, whole=True).read(np.array(cells, object), f"{place}: labels")
    if len(numbers) != len(table):
        raise wrong_file(place, f"{len(table):,} records and {len(numbers):,} labels")
    return BinaryRecords(features=table, labels=numbers - 1)
