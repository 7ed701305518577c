"""A mechanism's error beside that of all others at equal true privacy, and the limit."""

from mechanisms.base.registry import all_mechanisms, get_mechanism
from mechanisms.comparison.advisor import compare, conclusion, refuted
from mechanisms.comparison.best_known import best_known
from mechanisms.limit.limit import limit
from mechanisms.query.extras import needed
from mechanisms.query.query import Budget, Unsupported
from mechanisms.report.subject import MECHANISM, Subject
from mechanisms.report.truth import query_of

# Rows that are shown beside the subject's own, and seconds for each mechanism.
SHOWN, SECONDS = 5, 5.0


def beside_others(subject: Subject, question: dict) -> dict:
    """The ranking at one query and budget, for a child process.

    Returns:
        rows: The best and the subject's own: rank, title, own, calibration, rmse, times_best,
        of_limit, verdict, refuted (the noise as published). conclusion: In words. Or `fault` where
        there is none.
    """
    query, budget = query_of(question), Budget(epsilon=question["epsilon"], delta=question["delta"])
    if question["kind"] != MECHANISM:
        return _of_the_claim(query, budget)
    key = get_mechanism(subject.name).key
    names = [*all_mechanisms(), *([subject.name] if ":" in subject.name else [])]
    try:
        frame = compare(query, budget, mechanisms=names, seconds=SECONDS)
    except ModuleNotFoundError as error:
        return {"fault": needed(error)}
    served = frame[frame["rmse"].notna()]
    own = served["mechanism"].eq(key)
    false = set(frame["mechanism"][refuted(frame)])
    ranked = served[served["rank"].notna()].drop_duplicates("mechanism")
    shown = served[served.index.isin(ranked.index[:SHOWN]) | own]
    rows = [
        {
            "rank": None if row.rank is None or row.rank != row.rank else int(row.rank),
            "title": row.title,
            "own": row.mechanism == key,
            "calibration": row.calibration,
            "rmse": row.rmse,
            "times_best": row.times_best,
            "of_limit": row.of_limit,
            "verdict": row.verdict if isinstance(row.verdict, str) else "",
            "refuted": row.mechanism in false,
        }
        for row in shown.astype(object).where(shown.notna(), None).itertuples()
    ]
    notes = set(frame.loc[frame["mechanism"].eq(key), "note"].dropna()) - {""}
    return {"rows": rows, "conclusion": conclusion(frame)[0], "notes": sorted(notes)}


def _of_the_claim(query, budget: Budget) -> dict:
    """What the claim costs at least, and the best mechanism; the subject's own is not known."""
    try:
        least, best = limit(query, budget, fast=query.size > 1000), best_known(query, budget)
    except Unsupported as reason:
        return {"fault": str(reason)}
    return {
        "limit": least.rmse,
        "best": None if best is None else [best.title, best.rmse],
    }
