"""The summary of a run: how much of it succeeded, does not apply or failed, and where to look."""

from pathlib import Path

import pandas as pd

from runs.result_table import CELL, FAILURES, OK, POINT, UNSUPPORTED
from runs.results import read_frame

# The number of reasons that are listed; failures.csv has all of them.
LISTED = 10


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
    none = ~failed & ~answered
    lines = [
        f"{run}: {len(found)} combinations of study, data set, mechanism and calibration, "
        f"{answered.sum()} ok, {none.sum()} {UNSUPPORTED}, {failed.sum()} failed"
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
