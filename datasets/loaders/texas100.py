"""Texas-100: 67,330 hospital stays, 6,169 binary features, the 100 commonest procedures."""

from __future__ import annotations

import io
from pathlib import Path

from datasets.catalogue import require_rows
from datasets.fetching.archives import read_members
from datasets.fetching.checksums import local_files
from datasets.formats.arrays import BinaryRecords
from datasets.formats.binary_rows import read_separate

COLUMNS, CLASSES = 6169, 100


def load(folder: Path) -> BinaryRecords:
    """Texas-100 with features (67330, 6169) and labels 0..99; takes about 2 GB of memory.

    Args:
        folder: the data folder given to `fetch`.

    Raises:
        DataError: file missing or changed, or not 67,330 records.
    """
    records = parse(local_files("texas100", folder)["dataset_texas.tgz"])
    require_rows("texas100", records=len(records.labels))
    return records


def parse(archive: Path) -> BinaryRecords:
    """`feats` and `labels` in the archive's folder texas/100."""
    found = read_members(archive, {"feats", "labels"})
    return read_separate(
        io.BytesIO(found["feats"]),
        io.BytesIO(found["labels"]),
        columns=COLUMNS,
        classes=CLASSES,
        place=f"{archive}: feats",
    )
