"""Purchase-100: 197,324 customers, 600 binary features (products bought), 100 clusters.

One record is one customer with all purchases.
"""

from pathlib import Path

from datasets.entry import Dataset, RemoteFile
from datasets.formats.arrays import BinaryRecords
from datasets.formats.binary_rows import read_labelled

ENTRY = Dataset(
    name="purchase100",
    title="Purchase-100 (Kaggle acquire valued shoppers, 100 clusters)",
    source="official",
    licence="no licence stated",
    citation="Shokri, Stronati, Song, Shmatikov. Membership inference attacks against "
    "machine learning models. S&P 2017",
    record="one customer",
    rows={"records": 197_324},
    # No checksum is published. The layout and the number of rows come from public code that reads
    # the archive; they were not tried on the archive itself.
    files=(
        RemoteFile(
            name="dataset_purchase.tgz",
            urls=(
                "https://github.com/privacytrustlab/datasets/raw/master/dataset_purchase.tgz",
                "https://www.comp.nus.edu.sg/~reza/files/dataset_purchase.tgz",
            ),
            check=lambda path: parse(path),
        ),
    ),
)


COLUMNS, CLASSES = 600, 100


def parse(archive: Path) -> BinaryRecords:
    """Read uint8 features (197324, 600) and int64 labels 0..99 from the table `dataset_purchase`.

    Raises:
        DataError: a file is not the published one.
    """
    return read_labelled(ENTRY, archive, "dataset_purchase", COLUMNS, CLASSES)
