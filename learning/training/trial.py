"""What is a trial's own: its seeds, its checkpoint, and the words its progress lines begin with."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from experiments.contract.study import Names, Point
from mechanisms import Mechanism


class Seeds(NamedTuple):
    """The first two are shared by all mechanisms that are compared."""

    start: int
    batches: int
    noise: int


def seeds_of(point: Point, names: Names, trial: int) -> Seeds:
    """Start, batches and noise of a trial."""
    return Seeds(
        start=names.shared_seed("start", trial),
        batches=names.shared_seed("batches", trial),
        noise=names.seed(point, trial),
    )


def checkpoint_of(point: Point, names: Names, trial: int, *more: str) -> Path | None:
    """Where a trial keeps its checkpoint, if anywhere.

    No two budgets share a file, nor do two runs at one budget that `more` tells apart.
    """
    stem = "-".join((f"epsilon-{point.epsilon:.17g}", *more, str(trial)))
    return names.folder and names.folder / f"{stem}.checkpoint"


def label_of(mechanism: Mechanism, point: Point, names: Names, trial: int) -> str:
    """What the progress lines of a trial begin with."""
    return f"{names.mechanism} {mechanism.calibration} epsilon {point.epsilon:g} trial {trial}"
