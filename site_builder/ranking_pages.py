"""The pages with rankings: the best mechanisms for common queries, and the leaderboard."""

from collections.abc import Iterator

import pandas as pd

from mechanisms.comparison.advisor import conclusion, unranked
from mechanisms.comparison.assessment import SERVED
from mechanisms.limit.limit import Limit, limit
from site_builder.leaderboards import View
from site_builder.site_data import Page, SiteData
from site_builder.start_page import answered_queries
from site_builder.words import TIMES
from studies.common_queries import QUERIES, CommonQuery
from studies.linear_queries import LinearQueries

# The reason why no limit is known for the errors of a workload.
OF_WORKLOAD = "no bound known: the bound is for the elements, and this is a workload of them"


def queries_page(site: SiteData) -> Page:
    """Make the page of all common queries that the run has."""
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
        return Limit(lower=None, how=OF_WORKLOAD, test=None, elements=asked.query.size)
    return limit(asked.query, asked.budget, fast=True)


def _lines(frame: pd.DataFrame) -> list[dict]:
    """Return a line for each mechanism with a known error, and the facts on its published noise."""
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


def leaderboard_pages(site: SiteData) -> Iterator[Page]:
    """Yield the overview, and the page of every family of queries for which the run has tables."""
    yield Page(
        path="leaderboard/index.html",
        template="leaderboard.html",
        title="Leaderboard",
        section="leaderboard/index.html",
        about="Which mechanism has the smallest error at equal true privacy, by kind of query.",
        content={},
    )
    for family, views in site.families:
        yield Page(
            path=f"leaderboard/{family.key}.html",
            template="family.html",
            title=f"{family.title}: leaderboard",
            section="leaderboard/index.html",
            about=f"{family.about} Mechanisms ranked at equal true privacy.",
            content={
                "family": family,
                "studies": dict.fromkeys(view.study.name for view in views),
                "views": views,
                "uses": _uses(views),
                "no_limit": _no_limit,
            },
        )


def _uses(views: list[View]) -> list[str]:
    """Explain the brackets after mechanisms that are ranked in several uses."""
    studies = {view.study.name: view.study for view in views if view.scores["use"].any()}
    every = (each for study in studies.values() for each in study.coordinates if each.is_use)
    # What follows the semicolon in a meaning is about the column of the rows.
    return list(dict.fromkeys(f"{x.name} ({x.meaning.split('; ')[0]})" for x in every))


def _no_limit(view: View) -> str:
    """Return the reason why no limit is known for the errors of a table."""
    if view.study.name == LinearQueries.name:
        return OF_WORKLOAD
    if (view.study.name, view.measure.name) != ("count_query", "loss"):
        return "no bound known: the bound is for the squared error of a released answer itself"
    return "no bound known: the counts lie in a bounded range"
