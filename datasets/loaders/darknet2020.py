"""CIC-Darknet2020: 141,530 network flows, 83 attributes, two labels.

One record is one flow; a host or a user has many.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.fetching.checksums import local_files
from datasets.fetching.data_error import reading, wrong_file
from datasets.formats.columns import Numbers, Words, require
from datasets.formats.tables import read_frame

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
    files=(RemoteFile(name="Darknet.CSV", check=lambda path: parse(path)),),
    manual="fill in the form at https://www.unb.ca/cic/datasets/darknet2020.html, take "
    "the csv file",
)


COLUMNS = 85
TRAFFIC = ("Non-Tor", "NonVPN", "Tor", "VPN")
APPLICATIONS = (
    "audio-streaming",
    "browsing",
    "chat",
    "email",
    "file-transfer",
    "p2p",
    "video-streaming",
    "voip",
)
_TEXTS = ("Flow ID", "Src IP", "Dst IP", "Timestamp")
_ATTRIBUTE = Numbers(-math.inf, math.inf, missing=True)


@dataclass(frozen=True, kw_only=True)
class Darknet2020:
    """The flows, as published.

    Attributes:
        flows: the 83 attributes, among them addresses, ports and time; a few cells are missing
            (NaN) or infinite.
        traffic: the first label, one of `TRAFFIC`.
        application: the second label, eight kinds of traffic `APPLICATIONS`, in capital or small letters.
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
    return parse(local_files(ENTRY, folder)["Darknet.CSV"])


def parse(path: Path) -> Darknet2020:
    """The csv: a header that ends with the names of both labels, then one flow per line."""
    with reading(path, "not a csv file"):
        *names, traffic, application = pd.read_csv(path, nrows=0, skipinitialspace=True).columns
    columns = {name: Words() if name in _TEXTS else _ATTRIBUTE for name in names}
    columns |= {traffic: Words(TRAFFIC), application: Words()}
    if len(columns) != COLUMNS:
        raise wrong_file(path, f"{len(columns)} columns, expected {COLUMNS}")
    frame = read_frame(path, columns, path, missing=("", "NaN"), skip=1)
    kinds = frame[application].str.casefold()
    require(kinds.isin(APPLICATIONS), frame[application], f"{path}: {application}", APPLICATIONS)
    require_rows(ENTRY, flows=len(frame))
    return Darknet2020(
        flows=frame[names],
        traffic=frame[traffic].rename("traffic"),
        application=frame[application].rename("application"),
    )
