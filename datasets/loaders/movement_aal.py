"""Indoor user movement from radio signal strength: 314 sequences of four anchors.

One record is one walk, a sequence of steps. A study that takes single steps as records protects a
step, not a walk.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.fetching.archives import read_members
from datasets.fetching.data_error import wrong_file
from datasets.formats.tables import Columns, Numbers, matrix, read_table, require

ENTRY = Dataset(
    name="movement_aal",
    title="Indoor User Movement Prediction from RSS data",
    source="official",
    licence="CC BY 4.0",
    citation="Bacciu, Barsocchi, Chessa, Gallicchio, Micheli. An experimental "
    "characterization of reservoir computing in ambient assisted living applications. "
    "Neural Computing and Applications 24, 2014",
    record="one walk, a sequence of steps",
    rows={"sequences": 314, "steps": 13_197},
    # UCI publishes no checksum of the zip.
    files=(
        RemoteFile(
            name="MovementAAL.zip",
            urls=(
                "https://archive.ics.uci.edu/ml/machine-learning-databases/00348/MovementAAL.zip",
            ),
            check=lambda path: parse(path),
        ),
    ),
    # The csv and text files in a new tar, without the papers and the picture.
    repack=RemoteFile(
        name="MovementAAL.tar",
        bytes=696320,
        sha256="acc85633bf0e3fa4a97a5f3a9606eec243e8c4fec3269d7d118496796fa3bf18",
    ),
)


FEATURES = ("anchor1", "anchor2", "anchor3", "anchor4")

_TABLES = {
    "targets": ("MovementAAL_target.csv", "class_label", Numbers(-1, 1, whole=True)),
    "groups": ("MovementAAL_DatasetGroup.csv", "dataset_ID", Numbers(1, 3, whole=True)),
    "paths": ("MovementAAL_Paths.csv", "path_ID", Numbers(1, 6, whole=True)),
}
_MOST_BYTES = 1 << 20  # of one csv file


@dataclass(frozen=True, kw_only=True)
class MovementAAL:
    """The sequences in the order of their numbers.

    Attributes:
        sequences: one float64 (steps, 4) per sequence, columns `FEATURES`: the four anchors'
            signal strength scaled to [-1, 1], 8 steps per second.
        targets: int64 (n,), 1 if the user changes the room, else -1.
        groups: int64 (n,), 1..3, the environment in which the sequence was taken.
        paths: int64 (n,), 1..6, the prototypical path that was walked.
    """

    sequences: tuple[NDArray[np.float64], ...]
    targets: NDArray[np.int64]
    groups: NDArray[np.int64]
    paths: NDArray[np.int64]


def parse(archive: Path) -> MovementAAL:
    """All sequences from the publisher's zip, or from a tar of the same csv files in any folders.

    Raises:
        DataError: a file is not the published one.
    """
    ids = range(1, ENTRY.rows["sequences"] + 1)
    names = [f"MovementAAL_RSS_{k}.csv" for k in ids]
    wanted = (*names, *(name for name, *_ in _TABLES.values()))
    files = read_members(archive, dict.fromkeys(wanted, _MOST_BYTES))
    strengths = {f"RSS_{name}": Numbers(-1, 1) for name in FEATURES}
    sequences = tuple(matrix(_table(files, name, strengths, archive), strengths) for name in names)
    found = {}
    for field, (name, column, allowed) in _TABLES.items():
        columns = {"sequence_ID": Numbers(1, len(ids), whole=True), column: allowed}
        order, values = _table(files, name, columns, archive).values()
        if not np.array_equal(np.sort(order), ids):
            found_ids = f"not one record of each of the {len(ids)} sequences"
            raise wrong_file(f"{archive}: {name}", found_ids)
        require(values != 0, values, f"{archive}: {name}: {column}", "1 and -1")
        found[field] = values[np.argsort(order)]
    require_rows(ENTRY, sequences=len(sequences), steps=sum(map(len, sequences)))
    return MovementAAL(sequences=sequences, **found)


def _table(
    files: Mapping[str, bytes], name: str, columns: Columns, archive: Path
) -> dict[str, NDArray]:
    return read_table(files[name], columns, f"{archive}: {name}", header=[*columns])
