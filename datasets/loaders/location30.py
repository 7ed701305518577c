"""Location-30: 5,010 users of Foursquare in Bangkok, 446 binary features, 30 clusters."""

from __future__ import annotations

import io
from pathlib import Path

from datasets.catalogue import require_rows
from datasets.fetching.archives import read_members
from datasets.fetching.checksums import local_files
from datasets.formats.arrays import BinaryRecords
from datasets.formats.binary_rows import read_labelled

COLUMNS, CLASSES = 446, 30


def load(folder: Path) -> BinaryRecords:
    """Location-30 with features (5010, 446) and labels 0..29.

    Args:
        folder: the data folder given to `fetch`.

    Raises:
        DataError: file missing or changed, or not 5,010 records.
    """
    records = parse(local_files("location30", folder)["dataset_location.tgz"])
    require_rows("location30", records=len(records.labels))
    return records


def parse(archive: Path) -> BinaryRecords:
    """The table `bangkok` in the archive: the label first, then the features."""
    stream = io.BytesIO(read_members(archive, {"bangkok"})["bangkok"])
    return read_labelled(stream, columns=COLUMNS, classes=CLASSES, place=f"{archive}: bangkok")
