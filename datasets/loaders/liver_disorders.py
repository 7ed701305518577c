"""Liver Disorders (BUPA): 345 men, five blood tests and how much they drink.

One record is one person.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.formats.tables import Numbers, matrix, read_table

ENTRY = Dataset(
    name="liver_disorders",
    title="Liver Disorders (BUPA)",
    source="official",
    licence="CC BY 4.0",
    citation="Forsyth. Liver Disorders. UCI Machine Learning Repository, 1990. doi:10.24432/C54G67",
    record="one person",
    rows={"records": 345},
    files=(
        RemoteFile(
            name="bupa.data",
            urls=(
                "https://archive.ics.uci.edu/ml/machine-learning-databases/liver-disorders/bupa.data",
            ),
            bytes=7297,
            # UCI publishes no checksum; this is that of a copy, without its added header line.
            sha256="a166a3e7a6f4dc41aaaedc59a107e57d8adcaeb8821f0873d756982f1ea74c92",
        ),
    ),
    archive=RemoteFile(
        name="liver+disorders.zip",
        urls=("https://archive.ics.uci.edu/static/public/60/liver+disorders.zip",),
    ),
)


FEATURES = ("mcv", "alkphos", "sgpt", "sgot", "gammagt")
COLUMNS = {name: Numbers(0, 1000) for name in FEATURES} | {
    "drinks": Numbers(0, 20),
    "selector": Numbers(1, 2, whole=True),
}


@dataclass(frozen=True, kw_only=True)
class LiverDisorders:
    """The 345 records, columns as in the file.

    Attributes:
        features: float64 (345, 5), the blood tests `FEATURES`.
        drinks: float64 (345,), half-pint equivalents of alcohol per day; this is the target.
        selector: int64 (345,), 1 or 2. The donors of the data use it to split the records into
            two parts; it is not a diagnosis, although many papers use it as the class
            (McDermott and Forsyth, Pattern Recognition Letters 73, 2016).
    """

    features: NDArray[np.float64]
    drinks: NDArray[np.float64]
    selector: NDArray[np.int64]


def parse(path: Path) -> LiverDisorders:
    """All records, in the order of `bupa.data`: seven numbers per line, no header.

    Raises:
        DataError: a file is not the published one.
    """
    table = read_table(path.read_bytes(), COLUMNS, path)
    require_rows(ENTRY, records=len(table["drinks"]))
    return LiverDisorders(
        features=matrix(table, FEATURES), drinks=table["drinks"], selector=table["selector"]
    )
