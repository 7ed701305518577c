"""What figures, tables and judges read: the aggregated tables of a run."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from runs.frames import read_frame


@dataclass(frozen=True)
class Results:
    """The tables of some studies.

    Args:
        rows: What was measured.
        timings: Seconds and memory, where a drawing or a judge asks for them.
        maps: Whole maps, where a drawing asks for them.

    results/README.md describes the columns.
    """

    rows: pd.DataFrame
    timings: pd.DataFrame = field(default_factory=pd.DataFrame)
    maps: pd.DataFrame = field(default_factory=pd.DataFrame)


def read_results(files: Iterable[Path | str]) -> Results:
    """The tables in files `<study>.parquet`, `<study>.timings.parquet`, `<study>.maps.parquet`.

    Several files of one kind become one table, in the order given.
    """
    parts: dict[str, list[Path]] = {"rows": [], "timings": [], "maps": []}
    for path in map(Path, files):
        _, *kind, _ = path.name.split(".")
        parts[kind[0] if kind else "rows"].append(path)
    return Results(**{kind: read_frame(*paths) for kind, paths in parts.items()})
