"""Swarm Behaviour: 24,016 snapshots of 200 boids, 12 numbers each, flocking or not.

One record is one snapshot, that is one row of 2,400 features.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.fetching.archives import members
from datasets.fetching.checksums import local_files
from datasets.fetching.data_error import DataError

ENTRY = Dataset(
    name="swarm",
    title="Swarm Behaviour (boids: aligned, flocking, grouped)",
    source="official",
    licence="CC BY 4.0",
    citation="Abpeikar, Kasmarik, Barlow, Khan. Swarm Behaviour. UCI Machine Learning "
    "Repository, 2020. doi:10.24432/C5N02J",
    record="one snapshot of 200 boids",
    rows={"flocking": 24_016},
    # No checksum is published, and it is not known whether both addresses serve the same bytes.
    # UCI's page counts 24,017 records with the header line.
    files=(
        RemoteFile(
            name="swarm_behaviour.zip",
            urls=(
                "https://archive.ics.uci.edu/static/public/524/swarm+behaviour.zip",
                "https://archive.ics.uci.edu/ml/machine-learning-databases/00524/"
                "Swarm%20Behavior%20Data.zip",
            ),
            check=lambda path: parse_all(path),
        ),
    ),
)


COLUMNS = 2400
_TABLE = "Flocking.csv"


@dataclass(frozen=True, kw_only=True)
class Swarm:
    """The snapshots of `Flocking.csv`.

    Attributes:
        features: float64 (n, 2400), for each boid its position, velocity, the alignment,
            separation and cohesion vectors and two counts of neighbours; not scaled.
            An empty cell of the file is NaN: users of the data report one, in the first column
            of the last record. Each study decides how to treat it.
        labels: int64 (n,), 1 flocking, 0 not.
    """

    features: NDArray[np.float64]
    labels: NDArray[np.int64]


def load(folder: Path) -> Swarm:
    """All records of `Flocking.csv`.

    Args:
        folder: the data folder given to `fetch`.

    Raises:
        DataError: file missing or changed, or not 24,016 records of 2,400 features.
    """
    return parse_all(local_files(ENTRY, folder)["swarm_behaviour.zip"])


def parse_all(archive: Path) -> Swarm:
    """As `parse`; DataError unless there are 24,016 records."""
    swarm = parse(archive)
    require_rows(ENTRY, flocking=len(swarm.labels))
    return swarm


def parse(archive: Path) -> Swarm:
    """`Flocking.csv` in the archive, in any folder: a header, 2,400 numbers, the class."""
    for path, stream in members(archive):
        if PurePosixPath(path).name == _TABLE:
            return _read(stream, f"{archive}: {_TABLE}")
    raise DataError(f"{archive}: it has no {_TABLE}, so it is not the expected archive")


def _read(stream: IO[bytes], place: str) -> Swarm:
    try:
        values = pd.read_csv(stream, na_values=" ", dtype=np.float64).to_numpy()
    except ValueError as error:  # pandas' parser errors are ValueErrors as well
        raise DataError(f"{place}: not a table of numbers ({error})") from error
    if values.shape[1] != COLUMNS + 1:
        raise DataError(f"{place}: {values.shape[1]} columns, expected {COLUMNS} and the class")
    labels = values[:, -1]
    if not np.isin(labels, (0, 1)).all():
        raise DataError(f"{place}: the last column has other values than 0 and 1")
    return Swarm(features=values[:, :-1].copy(), labels=labels.astype(np.int64))
