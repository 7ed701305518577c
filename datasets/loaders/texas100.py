"""Texas-100: 67,330 hospital stays, 6,169 binary features, the 100 most frequent procedures.

One record is one stay; a patient may have several.
"""

from pathlib import Path

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.fetching.archives import read_members
from datasets.formats.arrays import BinaryRecords
from datasets.formats.binary_rows import binary_records, small_numbers

ENTRY = Dataset(
    name="texas100",
    title="Texas-100 (Texas hospital stays, 100 procedures)",
    source="official",
    licence="no licence stated; source data under the Texas PUDF terms of use",
    citation="Shokri, Stronati, Song, Shmatikov. Membership inference attacks against "
    "machine learning models. S&P 2017",
    record="one hospital stay",
    rows={"records": 67_330},
    # No checksum is published. The layout and the number of rows come from public code that reads
    # the archive; they were not tried on the archive itself.
    files=(
        RemoteFile(
            name="dataset_texas.tgz",
            urls=(
                "https://github.com/privacytrustlab/datasets/raw/master/dataset_texas.tgz",
                "https://www.comp.nus.edu.sg/~reza/files/dataset_texas.tgz",
            ),
            check=lambda path: parse(path),
        ),
    ),
)


COLUMNS, CLASSES = 6169, 100


def parse(archive: Path) -> BinaryRecords:
    """Read uint8 features (67330, 6169) and int64 labels 0..99 from `feats` and `labels`.

    Reading needs about 2 GB of memory.

    Raises:
        DataError: a file is not the published one.
    """
    rows = ENTRY.rows["records"]
    found = read_members(archive, {"feats": rows * (2 * COLUMNS + 2), "labels": rows * 8})
    features = small_numbers(found["feats"], COLUMNS, f"{archive}: feats")
    labels = small_numbers(found["labels"], 1, f"{archive}: labels")[:, 0]
    records = binary_records(features, labels, CLASSES, str(archive))
    require_rows(ENTRY, records=len(records.labels))
    return records
