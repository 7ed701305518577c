"""Liver Disorders (BUPA): 345 men, five blood tests and how much they drink.

One record is one person.
"""

from pathlib import Path

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.formats.tables import Numbers, Records, matrix, read_table

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
            # UCI publishes no checksum; this is a copy's, without the header that the copy adds.
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


def parse(path: Path) -> Records:
    """Return the blood tests `FEATURES`, and the half-pint equivalents of alcohol drunk per day.

    `bupa.data` has seven numbers per line and no header. The last one, the selector, splits the
    records into two parts. It is not a diagnosis, although many papers use it as the class
    (McDermott and Forsyth, Pattern Recognition Letters 73, 2016).

    Raises:
        DataError: a file is not the published one.
    """
    table = read_table(path.read_bytes(), COLUMNS, path)
    require_rows(ENTRY, records=len(table["drinks"]))
    return Records(features=matrix(table, FEATURES), targets=table["drinks"])
