"""Make cells of a finished or broken run stale, so that the next run measures them again."""

import re
from collections.abc import Collection, Mapping
from pathlib import Path

from mechanisms.base.mechanism import CALIBRATIONS
from runs.result_table import CELL, DamagedTable, read_file
from runs.results import require_known
from runs.store import provenance_in

# A cell's file name ends in its calibration, then its trial and epsilon if those are split.
_AFTER_MECHANISM = re.compile(rf"--({'|'.join(CALIBRATIONS)})(--\d+)?(--epsilon-[\d.e+-]+)?$")


def redo(
    run: Path, wanted: Mapping[str, Collection[str]], *, other_packages: bool = False
) -> list[str]:
    """Remove the results of cells with the stamps and tables of their studies; return their stems.

    The stamps and tables have to go, as otherwise the next run would find nothing to do. Figures
    drawn from them stay until then. Cells with damaged files are always removed.

    Args:
        run: The folder of the run.
        wanted: The values of study, dataset, mechanism and status that a cell must have in one of
            its rows; a column without values allows all.
        other_packages: Only cells that were measured with other versions of the packages.

    Raises:
        ConfigError: There is no such run, or it has no cell with a name that is wanted.
    """
    known = sorted(path.parent.name for path in run.parent.glob("*/cells"))
    require_known("run with cells", [run.name], known, str(run.parent))
    folder = run / "cells"
    cells = sorted(folder.glob("*/*/*.parquet"))
    # The names come from the paths, so that damaged files have them too.
    for what, names in (
        ("study", {path.parts[-3] for path in cells}),
        ("dataset", {path.parts[-2] for path in cells}),
        ("mechanism", {_AFTER_MECHANISM.sub("", path.stem) for path in cells}),
    ):
        require_known(what, wanted.get(what, ()), sorted(names), str(run))
    found = [path for path in cells if _matches(path, wanted, other_packages)]
    for path in found:
        path.unlink()
    for study in {path.parts[-3] for path in found}:
        for made in (*run.glob(f"batches/{study}/*"), *run.glob(f"studies/{study}.*")):
            made.unlink()
    return [str(path.relative_to(folder).with_suffix("")) for path in found]


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
