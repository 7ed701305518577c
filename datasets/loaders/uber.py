"""Uber pickups in New York City, April 2014: 564,516 times and places.

One record is one pickup. The file names no riders, and a rider may have many pickups: adjacency by
pickup does not protect a rider.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.formats.tables import Numbers, Words, read_table, require

ENTRY = Dataset(
    name="uber",
    title="Uber pickups in New York City, April 2014",
    source="official",
    licence="no licence stated; public record released by NYC TLC to FiveThirtyEight",
    citation="FiveThirtyEight. Uber TLC FOIL response, 2015. "
    "https://github.com/fivethirtyeight/uber-tlc-foil-response",
    record="one pickup",
    rows={"pickups": 564_516},
    files=(
        RemoteFile(
            name="uber-raw-data-apr14.csv",
            urls=(
                "https://raw.githubusercontent.com/fivethirtyeight/uber-tlc-foil-response"
                "/master/uber-trip-data/uber-raw-data-apr14.csv",
            ),
            bytes=26110064,
            sha256="4c92b95b9918e73ae84bade0bffef6e758e792c247469523130d3c1ad7b646e0",
        ),
    ),
)


START, END = np.datetime64("2014-04-01"), np.datetime64("2014-05-01")
# Degrees, some 200 km around New York City; the codes are those of the bases.
COLUMNS = {
    "Date/Time": Words(),
    "Lat": Numbers(39, 43),
    "Lon": Numbers(-76, -71),
    "Base": Words("B02512 B02598 B02617 B02682 B02764"),
}


@dataclass(frozen=True, kw_only=True)
class Pickups:
    """Pickups, one per entry of three arrays of the same length.

    Attributes:
        time: datetime64[s] (n,), local time.
        latitude, longitude: float64 (n,), degrees, north and east positive.
    """

    time: NDArray[np.datetime64]
    latitude: NDArray[np.float64]
    longitude: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.time)


def parse(path: Path) -> Pickups:
    """Read the pickups of April 2014 in the order of the csv: by company base, then by time.

    The csv has a header, times like 4/1/2014 0:11:00, latitudes, longitudes and bases.

    Raises:
        DataError: a file is not the published one.
    """
    table = read_table(path.read_bytes(), COLUMNS, path, header=[*COLUMNS])
    time = pd.to_datetime(table["Date/Time"], format="%m/%d/%Y %H:%M:%S", errors="coerce")
    allowed = "times in April 2014 like 4/1/2014 0:11:00"
    require((time >= START) & (time < END), table["Date/Time"], f"{path}: Date/Time", allowed)
    require_rows(ENTRY, pickups=len(time))
    return Pickups(
        time=time.to_numpy("datetime64[s]"),
        latitude=table["Lat"],
        longitude=table["Lon"],
    )
