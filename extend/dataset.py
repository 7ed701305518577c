"""Template of a data set: copy this file to `datasets/loaders/<name>.py` and edit it.

Nothing else has to be edited: `python -m datasets list` and `fetch` find the file, and
`datasets.load("<name>")` reads it. Replace this text with what the data are, where they come from
and what else a reader has to know, such as rows that the publisher left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.fetching.checksums import local_files
from datasets.fetching.data_error import DataError

ENTRY = Dataset(
    name="my_data",  # the name of this file; also of the folder and of the data set in configs
    title="My data",
    # "official": downloaded. "bundled" (comes with a package) and "simulated" have no `files`, and
    # their `load` takes no folder.
    source="official",
    licence="CC BY 4.0",  # or "no licence stated"
    citation="Author. Title. Publisher, year. doi:...",
    record="one person",  # what adjacent data sets differ by
    rows={"records": 3},  # the published number of records of each part
    files=(
        RemoteFile(
            name="my_data.csv",
            urls=("https://example.org/my_data.csv",),  # several: tried in this order
            bytes=22,
            sha256="6e20c041a94f2a2fc9b0895140ed3cb63dcb8be3dd07ebba094e3c5378665df5",
            # Where no sha256 is published, leave it out and state a check that reads the file and
            # raises DataError if it is wrong: check=lambda path: parse(path)
        ),
    ),
    # Where the publisher packs the files into a zip or tar, leave `urls` of the files out and add
    # archive=RemoteFile(name="my_data.zip", urls=(...), sha256=...).
    # Where nothing can be downloaded directly, say what to do:
    # manual="fill in the form at https://example.org, take the csv file"
)


@dataclass(frozen=True, kw_only=True)
class MyData:
    """The records, in the order of the file.

    Attributes:
        features: float64 (3, 2), as measured (not scaled).
        labels: int64 (3,), 0 or 1.
    """

    features: NDArray[np.float64]
    labels: NDArray[np.int64]


def load(folder: Path) -> MyData:
    """All records.

    Args:
        folder: the data folder given to `fetch`.

    Raises:
        DataError: file missing or changed, or not 3 records.
    """
    data = parse(local_files(ENTRY, folder)["my_data.csv"])
    require_rows(ENTRY, records=len(data.labels))
    return data


def parse(path: Path) -> MyData:
    """The csv: two measurements and the class per line, no header.

    Raises:
        DataError: the file has another form.
    """
    try:
        values = np.loadtxt(path, delimiter=",", ndmin=2)
    except ValueError as error:
        raise DataError(f"{path}: not a table of numbers ({error})") from error
    if values.shape[1] != 3:
        raise DataError(f"{path}: {values.shape[1]} columns, expected 3")
    return MyData(features=values[:, :2].copy(), labels=values[:, 2].astype(np.int64))
