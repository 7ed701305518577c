"""CIC-Darknet2020: 141,530 network flows, 83 attributes, two labels.

One record is one flow; a host or a user has many flows.
"""

import math
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.fetching.data_error import wrong_file
from datasets.formats.tables import Numbers, Words, header_of, read_table

ENTRY = Dataset(
    name="darknet2020",
    title="CIC-Darknet2020 (Tor and VPN traffic)",
    source="official",
    licence="free for research on registration; cite the paper",
    citation="Habibi Lashkari, Kaur, Rahali. DIDarknet: a contemporary approach to detect "
    "and characterize the darknet traffic using deep image learning. ICCNS 2020",
    record="one network flow",
    # The paper counts more flows; the published csv has 141,530.
    rows={"flows": 141_530},
    files=(RemoteFile(name="Darknet.CSV", check=lambda path: parse(path)),),
    manual="fill in the form at https://www.unb.ca/cic/datasets/darknet2020.html, take "
    "the csv file",
)


COLUMNS = 85
TRAFFIC = "Non-Tor NonVPN Tor VPN"
APPLICATIONS = "audio-streaming browsing chat email file-transfer p2p video-streaming voip"
_TEXTS = ("Flow ID", "Src IP", "Dst IP", "Timestamp")
_ATTRIBUTE = Numbers(-math.inf, math.inf, missing=True)


@dataclass(frozen=True, kw_only=True)
class Darknet2020:
    """The flows, as published.

    Attributes:
        flows: the 83 attributes (141530, 83), among them addresses, ports and time; a few numbers
            are missing (NaN) or infinite.
        traffic: the first label (141530,), a word of `TRAFFIC`.
        application: the second label (141530,), a word of `APPLICATIONS` in any letter case.
    """

    flows: pd.DataFrame
    traffic: pd.Series
    application: pd.Series


def parse(path: Path) -> Darknet2020:
    """Return all flows, in the order of the csv.

    The header ends with the names of both labels; every other line is one flow.

    Raises:
        DataError: the file cannot be read, or is not the published one.
    """
    content = path.read_bytes()
    header = header_of(content, path)
    names = header[:-2]
    columns = {name: Words() if name in _TEXTS else _ATTRIBUTE for name in names}
    columns |= {"traffic": Words(TRAFFIC), "application": Words()}
    if not len(header) == len(columns) == COLUMNS:
        raise wrong_file(path, f"{len(columns)} columns, expected {COLUMNS} of different names")
    flows = pd.DataFrame(read_table(content, columns, path, header=header, missing=("", "NaN")))
    Words(APPLICATIONS).read(flows["application"].str.casefold(), f"{path}: application")
    require_rows(ENTRY, flows=len(flows))
    return Darknet2020(
        flows=flows[names],
        traffic=flows["traffic"],
        application=flows["application"],
    )
