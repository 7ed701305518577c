"""Location-30: 5,010 users of Foursquare in Bangkok, 446 binary features, 30 clusters.

One record is one user with all places visited.
"""

from pathlib import Path

from datasets.entry import Dataset, RemoteFile
from datasets.formats.arrays import BinaryRecords
from datasets.formats.binary_rows import read_labelled

ENTRY = Dataset(
    name="location30",
    title="Location-30 (Foursquare check-ins, Bangkok)",
    source="official",
    licence="no licence stated",
    citation="Yang, Zhang, Qu. Participatory cultural mapping. ACM TIST 7(3), 2016; prepared "
    "by Shokri, Stronati, Song, Shmatikov. Membership inference attacks. S&P 2017",
    record="one user",
    rows={"records": 5_010},
    files=(
        RemoteFile(
            name="dataset_location.tgz",
            urls=("https://github.com/privacytrustlab/datasets/raw/master/dataset_location.tgz",),
            bytes=287293,
            sha256="927203f85a868f8ee17a0ded1dc61699efe602167beabe34fbf45b4b1de94b33",
        ),
    ),
)


COLUMNS, CLASSES = 446, 30


def parse(archive: Path) -> BinaryRecords:
    """Read uint8 features (5010, 446) and int64 labels 0..29 from the archive's table `bangkok`.

    Raises:
        DataError: a file is not the published one.
    """
    return read_labelled(ENTRY, archive, "bangkok", COLUMNS, CLASSES)
