"""Read the aggregated tables of a run, for figures, tables and judges."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from runs.frames import read_frame


@dataclass(frozen=True)
class Results:
    """The tables of some studies.

    Args:
        rows: The measured values.
        timings: Seconds and memory, if a drawing or a judge asks for them.
        maps: Whole maps, if a drawing asks for them.

    results/README.md describes the columns.
    """

    rows: pd.DataFrame
    timings: pd.DataFrame = field(default_factory=pd.DataFrame)
    maps: pd.DataFrame = field(default_factory=pd.DataFrame)


def read_results(files: Iterable[Path | str]) -> Results:
    """Read files `<study>.parquet`, `<study>.timings.parquet` and `<study>.maps.parquet`.

    Several files of one kind are concatenated in the order given.
    """
    parts: dict[str, list[Path]] = {"rows": [], "timings": [], "maps": []}
    for path in map(Path, files):
        _, *kind, _ = path.name.split(".")
        parts[kind[0] if kind else "rows"].append(path)
    return Results(**{kind: read_frame(*paths) for kind, paths in parts.items()})
