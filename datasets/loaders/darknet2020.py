"""CIC-Darknet2020: 141,530 network flows, 83 attributes, two labels.

One record is one flow; a host or a user has many.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.fetching.checksums import local_files
from datasets.fetching.data_error import DataError

ENTRY = Dataset(
    name="darknet2020",
    title="CIC-Darknet2020 (Tor and VPN traffic)",
    source="official",
    licence="free for research on registration; cite the paper",
    citation="Habibi Lashkari, Kaur, Rahali. DIDarknet: a contemporary approach to detect "
    "and characterize the darknet traffic using deep image learning. ICCNS 2020",
    record="one network flow",
    # The paper counts 158,616 flows; the published csv has 141,530.
    rows={"flows": 141_530},
    files=(RemoteFile(name="Darknet.CSV", check=lambda path: parse_all(path)),),
    manual="fill in the form at https://www.unb.ca/cic/datasets/darknet2020.html, take "
    "the csv file",
)


COLUMNS = 85
TRAFFIC = ("Non-Tor", "NonVPN", "Tor", "VPN")


@dataclass(frozen=True, kw_only=True)
class Darknet2020:
    """The flows, as published.

    Attributes:
        flows: the 83 attributes, among them addresses, ports and time; a few cells are missing
            (NaN) or infinite.
        traffic: the first label, one of `TRAFFIC`.
        application: the second label, eight kinds of traffic, some spelled in several ways.
    """

    flows: pd.DataFrame
    traffic: pd.Series
    application: pd.Series


def load(folder: Path) -> Darknet2020:
    """All flows, in the order of the file.

    Args:
        folder: the data folder given to `fetch`.

    Raises:
        DataError: file missing or changed, or not 141,530 flows.
    """
    return parse_all(local_files(ENTRY, folder)["Darknet.CSV"])


def parse_all(path: Path) -> Darknet2020:
    """As `parse`; DataError unless there are 141,530 flows."""
    darknet = parse(path)
    require_rows(ENTRY, flows=len(darknet.flows))
    return darknet


def parse(path: Path) -> Darknet2020:
    """The csv: a header that ends with the names of both labels, then one flow per line."""
    try:
        frame = pd.read_csv(path, low_memory=False, skipinitialspace=True)
    except ValueError as error:  # pandas' parser errors are ValueErrors as well
        raise DataError(f"{path}: not a csv file ({error})") from error
    if frame.shape[1] != COLUMNS:
        raise DataError(f"{path}: {frame.shape[1]} columns, expected {COLUMNS}")
    traffic, application = frame.iloc[:, -2], frame.iloc[:, -1]
    if not traffic.isin(TRAFFIC).all():
        other = traffic[~traffic.isin(TRAFFIC)].iloc[0]
        raise DataError(f"{path}: traffic '{other}', expected one of {', '.join(TRAFFIC)}")
    return Darknet2020(
        flows=frame.iloc[:, :-2],
        traffic=traffic.rename("traffic"),
        application=application.rename("application"),
    )
