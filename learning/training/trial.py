"""Seeds, checkpoint and progress label of a trial, or of trials that train together."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from mechanisms import Mechanism
from studies.base.study import Names, Point


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


def span(trials: range) -> str:
    """The numbers of consecutive trials, "3" or "0-19"."""
    return str(trials[0]) if len(trials) == 1 else f"{trials[0]}-{trials[-1]}"


def checkpoint_of(
    point: Point, names: Names, trial: int | str, at: Mapping[str, object] | None = None
) -> Path | None:
    """The checkpoint file of a trial, one per budget and coordinates; None if the cell has none.

    `trial` is its number, or the `span` of trials that train together.
    """
    if names.folder is None:
        return None
    words = [f"{name}-{value}-" for name, value in (at or {}).items()]
    return names.folder / f"epsilon-{point.epsilon:.17g}-{''.join(words)}{trial}.checkpoint"


def label_of(
    mechanism: Mechanism,
    point: Point,
    names: Names,
    trial: int | str,
    at: Mapping[str, object] | None = None,
) -> str:
    """The beginning of a trial's progress lines; `trial` as in `checkpoint_of`."""
    words = "".join(f" {name} {value}" for name, value in (at or {}).items())
    budget = f"epsilon {point.epsilon:g}"
    return f"{names.mechanism} {mechanism.calibration} {budget}{words} trial {trial}"
