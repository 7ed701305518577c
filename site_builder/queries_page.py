"""The page on the best mechanisms for common queries, with the error of every mechanism."""

import pandas as pd

from mechanisms.comparison.advisor import conclusion, unranked
from mechanisms.comparison.assessment import SERVED
from mechanisms.limit.limit import Limit, limit
from site_builder.site_data import Page, SiteData
from site_builder.start_page import answered_queries
from site_builder.words import TIMES
from studies.common_queries import QUERIES, CommonQuery


def queries_page(site: SiteData) -> Page:
    """Make the page of all answers that the run has."""
    return Page(
        path="queries.html",
        template="queries.html",
        title="Which mechanism for a common query?",
        section="queries.html",
        about="The mechanism with the least error at equal true privacy, for common queries.",
        content={
            "queries": answered_queries(site),
            "answers": [_answer(name, frame) for name, frame in site.answers.items()],
        },
    )


def _answer(name: str, frame: pd.DataFrame) -> dict:
    asked = QUERIES[name]
    (sentence,) = conclusion(frame, asked.per)
    return {
        "name": name,
        "asked": asked,
        "shape": TIMES.join(map(str, asked.query.shape)),
        "conclusion": sentence,
        "limit": _limit(asked),
        "lines": _lines(frame),
        "unranked": [{"mechanisms": keys, "reason": why} for keys, why in unranked(frame)],
    }


def _limit(asked: CommonQuery) -> Limit:
    if asked.per == "query":
        why = "no bound known: the bound is for the elements, and this is a workload of them"
        return Limit(lower=None, how=why, test=None, elements=asked.query.size)
    return limit(asked.query, asked.budget, fast=True)


def _lines(frame: pd.DataFrame) -> list[dict]:
    """Return a line per mechanism with a known error, and the facts on its published noise."""
    known = frame[(frame["status"] == SERVED) & frame["rmse"].notna()]
    published = known[known["calibration"] == "published"].fillna({"verdict": "unknown"})
    facts = published.set_index("mechanism").to_dict("index")
    return [
        {
            "rank": None if pd.isna(row.rank) else int(row.rank),
            "mechanism": row.mechanism,
            "rescaled": row.calibration == "exact",
            "rmse": row.rmse,
            "deviation": row.rmse * row.rmse_error,
            "times_best": row.times_best,
            "published": facts.get(row.mechanism),
        }
        for row in known.drop_duplicates("mechanism").itertuples()
    ]
