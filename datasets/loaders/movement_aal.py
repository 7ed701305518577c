"""Indoor user movement: 314 sequences of the strengths of four anchors' radio signals.

One record is one walk, a sequence of steps. A study that takes single steps as records protects a
step, not a walk.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.fetching.archives import read_members
from datasets.formats.tables import Numbers, matrix, read_table

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

_MOST_BYTES = 1 << 20  # of one csv file


def parse(archive: Path) -> tuple[NDArray[np.float64], ...]:
    """Read the sequences in the order of their numbers, each (steps, 4) with columns `FEATURES`.

    The signal strengths are published scaled to [-1, 1], 8 steps per second. The archive is the
    publisher's zip, or a tar of the same csv files in any folders.

    Raises:
        DataError: a file is not the published one.
    """
    names = [f"MovementAAL_RSS_{k}.csv" for k in range(1, ENTRY.rows["sequences"] + 1)]
    files = read_members(archive, dict.fromkeys(names, _MOST_BYTES))
    columns = {f"RSS_{name}": Numbers(-1, 1) for name in FEATURES}
    tables = (
        read_table(files[name], columns, f"{archive}: {name}", header=[*columns]) for name in names
    )
    sequences = tuple(matrix(table, columns) for table in tables)
    require_rows(ENTRY, sequences=len(sequences), steps=sum(map(len, sequences)))
    return sequences
