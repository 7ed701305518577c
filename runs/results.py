"""Find, read and sum up the tables of a run, for figures, tables, judges and commands.

They are not in runs/result_table.py because pandas is slow to load and a cell's job does not need
it.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
import pyarrow as pa

from runs.result_table import CELL, FAILURES, OK, POINT, UNSUPPORTED, read_table
from studies.base.settings import ConfigError, nearest

RESULTS = Path("results")
# The run whose results are committed.
REFERENCE = "reference"
# The number of reasons in a summary; failures.csv has all of them.
LISTED = 10


def read_frame(*paths: Path | str) -> pd.DataFrame:
    """Read tables as `read_table` does, and return a data frame."""
    return frame_of(read_table(*paths))


def frame_of(table: pa.Table) -> pd.DataFrame:
    """Convert a table to a data frame, in which whole numbers are nullable integers."""
    return table.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get, use_threads=False)


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
    parts = {"rows": [], "timings": [], "maps": []}
    for path in map(Path, files):
        _, *kind, _ = path.name.split(".")
        parts[kind[0] if kind else "rows"].append(path)
    return Results(**{kind: read_frame(*paths) for kind, paths in parts.items()})


def tables_of(run: str) -> list[Path]:
    """Return the tables of a run, `results/<run>/studies/*.parquet`, in alphabetical order.

    Raises:
        ConfigError: The run has no tables; the message lists the runs that have some.
    """
    known = sorted({path.parents[1].name for path in RESULTS.glob("*/studies/*.parquet")})
    require_known("run with tables", [run], known, str(RESULTS))
    return sorted((RESULTS / run / "studies").glob("*.parquet"))


def require_known(what: str, names: Collection[str], known: Collection[str], place: str) -> None:
    """Raise ConfigError for a name of something, such as a study, that a place does not have."""
    for name in names:
        if name not in known:
            hint = nearest(name, known, "did you mean {!r}? ")
            has = ", ".join(known) or "none, so start a run with `make run`"
            raise ConfigError(f"{place} has no {what} {name!r}; {hint}it has {has}")


def summary_of(run: Path, rows: list[Path | str]) -> tuple[str, int]:
    """Return the summary of a run as text, and the number of its failed combinations.

    A combination of study, data set, mechanism and calibration is one cell, or several if the
    config splits trials or epsilons.

    Args:
        run: The folder results/<run>.
        rows: The tables of its studies.
    """
    frame = pd.concat([read_frame(path)[[*POINT, "status", "message"]] for path in rows])
    found = frame.groupby(CELL, sort=False)["status"].agg(set)
    failed = found.map(lambda statuses: bool(statuses & set(FAILURES)))
    answered = ~failed & found.map(lambda statuses: OK in statuses)
    unsupported = ~failed & ~answered
    lines = [
        f"{run}: {len(found)} combinations of study, data set, mechanism and calibration, "
        f"{answered.sum()} ok, {unsupported.sum()} {UNSUPPORTED}, {failed.sum()} failed"
    ]
    if failed.any():
        # Where trials are split, each has a row of its own at the same grid point.
        failures = frame[frame["status"].isin(FAILURES)].drop_duplicates()
        reasons = failures.groupby([*CELL, "status", "message"], sort=False).size()
        for (*cell, status, message), points in reasons.head(LISTED).items():
            study, dataset, mechanism, calibration = cell
            lines.append(
                f"  {study}/{dataset}/{mechanism}--{calibration}: {status} at {points} grid "
                f"point{'s' * (points > 1)}: {message}"
            )
        if len(reasons) > LISTED:
            lines.append(f"  and {len(reasons) - LISTED} more")
        lines += [
            f"reasons: {run}/failures.csv; tracebacks: {run}/logs/cells/",
            f"to measure them again: python -m runs redo {run.name} --status "
            + " ".join(failures["status"].unique()),
        ]
    return "\n".join(lines) + "\n", int(failed.sum())
