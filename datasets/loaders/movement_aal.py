"""Indoor user movement from radio signal strength: 314 sequences of four anchors.

One record is one walk, a sequence of steps. A study that takes single steps as records protects a
step, not a walk.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.fetching.archives import members
from datasets.fetching.checksums import local_files
from datasets.fetching.data_error import DataError

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
            check=lambda path: parse_all(path),
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

_SEQUENCE = re.compile(r"MovementAAL_RSS_(\d+)\.csv")
_TARGET = "MovementAAL_target.csv"
_GROUP = "MovementAAL_DatasetGroup.csv"
_PATHS = "MovementAAL_Paths.csv"


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


def load(folder: Path) -> MovementAAL:
    """All 314 sequences, 13,197 steps.

    Args:
        folder: the data folder given to `fetch`.

    Raises:
        DataError: file missing or changed, or other numbers of sequences or steps.
    """
    (archive,) = local_files(ENTRY, folder).values()
    return parse_all(archive)


def parse_all(archive: Path) -> MovementAAL:
    """As `parse`; DataError unless there are 314 sequences with 13,197 steps."""
    movement = parse(archive)
    steps = sum(map(len, movement.sequences))
    require_rows(ENTRY, sequences=len(movement.sequences), steps=steps)
    return movement


def parse(archive: Path) -> MovementAAL:
    """The publisher's zip, or a tar of the same csv files in any folders."""
    sequences: dict[int, NDArray[np.float64]] = {}
    columns: dict[str, dict[int, int]] = {}
    for path, stream in members(archive):
        name = PurePosixPath(path).name
        if match := _SEQUENCE.fullmatch(name):
            sequences[int(match[1])] = _numbers(archive, name, stream.read(), 4)
        elif name in (_TARGET, _GROUP, _PATHS):
            table = _numbers(archive, name, stream.read(), 2).astype(np.int64)
            columns[name] = dict(table.tolist())
    order = sorted(sequences)
    for name in (_TARGET, _GROUP, _PATHS):
        if sorted(columns.get(name, {})) != order:
            raise DataError(
                f"{archive}: {name} has {len(columns.get(name, {}))} entries for "
                f"{len(order)} sequences, or other numbers than theirs"
            )
    return MovementAAL(
        sequences=tuple(sequences[k] for k in order),
        targets=np.array([columns[_TARGET][k] for k in order], np.int64),
        groups=np.array([columns[_GROUP][k] for k in order], np.int64),
        paths=np.array([columns[_PATHS][k] for k in order], np.int64),
    )


def _numbers(archive: Path, name: str, content: bytes, columns: int) -> NDArray[np.float64]:
    """A csv with one header line."""
    try:
        values = np.loadtxt(io.BytesIO(content), delimiter=",", skiprows=1, ndmin=2)
    except ValueError as error:
        raise DataError(f"{archive}: {name} is not a table of numbers ({error})") from error
    if values.shape[1] != columns:
        raise DataError(f"{archive}: {name} has {values.shape[1]} columns, expected {columns}")
    return values
