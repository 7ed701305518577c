"""Rank mechanisms for common queries, as `python -m mechanisms compare` does.

The table `suite_common_queries` and the site use these rankings of the rows of the study
common_queries.
"""

import pandas as pd

from claims.judged_rows import required, select
from mechanisms.comparison.advisor import COLUMNS, leaders, ranked
from mechanisms.comparison.assessment import FAILED, SERVED, TOO_SLOW, UNSUPPORTED
from mechanisms.verification.verification import REFUTED
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.style import mechanism_title
from runs.result_table import OK
from runs.results import Results
from studies.common_queries import QUERIES, CommonQueries, CommonQuery

# Maps the status of a result row to the status in the comparison.
_STATUSES = {OK: SERVED, "unsupported": UNSUPPORTED, "timeout": TOO_SLOW}


def answers(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the table of `mechanisms.comparison` for every query in the rows, by name.

    The column seconds_per_draw is empty, because the study stores no timings among its rows.
    """
    by_query = {name: select(rows, study=CommonQueries.name, dataset=name) for name in QUERIES}
    return {name: _answer(query_rows) for name, query_rows in by_query.items() if len(query_rows)}


def _answer(rows: pd.DataFrame) -> pd.DataFrame:
    records = []
    for (mechanism, calibration), group in rows.groupby(["mechanism", "calibration"], sort=False):
        first = group.iloc[0]
        status = _STATUSES.get(first["status"], FAILED)
        record = {
            "epsilon": first["epsilon"],
            "delta": first["delta"],
            "mechanism": mechanism,
            "title": mechanism_title(mechanism),
            "calibration": calibration,
            "status": status,
            "note": _only(group["note"]) if status == SERVED else first["message"],
        }
        if status == SERVED:
            record |= group.set_index("metric")["value"].to_dict()
            record["verdict"] = _only(group["verdict"]) or None
        records.append(record)
    return ranked(pd.DataFrame(records, columns=list(COLUMNS)))


def _only(column: pd.Series) -> str:
    """Return the only distinct value of a column as text, or "" if the column is empty."""
    values = column.dropna()
    return "" if values.empty else str(values.iloc[0])


@drawing("suite_common_queries", kind="tables", needs=[CommonQueries.name])
def common_queries(results: Results) -> Drawn:
    """Tabulate, for each query, the best mechanisms, the next one, and those with false claims."""
    found = required(
        answers(results.rows),
        DrawingError(f"the results hold no rows of {CommonQueries.name}; run it first"),
    )
    table = pd.DataFrame([_row(QUERIES[name], frame) for name, frame in found.items()])
    return Drawn(
        caption=(
            "Which mechanism for a common query? The least root mean square error, of an element "
            "or of a query of the workload, at equal true privacy; mechanisms within 0.1% of it; "
            "the next one with its error over the least; and mechanisms whose published claim is "
            "false for the query. Noise that cannot be rescaled is ranked as published, if its "
            "claim is true."
        ),
        data=table,
        note=(
            "The command of a row gives all mechanisms with their errors, and the reasons why "
            "others are not ranked."
        ),
    )


def _row(asked: CommonQuery, frame: pd.DataFrame) -> dict:
    counted = frame[frame["rank"].notna()]
    best, behind = leaders(frame), counted[counted["rank"] > 1]
    refuted = select(frame, verdict=REFUTED, calibration="published")
    query, budget = asked.query, asked.budget
    return {
        "query": asked.title,
        "adjacency": query.adjacency,
        "l2 sensitivity": query.l2_sensitivity,
        "l1 sensitivity": query.l1_sensitivity,
        "epsilon": budget.epsilon,
        "delta": budget.delta,
        "best, or tied with it": ", ".join(best["title"]),
        "RMSE": best["rmse"].min() if len(best) else None,
        "per": asked.per,
        "next": behind["title"].iloc[0] if len(behind) else "",
        "over the best": behind["times_best"].iloc[0] if len(behind) else None,
        "claim false": ", ".join(refuted["title"]),
        "command": asked.command,
    }
