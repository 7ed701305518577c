"""Make cells of a finished or broken run stale, so that the next run measures them again."""

import re
from collections.abc import Collection, Mapping
from pathlib import Path

from mechanisms.base.mechanism import CALIBRATIONS
from runs.result_table import CELL, DamagedTable, read_file
from runs.store import provenance_in, read_stamp
from studies.base.settings import ConfigError, nearest

# A cell's file name ends in its calibration, then its trial and epsilon if those are split.
_AFTER_MECHANISM = re.compile(rf"--({'|'.join(CALIBRATIONS)})(--\d+)?(--epsilon-[\d.e+-]+)?$")


def redo(
    run: Path, wanted: Mapping[str, Collection[str]], *, other_packages: bool = False
) -> list[str]:
    """Remove the results of cells with their batches' stamps and their tables; return their stems.

    The tables have to go, as otherwise the next run would find nothing to do. Figures drawn from
    them stay until then. Cells with damaged files are always removed.

    Args:
        run: The folder of the run.
        wanted: The values of study, dataset, mechanism and status that a cell must have in one of
            its rows; a column without values allows all.
        other_packages: Only cells that were measured with other versions of the packages.

    Raises:
        ConfigError: There is no such run, or it has no cell with a name that is wanted.
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
    found = [path for path in cells if _matches(path, wanted, other_packages)]
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
    """Return whether a batch has one of the cells `stems`; a damaged stamp counts as a yes."""
    try:
        return not read_stamp(stamp).keys().isdisjoint(stems)
    except DamagedTable:
        return True


def _require_known(cells: list[Path], wanted: Mapping[str, Collection[str]], run: Path) -> None:
    """Raise ConfigError if no cell has one of the wanted studies, data sets or mechanisms."""
    # The names come from the paths, so that damaged files have them too.
    for option, known in (
        ("study", {path.parts[-3] for path in cells}),
        ("dataset", {path.parts[-2] for path in cells}),
        ("mechanism", {_AFTER_MECHANISM.sub("", path.stem) for path in cells}),
    ):
        for name in wanted.get(option, ()):
            if name not in known:
                hint = nearest(name, known, "did you mean {!r}? ")
                has = ", ".join(sorted(known)) or "no cells"
                raise ConfigError(f"--{option} {name}: {run} has no such cell; {hint}it has {has}")


def _matches(rows: Path, wanted: Mapping[str, Collection[str]], other_packages: bool) -> bool:
    try:
        table = read_file(rows).select([*CELL, "status"]).to_pylist()
    except DamagedTable:
        return True
    if other_packages and not ((found := provenance_in(rows)) and found.other_packages()):
        return False
    return any(
        all(not names or row[column] in names for column, names in wanted.items()) for row in table
    )
