"""The leaderboard: an overview, and a page per family of queries."""

from collections.abc import Collection, Iterable, Iterator

import pandas as pd

from datasets.titles import dataset_title
from mechanisms import Budget
from mechanisms.limit.limit import limit
from paper_figures.r1smg2024.numbers import count_query
from paper_figures.selections import SOURCE_WORDS
from paper_figures.style import CALIBRATION_TITLES, look
from site_builder.charts import SHAPES, dots, over_epsilon
from site_builder.leaderboards import Score, View
from site_builder.palette import colour_variable
from site_builder.site_data import Page, SiteData
from studies.base.families import Family
from studies.count_query import CountQuery
from studies.linear_queries import LinearQueries

# A chart of more rows than this is cut: the table has all of them.
CHARTED = 24
# The ratio of the largest to the smallest value from which an axis is logarithmic.
WIDE = 20
# That of the study count_query: the limit does not depend on the number of pickups.
COUNTS = count_query(pickups=1e5)


def leaderboard_pages(site: SiteData) -> Iterator[Page]:
    """The overview and the families that the run has."""
    yield Page(
        path="leaderboard/index.html",
        template="leaderboard.html",
        title="Leaderboard",
        section="leaderboard/index.html",
        about="Which mechanism has the smallest error at equal true privacy, by kind of query.",
        content={
            "families": [
                {"family": family, "tables": len(views), "best": _overview(views, site.refuted)}
                for family, views in site.families.values()
            ]
        },
    )
    for family, views in site.families.values():
        yield _family_page(family, views)


def _family_page(family: Family, views: list[View]) -> Page:
    # Both charts show one table, which stands below them: the first that has a curve.
    first = next((view for view in views if len(view.epsilons) > 2), views[0])
    views = [first, *(view for view in views if view is not first)]
    frame = frame_at(first, first.main)
    chart = dots(
        "ranking",
        frame,
        logarithmic=is_wide(frame, first),
        description=f"{view_title(first)} at epsilon {first.main:g}, with 95% intervals.",
    )
    curves = None
    if len(first.epsilons) > 2:
        rows = curves_of(first)
        curves = over_epsilon(
            "curves",
            rows,
            logarithmic=is_wide(rows, first),
            description=f"{view_title(first)} over epsilon, with 95% intervals.",
        )
    return Page(
        path=f"leaderboard/{family.key}.html",
        template="family.html",
        title=f"{family.title}: leaderboard",
        section="leaderboard/index.html",
        about=f"{family.about} Mechanisms ranked at equal true privacy.",
        content={
            "family": family,
            "studies": dict.fromkeys(view.study.name for view in views),
            "views": [_shown(view) for view in views],
            "first": _shown(first),
            "chart": chart,
            "curves": curves,
            "charted": CHARTED,
            "uses": _uses(views),
        },
    )


def _uses(views: list[View]) -> list[str]:
    """What stands in brackets behind a mechanism, where it is ranked in several uses."""
    studies = {view.study.name: view.study for view in views if any(x.use for x in view.lines)}
    every = (each for study in studies.values() for each in study.coordinates if each.is_use)
    # What follows in the meaning is about the column of the rows.
    return list(dict.fromkeys(f"{x.name} ({x.meaning.split('; ')[0]})" for x in every))


def view_title(view: View) -> str:
    """What a table is of, in a few words."""
    data = ", ".join(filter(None, (dataset_title(view.dataset), view.named_choice)))
    return f"{data[0].upper()}{data[1:]}: {view.measure.heading}"


def _limits(view: View) -> tuple[dict[float, float], str]:
    """The limit of the squared norm of the noise by epsilon, and why there is none."""
    if view.study.name == LinearQueries.name:
        return {}, "no bound known: the bound is for the elements, and this is a workload of them"
    if (view.study.name, view.measure.name) != (CountQuery.name, "loss"):
        return {}, "no bound known: the bound is for the squared error of a released answer itself"
    found = {
        epsilon: limit(COUNTS, Budget(epsilon=epsilon, delta=view.delta), fast=True)
        for epsilon in view.epsilons
    }
    known = {epsilon: each.lower for epsilon, each in found.items() if each.lower is not None}
    return known, "" if known else found[view.main].how


def _shown(view: View) -> dict:
    limits, no_limit = _limits(view)
    return {
        "limits": limits,
        "no_limit": no_limit,
        "view": view,
        "title": view_title(view),
        "data": f"{dataset_title(view.dataset)} ({SOURCE_WORDS[view.data_source]})",
        "calibration": CALIBRATION_TITLES[view.calibration],
        "blind": [epsilon for epsilon in view.epsilons if not view.tells_apart(epsilon)],
        "rows": [
            {
                "line": line,
                "colour": colour_variable(line.mechanism),
                "symbol": SHAPES.get(look(line.mechanism).marker, "circle"),
            }
            for line in view.shown
        ],
    }


def frame_at(view: View, epsilon: float) -> pd.DataFrame:
    """The rows of the ranking at one epsilon, for a chart."""
    lines = [line for line in view.shown if epsilon in line.scores]
    competing = [line for line in lines if not line.is_control][:CHARTED]
    controls = [line for line in lines if line.is_control]
    rows = (
        {
            "mechanism": line.mechanism,
            "label": line.title,
            "rank": rank,
            **_ends(line.scores[epsilon]),
        }
        for rank, line in enumerate([*competing, *controls])
    )
    return on_axis(rows, view)


def curves_of(view: View) -> pd.DataFrame:
    """The rows of the curves over epsilon, for a chart."""
    lines = [line for line in view.shown if not line.is_control][:CHARTED]
    lines += [line for line in view.shown if line.is_control]
    rows = (
        {
            "mechanism": line.mechanism,
            "label": line.title,
            "epsilon": epsilon,
            **_ends(line.scores[epsilon]),
        }
        for line in lines
        for epsilon in view.epsilons
        if epsilon in line.scores
    )
    return on_axis(rows, view)


def is_wide(rows: pd.DataFrame, view: View) -> bool:
    """Whether the values need a logarithmic axis: errors do, shares of records never."""
    positive = rows.loc[rows["value"] > 0, "value"]
    errors = view.measure.better == "smaller" and (rows["value"] >= 0).all()
    return bool(errors and positive.max() > WIDE * positive.min())


def on_axis(rows: Iterable[dict], view: View) -> pd.DataFrame:
    """The rows that their axis can show: a logarithmic one has no place for zero."""
    frame = pd.DataFrame(rows)
    if not is_wide(frame, view):
        return frame
    frame = frame[frame["value"] > 0]
    return frame.assign(low=frame["low"].where(frame["low"] > 0, frame["value"]))


def _ends(score: Score) -> dict[str, float]:
    return {"value": score.value, "low": score.low, "high": score.high}


def _overview(views: list[View], refuted: Collection[str]) -> list[dict]:
    """The best at equal true privacy on every data set, by the main measure.

    Of ties, noise whose published claim is refuted comes last.
    """
    seen, rows = set(), []
    for view in views:
        table = view.study.name, view.dataset, view.choice
        if view.calibration != "exact" or view.measure is not view.study.ranked[0] or table in seen:
            continue
        seen.add(table)
        best = view.best_mechanisms.values()
        rows.append(
            {
                "view": view,
                "data": dataset_title(view.dataset),
                "choice": view.named_choice,
                "best": [
                    (line.mechanism, line.title)
                    for line in sorted(best, key=lambda line: line.mechanism in refuted)
                ],
                "tells": view.tells_apart(view.main),
            }
        )
    return rows
