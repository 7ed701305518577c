"""The summary of a run: how many cells succeeded, do not apply or failed, and where to look."""

from pathlib import Path

import pandas as pd

from runs.frames import read_frame
from runs.result_table import CELL, FAILURES, OK, UNSUPPORTED

# The number of reasons that are listed; failures.csv has all of them.
LISTED = 10


def summary_of(run: Path, rows: list[Path | str]) -> tuple[str, int]:
    """Return the summary of a run as text, and the number of its failed cells.

    Args:
        run: The folder results/<run>.
        rows: The tables of its studies.
    """
    frame = pd.concat([read_frame(path)[[*CELL, "status", "message"]] for path in rows])
    cells = frame.groupby(CELL, sort=False)["status"].agg(set)
    failed = cells.map(lambda statuses: bool(statuses & set(FAILURES)))
    answered = ~failed & cells.map(lambda statuses: OK in statuses)
    none = ~failed & ~answered
    lines = [
        f"{run}: {len(cells)} cells, {answered.sum()} ok, {none.sum()} {UNSUPPORTED}, "
        f"{failed.sum()} failed"
    ]
    if failed.any():
        of_failures = frame[frame["status"].isin(FAILURES)]
        reasons = of_failures.groupby([*CELL, "status", "message"], sort=False).size()
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
            f"to measure them again: python -m runs redo {run.name} --status error timeout",
        ]
    return "\n".join(lines) + "\n", int(failed.sum())
