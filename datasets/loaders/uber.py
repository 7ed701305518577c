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
from datasets.fetching.checksums import local_files
from datasets.fetching.data_error import DataError

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

    def between(self, start: str, end: str) -> Pickups:
        """The pickups with start <= time <= end, both ISO dates or times."""
        keep = (self.time >= np.datetime64(start)) & (self.time <= np.datetime64(end))
        return Pickups(
            time=self.time[keep], latitude=self.latitude[keep], longitude=self.longitude[keep]
        )


def load(folder: Path) -> Pickups:
    """April 2014, in the order of the file (by company base, then time).

    Args:
        folder: the data folder given to `fetch`.

    Raises:
        DataError: file missing or changed, or not 564,516 pickups.
    """
    pickups = parse(local_files(ENTRY, folder)["uber-raw-data-apr14.csv"])
    require_rows(ENTRY, pickups=len(pickups))
    return pickups


def parse(path: Path) -> Pickups:
    """The csv with the header Date/Time, Lat, Lon, Base and times like 4/1/2014 0:11:00."""
    try:
        frame = pd.read_csv(path, usecols=["Date/Time", "Lat", "Lon"])
        time = pd.to_datetime(frame["Date/Time"], format="%m/%d/%Y %H:%M:%S")
        places = frame[["Lat", "Lon"]].to_numpy(np.float64)
    except ValueError as error:  # pandas' parser errors are ValueErrors as well
        raise DataError(f"{path}: not the csv of Uber pickups ({error})") from error
    if not np.isfinite(places).all():
        raise DataError(f"{path}: a latitude or longitude is missing")
    return Pickups(
        time=time.to_numpy("datetime64[s]"),
        latitude=places[:, 0].copy(),
        longitude=places[:, 1].copy(),
    )
