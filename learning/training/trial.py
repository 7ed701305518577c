"""Seeds, checkpoint and progress label of one trial."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from experiments.contract.study import Names, Point
from mechanisms import Mechanism


class Seeds(NamedTuple):
    """Seeds of a trial; all mechanisms that are compared share the first two."""

    start: int
    batches: int
    noise: int


def seeds_of(point: Point, names: Names, trial: int) -> Seeds:
    """The seeds of a trial."""
    return Seeds(
        start=names.shared_seed("start", trial),
        batches=names.shared_seed("batches", trial),
        noise=names.seed(point, trial),
    )


def checkpoint_of(point: Point, names: Names, trial: int) -> Path | None:
    """The checkpoint file of a trial, one per budget; None if the cell keeps none."""
    return names.folder and names.folder / f"epsilon-{point.epsilon:.17g}-{trial}.checkpoint"


def label_of(mechanism: Mechanism, point: Point, names: Names, trial: int) -> str:
    """The beginning of a trial's progress lines."""
    return f"{names.mechanism} {mechanism.calibration} epsilon {point.epsilon:g} trial {trial}"
