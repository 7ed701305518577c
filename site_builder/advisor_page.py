"""Which mechanism for a query: a form that a script answers, and the answers to common queries."""

import json
import math

import pandas as pd
from markupsafe import Markup

from mechanisms.comparison.advisor import conclusion, leaders, unranked
from mechanisms.comparison.assessment import SERVED
from mechanisms.limit.limit import Limit, limit
from paper_figures.style import mechanism_title
from runs.frames import read_frame
from site_builder.advisor_grid import read
from site_builder.mechanism_pages import GUARANTEES, claims_on
from site_builder.site_data import Page, SiteData
from site_builder.words import TIMES
from studies.common_queries import QUERIES, CommonQueries, CommonQuery

SENSITIVITIES = (("l2", "l2_sensitivity"), ("l1", "l1_sensitivity"), ("linf", "linf_sensitivity"))


def advisor_page(site: SiteData) -> Page:
    """The page of all answers that the run has."""
    return Page(
        path="advisor.html",
        template="advisor.html",
        title="Which mechanism for my query?",
        section="advisor.html",
        about="The mechanism with the least error at equal true privacy, for common queries.",
        content={
            "answers": [_answer(name, frame) for name, frame in site.answers.items()],
            "errors": stated_errors(),
            "facts": as_json(
                {"titles": _titles(site), "head": 1, "numeric": [0, 3, 4, 5, 6, 7, 8]}
            ),
        },
    )


def side_by_side_page(site: SiteData) -> Page:
    """Two mechanisms that the reader picks."""
    seconds = _seconds(site)
    queries = {name: QUERIES[name] for name in site.answers}
    return Page(
        path="compare.html",
        template="compare.html",
        title="Two mechanisms side by side",
        section="advisor.html",
        about="What two mechanisms claim, what is true, their error and their run time.",
        content={
            "facts": as_json(
                {
                    "titles": _titles(site),
                    "head": 0,
                    "queries": [f"{each.title}: RMSE" for each in queries.values()],
                    "anchors": list(queries),
                    "mechanisms": {
                        key: _side(site, key) | {"seconds": seconds.get(key)}
                        for key in site.mechanisms
                    },
                }
            )
        },
    )


def _side(site: SiteData, key: str) -> dict:
    """What the page says of a mechanism."""
    cls, line = site.mechanisms[key], site.matrix.lines[key]
    asked = []
    for frame in site.answers.values():
        own = frame[(frame["mechanism"] == key) & frame["rank"].notna()]
        asked.append(float(own["rmse"].iloc[0]) if len(own) else None)
    known = not math.isnan(line.true_delta)
    return {
        "guarantee": GUARANTEES[cls.guarantee],
        "source": site.source_of(cls.paper),
        "paper": site.paper_of(key),
        "private": line.private,
        "told": line.told,
        "delta": line.true_delta if known else None,
        "claimed": line.claimed if known else None,
        "waste": None if math.isnan(line.waste[0]) else line.waste,
        "asked": asked,
        "ledger": [(each["id"], each["verdict"], each["tone"]) for each in claims_on(site, key)],
    }


def _seconds(site: SiteData) -> dict[str, float]:
    """Seconds of one draw for the query "gradient", by mechanism, where the run measured them."""
    path = site.run.folder / "studies" / f"{CommonQueries.name}.timings.parquet"
    if not path.exists():
        return {}
    rows = read_frame(path)
    rows = rows[(rows["dataset"] == "gradient") & (rows["metric"] == "seconds_per_draw")]
    return rows.groupby("mechanism")["value"].min().to_dict()


def _titles(site: SiteData) -> dict[str, str]:
    return {key: mechanism_title(key) for key in site.mechanisms}


def as_json(facts: dict) -> Markup:
    """For a script element: nothing in it can end that element."""
    return Markup(json.dumps(facts, separators=(",", ":")).replace("<", r"\u003c"))


def stated_errors() -> dict[str, str]:
    """The largest relative errors that the page states, by what is interpolated."""
    tables = {name: table for name, table in read().items() if name != "unit"}
    own = {name: table["error"] for name, table in tables.items()}
    parts = (
        ("l2", "spherical-gamma"),
        ("l2", "pure-l2", "staircase-l2"),
        ("pure-l1", "staircase-l1"),
        ("rank-one",),
    )
    limits = (("pure-l1", "limit-of-one"), ("pure-l2", "limit"))
    found = {
        "error": _largest(own, parts),
        "claim": own["r1smg-delta"],
        "limit": _largest(own, limits),
    }
    shown = {name: f"{100 * value:.2g}%" for name, value in found.items()}
    ends = (
        tables["limit"]["epsilons"][-1],
        tables["limit"]["deltas"][0],
        tables["limit"]["deltas"][-1],
    )
    return shown | {"ends": "epsilon {:g} and delta {:g} to {:g}".format(*ends)}


def _largest(own: dict[str, float], sums: tuple[tuple[str, ...], ...]) -> float:
    return max(sum(own[name] for name in each) for each in sums)


def _answer(name: str, frame: pd.DataFrame) -> dict:
    asked = QUERIES[name]
    (sentence,) = conclusion(frame, asked.per)
    best = leaders(frame)
    return {
        "name": name,
        "asked": asked,
        "size": math.prod(asked.query.shape),
        "shape": TIMES.join(map(str, asked.query.shape)),
        "sensitivities": _sensitivities(asked),
        "best": [(key, None) for key in best["mechanism"]],
        "least": best["rmse"].min(),
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


def _sensitivities(asked: CommonQuery) -> list[tuple[str, float]]:
    stated = ((norm, getattr(asked.query, field)) for norm, field in SENSITIVITIES)
    return [(norm, value) for norm, value in stated if value is not None]


def _lines(frame: pd.DataFrame) -> list[dict]:
    """One line per mechanism with a known error, and what is true of its published noise."""
    known = frame[(frame["status"] == SERVED) & frame["rmse"].notna()]
    published = known[known["calibration"] == "published"].set_index("mechanism")
    return [
        {
            "rank": None if pd.isna(row.rank) else int(row.rank),
            "mechanism": row.mechanism,
            "rescaled": row.calibration == "exact",
            "rmse": row.rmse,
            "deviation": row.rmse * row.rmse_error,
            "times_best": row.times_best,
            "p99": row.rmse_quantile,
            "published": _published(published, row.mechanism),
        }
        for row in known.drop_duplicates("mechanism").itertuples()
    ]


def _published(rows: pd.DataFrame, mechanism: str) -> dict | None:
    """The published noise of a mechanism, None where it has no known error."""
    if mechanism not in rows.index:
        return None
    row = rows.loc[mechanism]
    verdict = row["verdict"] if isinstance(row["verdict"], str) else "unknown"
    return {
        "rmse": float(row["rmse"]),
        "epsilon": float(row["true_epsilon"]),
        "delta": float(row["true_delta"]),
        "verdict": verdict,
        "note": row["note"],
    }
