"""Purchase-100: 197,324 shoppers, 600 binary features (products bought), 100 clusters."""

from __future__ import annotations

import io
from pathlib import Path

from datasets.catalogue import require_rows
from datasets.fetching.archives import read_members
from datasets.fetching.checksums import local_files
from datasets.formats.arrays import BinaryRecords
from datasets.formats.binary_rows import read_labelled

COLUMNS, CLASSES = 600, 100
_TABLE = "dataset_purchase"


def load(folder: Path) -> BinaryRecords:
    """Purchase-100 with features (197324, 600) and labels 0..99.

    Args:
        folder: the data folder given to `fetch`.

    Raises:
        DataError: file missing or changed, or not 197,324 records.
    """
    records = parse(local_files("purchase100", folder)["dataset_purchase.tgz"])
    require_rows("purchase100", records=len(records.labels))
    return records


def parse(archive: Path) -> BinaryRecords:
    """The table `dataset_purchase` in the archive: the label first, then the features."""
    stream = io.BytesIO(read_members(archive, {_TABLE})[_TABLE])
    return read_labelled(stream, columns=COLUMNS, classes=CLASSES, place=f"{archive}: {_TABLE}")
