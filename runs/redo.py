"""Makes cells of a finished or broken run stale, so that the next run measures them again."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from mechanisms.base.mechanism import CALIBRATIONS
from runs.result_table import CELL, STATUSES, DamagedTable, read_file
from runs.store import provenance_in, read_stamp
from studies.base.settings import ConfigError, nearest

# How the name of a cell's file ends: its calibration, and the trial and epsilon of a split one.
_AFTER_MECHANISM = re.compile(rf"--({'|'.join(CALIBRATIONS)})(--\d+)?(--epsilon-[\d.e+-]+)?$")


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Which cells to redo: those that have every property that is given.

    Args:
        statuses: A cell counts if one of its rows has one of them.
        studies, datasets, mechanisms: Names.
        other_packages: Whether the cell was measured with other versions of the packages.
    """

    statuses: Collection[str] = ()
    studies: Collection[str] = ()
    datasets: Collection[str] = ()
    mechanisms: Collection[str] = ()
    other_packages: bool = False

    def __post_init__(self) -> None:
        for status in self.statuses:
            if status not in STATUSES:
                raise ConfigError(
                    f"--status {status}: there is no such status; allowed are {', '.join(STATUSES)}"
                )


def redo(run: Path, wanted: Wanted) -> list[str]:
    """Remove the results of cells, their batches' stamps and their tables; returns their stems.

    Without the tables the next run would find nothing to do. What was drawn of them stays until
    then. Cells whose files are damaged are always among them. Unfinished work of the cells is
    removed, too.

    Raises:
        ConfigError: There is no such run, or it has no cell of a name that is wanted.
    """
    folder = run / "cells"
    if not folder.is_dir():
        known = ", ".join(sorted(path.parent.name for path in run.parent.glob("*/cells")))
        raise ConfigError(
            f"{run} holds no cells of a run; runs with cells: "
            f"{known or 'none, so start one with `make run`'}"
        )
    cells = sorted(folder.glob("*/*/*.parquet"))
    _require_known(cells, wanted, run)
    found = [path for path in cells if _matches(path, wanted)]
    for path in found:
        path.unlink()
    stems = [str(path.relative_to(folder).with_suffix("")) for path in found]
    for study in {path.parts[-3] for path in found}:
        for stamp in (run / "batches" / study).glob("*.json"):
            if _holds_any(stamp, stems):
                stamp.unlink()
        for table in (run / "studies").glob(f"{study}.*"):
            table.unlink()
    return stems


def _holds_any(stamp: Path, stems: Collection[str]) -> bool:
    """Whether a batch has one of the cells `stems`; a damaged stamp does not say."""
    try:
        return not read_stamp(stamp).keys().isdisjoint(stems)
    except DamagedTable:
        return True


def _require_known(cells: list[Path], wanted: Wanted, run: Path) -> None:
    """Raise ConfigError where no cell has a study, data set or mechanism that is wanted."""
    # From the paths, so that damaged files have a name as well.
    for option, names, known in (
        ("study", wanted.studies, {path.parts[-3] for path in cells}),
        ("dataset", wanted.datasets, {path.parts[-2] for path in cells}),
        ("mechanism", wanted.mechanisms, {_AFTER_MECHANISM.sub("", path.stem) for path in cells}),
    ):
        for name in names:
            if name not in known:
                hint = nearest(name, known, "did you mean {!r}? ")
                has = ", ".join(sorted(known)) or "no cells"
                raise ConfigError(f"--{option} {name}: {run} has no such cell; {hint}it has {has}")


def _matches(rows: Path, wanted: Wanted) -> bool:
    try:
        table = read_file(rows).select([*CELL, "status"]).to_pylist()
    except DamagedTable:
        return True
    if wanted.other_packages and not ((found := provenance_in(rows)) and found.other_packages()):
        return False
    allowed = {
        "study": wanted.studies,
        "dataset": wanted.datasets,
        "mechanism": wanted.mechanisms,
        "status": wanted.statuses,
    }
    return any(
        all(not names or row[column] in names for column, names in allowed.items()) for row in table
    )
