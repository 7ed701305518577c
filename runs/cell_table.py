"""The rows of one cell as a table for people: means over trials, with units."""

import pandas as pd

from mechanisms.query.words import aligned
from runs.result_table import OK
from studies.base.study import Study


def cell_table(rows: pd.DataFrame, study: Study) -> str:
    """Format a line for each metric of a grid point, then meanings and points without numbers.

    Args:
        rows: The rows of one cell, in the order of the store.
        study: The study of the cell; its metrics have the units.
    """
    own = [each.name for each in study.coordinates]
    measured = rows[(rows["status"] == OK) & ~rows["metric"].isin(study.maps)]
    groups = measured.groupby(["shape", "epsilon", "metric", *own], sort=False, dropna=False)
    lines = [("shape", "epsilon", "metric", "mean", "unit", "trials", "where")]
    for (shape, epsilon, metric, *at), values in groups["value"]:
        trials = measured.loc[values.index, "trial"].nunique()
        where = ", ".join(
            f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
            for name, value in zip(own, at, strict=True)
            if pd.notna(value)
        )
        mean = f"{values.mean():.5g}"
        unit = study.metric(metric).unit or "-"
        lines.append((shape, f"{epsilon:g}", metric, mean, unit, str(trials or "-"), where or "-"))
    # Drop columns that are empty in every line.
    kept = [column for column in zip(*lines, strict=True) if set(column[1:]) != {"-"}]
    table = aligned(zip(*kept, strict=True)) if len(lines) > 1 else "no numbers:"
    points = rows[rows["status"] != OK].drop_duplicates(["shape", "epsilon", "status", "message"])
    meanings = [f"{name}: {study.metric(name).meaning}" for name in measured["metric"].unique()]
    return "\n".join(
        [
            table,
            *meanings,
            *(
                f"{row.status}: {row.shape}, epsilon {row.epsilon:g}: {row.message}"
                for row in points.itertuples()
            ),
        ]
    )
